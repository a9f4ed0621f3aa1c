"""`/data/file`: a file that a member drops on the Data page, and what has become of it.

A page only takes the file, and moves it to where imports look: a job looks at it, and imports it
(`warehouse/operations/dropped_files.py`).
"""

from dataclasses import dataclass
from typing import Any, Final

from flask import flash, redirect, request, url_for
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.wrappers import Response

from warehouse import settings
from warehouse.domain import landing_names
from warehouse.domain.landing_names import can_be_folder
from warehouse.operations import dropped_files, imports
from warehouse.operations.dropped_files import MISSING_MICROS, DroppedFile
from warehouse.operations.imports import ImportedFile
from warehouse.operations.landing_folders import land_dropped
from web.dashboard import drop_folder
from web.dashboard.page import View
from web.http import uploads
from web.http.current_request import current_request
from web.http.errors import CODES, RETRY_SOON, Refusal
from web.pages.page_request import (
    MemberRequest,
    change,
    check_csrf,
    member_request,
    release_connection,
)
from web.services import services

_MB: Final = 10**6
_LONGEST: Final = 200
_DECIMALS: Final = ("point", "comma")


@dataclass(frozen=True)
class Drop:
    """The shop's last file as the page shows it. `imported`: its import, once there is one. `is_pending`:
    something works on it, or will. `can_undo`: its import stands, and can be taken back. `silent_since`:
    since when no scheduler has given a sign of life, 0 where there never was one; None where one works."""

    file: DroppedFile | None
    imported: ImportedFile | None
    is_pending: bool
    can_undo: bool
    silent_since: int | None

    @property
    def most_mb(self) -> int:
        return int(settings.UPLOAD_MB.get())

    @property
    def most_rows(self) -> int:
        return int(settings.ROWS_PER_SHOP_DAY.get())


def read(member: MemberRequest) -> Drop:
    connection, now = member.connection, member.now
    file = dropped_files.find(connection, member.member.shop_key)
    seen_at = dropped_files.scheduler_seen_at(connection)
    silent_since = seen_at if seen_at < now - MISSING_MICROS else None
    if file is None:
        return Drop(None, None, is_pending=False, can_undo=False, silent_since=silent_since)
    imported = dropped_files.import_of(connection, file, now)
    state = imported.state if imported else ""
    is_looked_at = file.state in (dropped_files.RECEIVED, dropped_files.LANDED)
    is_pending = state == imports.UNDOING or is_looked_at
    can_undo = (
        imported is not None
        and file.state in (dropped_files.IMPORTED, dropped_files.REFUSED)
        and imported.shop_id == member.member.shop_id
        and imports.can_undo(imported, now)
    )
    return Drop(file, imported, is_pending, can_undo, silent_since)


def part(view: View) -> Any:
    """The part of the page that tells of the file, for a script that follows it."""
    return view.page("drop.html", drop=read(view.member)).html()


def drop() -> Any:
    """Take a file, in place of the one before."""
    member = member_request()
    shop_key, shop_id = member.member.shop_key, member.member.shop_id
    last = dropped_files.find(member.connection, shop_key)
    # Nobody waits for a connection while a file comes.
    release_connection()
    services().admission.admit_upload(current_request())
    if last is not None and last.state == dropped_files.LANDED:
        raise _conflict("The file before is still being imported. Wait for its end.")
    if not can_be_folder(shop_id):
        raise _conflict(f"The id {shop_id!r} of the shop cannot be the name of a folder.")
    fields, sent_name, content = uploads.fields_and_file(settings.UPLOAD_MB.get() * _MB)
    # Where the check looks for the token: it is read as it arrives.
    request.__dict__["form"] = ImmutableMultiDict(fields)
    check_csrf()
    name = visible(drop_folder.base_name(sent_name)) or "a file"
    stored, root = drop_folder.stored_name(sent_name), settings.IMPORT_DIR.get()
    try:
        with drop_folder.receive(root, shop_id) as part:
            for piece in content:
                part.write(piece)
            if not part.size:
                raise Refusal(422, "invalid_form", "The file is empty, or none was chosen.")
            size = part.size
            part.finish(stored)
    except drop_folder.Receiving:
        raise _conflict("Another file of this shop is being received.") from None
    except OSError as error:
        raise Refusal(
            503,
            CODES[503],
            f"The file could not be stored ({error.strerror}). Tell whoever runs this service.",
        ) from None
    with change() as member:
        is_received = dropped_files.receive(
            member.connection, shop_key, name, stored, size, member.now
        )
        if is_received:
            member.record("file_dropped", name)
    if not is_received:
        drop_folder.remove(root, shop_id, stored)
        raise _conflict("The file before is still being imported. Wait for its end.")
    if last is not None:
        drop_folder.remove(root, shop_id, last.stored)
    return _back()


