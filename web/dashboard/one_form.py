"""`/forms/<id>`: one form in full."""

from typing import Any, Final

from flask import request

from web.dashboard.charts.columns import columns
from web.dashboard.comparison import Amount, Rate
from web.dashboard.form_days import form_days
from web.dashboard.page import View
from web.http.errors import Refusal, not_found

_STAGES: Final = {
    "view": "Viewed",
    "start": "Started",
    "submit": "Submitted",
    "convert": "Bought",
}
# Cramér's V, in words: J. Cohen, "Statistical Power Analysis for the Behavioral Sciences" (1988), for two
# values; used here as a rule of thumb.
_HARDLY, _SOMEWHAT = 0.1, 0.3
# Cells of the crossed answers that are drawn.
_CELLS: Final = 400


def one_form(view: View, form_id: str) -> str:
    form_id = form_id.lower()
    form = view.form(form_id)
    if form is None:
        raise not_found()
    funnel, before = view.data("/forms/{id}/funnel", form_id), None
    if view.selection.before:
        before = view.before("/forms/{id}/funnel", form_id)
    return view.render(
        "one_form.html",
        form=form,
        funnel=funnel,
        stages=[{**stage, "name": _STAGES[stage["stage"]]} for stage in funnel["stages"]],
        submission_rate=Rate(
            funnel["submissions"],
            funnel["views"],
            before and before["submissions"],
            before and before["views"],
        ),
        conversion=Rate(
            funnel["convertedSubmissions"],
            funnel["submissions"],
            before and before["convertedSubmissions"],
            before and before["submissions"],
        ),
        net=Amount(funnel["netRevenueCents"], before and before["netRevenueCents"]),
        **form_days(view, form_id),
        steps=view.data("/forms/{id}/steps/dropoff", form_id),
        **_times(view, form_id),
        devices=view.data("/forms/{id}/devices", form_id),
        visitors=view.data("/forms/{id}/visitor-conversion", form_id),
        answers=view.data("/forms/{id}/response-revenue", form_id),
        **_crossed(view, form_id),
    )


def _times(view: View, form_id: str) -> dict[str, Any]:
    """Times to complete by device; the histogram of the device that the address names."""
    rows = view.data("/forms/{id}/time-to-complete", form_id)
    device = request.args.get("device", "all")
    shown = next((row for row in rows if row["deviceType"] == device), rows[0] if rows else None)
    buckets = shown["buckets"] if shown else []
    return {
        "times": rows,
        "time_of": shown,
        "histogram": columns(
            (
                f"{one['fromMs'] / 1000:.0f} to {one['toMs'] / 1000:.0f} s: {one['count']}",
                [one["count"]],
            )
            for one in buckets
        ),
    }


def _crossed(view: View, form_id: str) -> dict[str, Any]:
    """Two fields of the address against each other."""
    fields = sorted({row["fieldId"] for row in view.data("/forms/{id}/response-revenue", form_id)})
    chosen = [request.args.get(name, "") for name in ("field", "by")]
    cells: list[dict[str, Any]] = []
    problem = ""
    if all(chosen):
        try:
            cells = view.data(
                "/forms/{id}/cross-field", form_id, fieldA=chosen[0], fieldB=chosen[1]
            )
        except Refusal as refusal:
            problem = refusal.message
        unknown = [name for name in chosen if name not in fields]
        if unknown:
            problem = (
                f"No submission of these days answered {unknown[0]!r}. Choose a field of the list."
            )
    return {
        "fields": fields,
        "chosen": chosen,
        "cells": cells[:_CELLS],
        "cross_problem": problem,
        "relation": _relation(cells[0]["cramersV"]) if cells else "",
    }


def _relation(cramers_v: float) -> str:
    if cramers_v < _HARDLY:
        return "hardly related"
    return "somewhat related" if cramers_v < _SOMEWHAT else "strongly related"
