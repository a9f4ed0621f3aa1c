"""Kept facts: all that figures need of raw events that RAW_DAYS removed (`pipeline/raw_days.py`).

They are the partial facts of these events (`partials.py`), folded by form session and identifiers: the events
of a session that carry the same visitor, customer and e-mail are one group. Merged with the partial facts of
the raw events that are left, they give what all events gave; and a person can be taken out of them exactly.

They are import batches: a new edition applies one like any other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.arrays.group_keys import group_keys, index_of
from jobs.facts.form_rules import RulesByShop
from jobs.facts.partials import Partials, fold, merge_partials
from jobs.facts.read_raw import RawEvents, chosen_texts, no_orders, shop_ids
from warehouse.domain.form_rules import LEFT_OUT
from warehouse.domain.hash_ids import text_ids
from warehouse.domain.time import MICROS_PER_SECOND

IDENTIFIERS: Final = ("form_id", "visitor_id", "customer_id", "email_sha256")
"""The texts that groups have from raw events, beside `form_session_id`."""

# The texts that name a form session in its shop.
_SESSION_TEXTS: Final = ("form_id", "form_session_id")

# In every time zone a day begins at a quarter of an hour: the days of events are known in each.
QUARTER: Final = 15 * 60 * MICROS_PER_SECOND


@dataclass(frozen=True)
class KeptFacts:
    """Kept facts of a shop.

    - `groups`: group, session_hash, form, and the texts form_session_id and IDENTIFIERS
    - `sessions`, `steps`, `answers`, `issues`, `step_names`: as in `Partials`, with `group` in place of
      edition, session_hash, form and form_session_id
    - `instants`: group, at (the beginning of a quarter of an hour), events (how many)
    - `utms`: utm and the six texts of UTM_FIELDS; `texts`: id, text
    """

    groups: pd.DataFrame
    sessions: pd.DataFrame
    steps: pd.DataFrame
    answers: pd.DataFrame
    issues: pd.DataFrame
    step_names: pd.DataFrame
    instants: pd.DataFrame
    utms: pd.DataFrame
    texts: pd.DataFrame

    def only(self, wanted: pd.Series) -> "KeptFacts":
        """The facts of the groups for which `wanted` (a mask of `groups`) is true."""
        numbers = self.groups["group"][wanted]
        parts = {
            name: rows[rows["group"].isin(numbers)]
            for name, rows in vars(self).items()
            if "group" in rows
        }
        values = parts["answers"]["value"].unique()
        chosen = sorted({text for value in values for text in chosen_texts(value)})
        used = [
            *(parts["groups"]["form"], parts["steps"]["step"], parts["answers"]["field"]),
            *(parts["issues"]["code"], np.array(text_ids(chosen), np.int64)),
        ]
        utms = self.utms[self.utms["utm"].isin(parts["sessions"]["utm"])]
        return KeptFacts(
            **parts, utms=utms, texts=self.texts[self.texts["id"].isin(np.concatenate(used))]
        )

    def counted(self, shop_key: int, rules: RulesByShop) -> "KeptFacts":
        """These facts of a shop under the ids of forms that count. A session can have several groups with the
        same identifiers then."""
        if shop_key not in rules:
            return self
        form_id = self.groups["form_id"].replace(rules[shop_key])
        facts = replace(self, groups=self.groups.assign(form_id=form_id)).only(form_id != LEFT_OUT)
        groups = facts.groups
        ids = np.array(text_ids(groups["form_id"].tolist()), np.int64)
        parts = (pa.chunked_array([pa.array(groups[name], pa.string())]) for name in _SESSION_TEXTS)
        groups = groups.assign(
            session_hash=shop_ids(np.full(len(groups), shop_key, np.int64), *parts), form=ids
        )
        own = pd.DataFrame({"id": ids, "text": groups["form_id"]})
        texts = pd.concat([facts.texts, own], ignore_index=True)
        return replace(facts, groups=groups, texts=texts.drop_duplicates("id", ignore_index=True))

    def events(self, edition: int) -> pd.DataFrame:
        """edition, session_hash, form, batch (0), at; a row per event, to the quarter of an hour."""
        rows = _with_session(self.groups, self.instants, "session_hash", "form")
        rows = rows.loc[np.repeat(rows.index, rows["events"])]
        return rows.drop(columns="events").assign(edition=edition, batch=0)


def keep(raw: RawEvents, identifiers: pd.DataFrame) -> dict[int, KeptFacts]:
    """The facts of raw events, by edition. `identifiers`: edition, event_id and IDENTIFIERS."""
    events = raw.events.drop(columns="customer_id").merge(identifiers, on=["edition", "event_id"])
    keys = group_keys(
        *(events[name].to_numpy() for name in ("session_hash", "visitor", "customer", "email"))
    )
    groups = keys.dense()
    group, rows = groups.keys, events.iloc[groups.any_row()].reset_index(drop=True)
    of_group = events.assign(edition=0, session_hash=group, form=group)
    facts = fold(replace(raw, events=of_group), no_orders())
    quarters = events["at"].to_numpy() // QUARTER * QUARTER
    instants = pd.DataFrame({"group": group, "at": quarters, "events": 1})

    def by_group(rows: pd.DataFrame, name: str = "session_hash") -> pd.DataFrame:
        rows = rows.rename(columns={name: "group"})
        return rows.drop(columns=["edition", "form", "form_session_id"], errors="ignore")

    kept = KeptFacts(
        groups=rows[["session_hash", "form", "form_session_id", *IDENTIFIERS]].assign(
            group=np.arange(len(rows))
        ),
        sessions=by_group(facts.sessions),
        steps=by_group(facts.steps),
        answers=by_group(facts.answers),
        issues=by_group(facts.issues),
        step_names=by_group(facts.step_names, "form"),
        instants=instants.groupby(["group", "at"], as_index=False).sum(),
        utms=raw.utms,
        texts=raw.texts,
    )
    return {edition: _of_edition(kept, rows, edition) for edition in rows["edition"].unique()}


def _of_edition(kept: KeptFacts, groups: pd.DataFrame, edition: int) -> KeptFacts:
    """Those of kept facts that are of an edition (`edition` of `groups`, `utms` and `texts`)."""
    texts = {
        name: rows[rows["edition"] == edition].drop(columns="edition")
        for name, rows in (("utms", kept.utms), ("texts", kept.texts))
    }
    return replace(kept.only(groups["edition"] == edition), **texts)


def joined(parts: Sequence[KeptFacts]) -> KeptFacts:
    """Several kept facts as one. Its groups are theirs, in their order; a session can have several with the
    same identifiers."""
    sizes = [part.groups["group"].max() + 1 if len(part.groups) else 0 for part in parts]
    before = np.cumsum([0, *sizes[:-1]])
    stacked = {}
    for field in fields(KeptFacts):
        rows = [getattr(part, field.name) for part in parts]
        stacked[field.name] = both = pd.concat(rows, ignore_index=True)
        if "group" in both:
            both["group"] += np.repeat(before, [len(one) for one in rows])
    for name, key in (("utms", "utm"), ("texts", "id")):
        stacked[name] = stacked[name].drop_duplicates(key, ignore_index=True)
    return KeptFacts(**stacked)


def with_kept(partials: Partials, kept: Iterable[tuple[int, KeptFacts]]) -> Partials:
    """Partial facts merged with kept ones, each of an edition."""
    parts = list(kept)
    return merge_partials([partials, _partials(parts, partials)]) if parts else partials


def _partials(parts: list[tuple[int, KeptFacts]], others: Partials) -> Partials:
    """Kept facts as partial facts of their editions; a session can have several rows."""
    kept = joined([facts for _, facts in parts])
    numbers = np.repeat([edition for edition, _ in parts], [len(one.groups) for _, one in parts])
    groups = kept.groups.assign(edition=numbers)
    sessions = _with_session(
        groups, kept.sessions, "edition", "session_hash", "form", "form_session_id", "customer_id"
    )
    is_sighting = (sessions["email"] != 0) & (sessions["customer_seen"] != 0)
    emails = sessions.assign(seen_at=sessions["email_at"], customer=sessions["customer_seen"])
    found = {
        "sessions": sessions,
        "steps": _with_session(groups, kept.steps, "session_hash"),
        "answers": _with_session(groups, kept.answers, "session_hash"),
        "issues": _with_session(groups, kept.issues, "session_hash"),
        "emails": emails[is_sighting],
        "step_names": _with_session(groups, kept.step_names, "edition", "form"),
        "utms": pd.concat([facts.utms.assign(edition=edition) for edition, facts in parts]),
        "texts": pd.concat([facts.texts.assign(edition=edition) for edition, facts in parts]),
    }
    return replace(
        others, **{name: rows[list(getattr(others, name))] for name, rows in found.items()}
    )


def _with_session(groups: pd.DataFrame, rows: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Rows with these columns of their groups in place of `group`."""
    index = index_of(groups["group"].to_numpy(), rows["group"].to_numpy())
    own = {name: groups[name].array.take(index) for name in names}
    return rows.drop(columns="group").assign(**own)