def take() -> Any:
    """Have the file that is shown imported."""
    with change() as member:
        shop_id = member.member.shop_id
        file = dropped_files.find(member.connection, member.member.shop_key)
        is_shown = file is not None and file.state == dropped_files.SHOWN
        if file is None or not is_shown or file.stored != _asked() or file.told.get("question"):
            flash("There is another file by now.", "problem")
            return _back()
        if (
            file.told["rows"]
            + dropped_files.rows_of_day(member.connection, file.shop_key, member.now)
            > settings.ROWS_PER_SHOP_DAY.get()
        ):
            if dropped_files.move(member.connection, file, dropped_files.POSTPONED, member.now):
                member.record("file_imported", f"{file.name}, from tomorrow on")
            return _back()
        # The file first: an import tells what has become of a file that is only shown.
        try:
            root = settings.IMPORT_DIR.get()
            is_there = land_dropped(root, shop_id, file.stored, file.told["place"])
        except OSError as error:
            raise Refusal(
                503, CODES[503], f"The file could not be moved ({error.strerror}).", RETRY_SOON
            ) from None
        if not is_there:
            dropped_files.discard(member.connection, file.shop_key)
            flash("The file is no longer in the landing folder. Send it again.", "problem")
        elif dropped_files.move(member.connection, file, dropped_files.LANDED, member.now):
            member.record("file_imported", file.name)
    return _back()


def answer() -> Any:
    """Have the file looked at again, with the decimal mark that its member has said."""
    with change() as member:
        shop_id = member.member.shop_id
        file = dropped_files.find(member.connection, member.member.shop_key)
        decimal = request.form.get("decimal", "")
        if file is None or file.stored != _asked() or not file.told.get("question"):
            flash("There is another file by now.", "problem")
            return _back()
        if decimal not in _DECIMALS:
            raise Refusal(422, "invalid_form", "The decimal mark is `point` or `comma`.")
        stored = landing_names.with_decimal(file.stored, decimal)
        if drop_folder.rename(settings.IMPORT_DIR.get(), shop_id, file.stored, stored):
            dropped_files.answer(member.connection, file, stored, member.now)
        else:
            dropped_files.discard(member.connection, file.shop_key)
            flash("The file is no longer in the landing folder. Send it again.", "problem")
    return _back()


def discard() -> Any:
    """Forget the file, which was not imported or is done with."""
    with change() as member:
        file = dropped_files.find(member.connection, member.member.shop_key)
        if file is not None and file.stored == _asked():
            drop_folder.remove(settings.IMPORT_DIR.get(), member.member.shop_id, file.stored)
            dropped_files.discard(member.connection, member.member.shop_key)
            member.record("file_discarded", file.name)
    return _back()


def _asked() -> str:
    return request.form.get("file", "")


def _back() -> Response:
    return redirect(url_for("dashboard.data", _anchor="file"), 303)


def _conflict(message: str) -> Refusal:
    return Refusal(409, "conflict", message)


def file_name(path: str) -> str:
    """What people call a file. Those that the collector writes have no name of their own."""
    name = drop_folder.base_name(path)
    if landing_names.is_collected(name):
        return "what came from your pages"
    return visible(landing_names.given_name(name)) or "a file"


def visible(text: str) -> str:
    """A text of anyone's: cut, and without characters that do not show or turn others round."""
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in cut)
