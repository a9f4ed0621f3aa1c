"""`/data/file`: a file that a member drops on the Data page, and what has become of it.

A page only takes the file: a job looks at it, and imports it (`warehouse/intake/dropped_files.py`).
"""

from typing import Any, Final

from flask import flash, redirect, request, url_for
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.wrappers import Response

from warehouse import settings
from warehouse.domain import landing_names
from warehouse.domain.landing_names import can_be_folder
from warehouse.domain.vocabulary import UNDOING
from warehouse.intake import dropped_files
from warehouse.intake.dropped_files import MISSING_MICROS
from warehouse.operations import tasks
from warehouse.operations.tasks import FILE, LAND, LOOK, Task
from web.dashboard import drop_folder
from web.dashboard.page import View
from web.dashboard.undo import movable
from web.http import uploads
from web.http.current_request import current_request
from web.http.errors import CODES, Refusal
from web.http.services import services
from web.pages.page_request import (
    MemberRequest,
    change,
    check_csrf,
    member_request,
    release_connection,
)
from web.pages.rendering import redirect_with

_FILE: Final = "dashboard.data#file"
_MB: Final = 10**6
_DECIMALS: Final = ("point", "comma")


def read(member: MemberRequest) -> dict[str, Any]:
    """The shop's last file as the page shows it. `imported`: its import, once there is one. `is_pending`:
    something works on it, or will. `can_undo`: its import can be taken back, and that moves something.
    `silent_since`: since when no scheduler has a heartbeat, 0 where there never was one; None where one
    works."""
    connection, now = member.connection, member.now
    file = _file_of(member)
    state = dropped_files.state(file, now) if file else ""
    imported = dropped_files.import_of(connection, file, now) if file else None
    is_undone = imported is not None and imported.state == UNDOING
    seen_at = dropped_files.scheduler_seen_at(connection)
    return {
        "file": file,
        "state": state,
        "imported": imported,
        "is_pending": is_undone or state in ("received", "landed"),
        "can_undo": imported is not None
        and state in ("imported", "refused")
        and imported.shop_id == member.member.shop_id
        and imported.import_id in movable(member, [imported]),
        "silent_since": seen_at if seen_at < now - MISSING_MICROS else None,
        "most_mb": settings.UPLOAD_MB.get(),
        "most_rows": settings.ROWS_PER_SHOP_DAY.get(),
    }


def part(view: View) -> Any:
    """The part of the page that tells of the file, for a script that follows it."""
    return view.page("drop.html", drop=read(view.member)).html()


def drop() -> Any:
    """Take a file, in place of the one before."""
    member = member_request()
    shop_key, shop_id = member.member.shop_key, member.member.shop_id
    last = _file_of(member)
    # Nobody waits for a connection while a file comes.
    release_connection()
    services().admission.admit_upload(current_request())
    if last is not None and dropped_files.state(last, member.now) == "landed":
        raise _conflict("The file before is still being imported. Wait for its end.")
    if not can_be_folder(shop_id):
        raise _conflict(f"The id {shop_id!r} of the shop cannot be the name of a folder.")
    fields, sent_name, content = uploads.fields_and_file(settings.UPLOAD_MB.get() * _MB)
    # Where the check looks for the token: it is read as it arrives.
    request.__dict__["form"] = ImmutableMultiDict(fields)
    check_csrf()
    name = drop_folder.visible(drop_folder.base_name(sent_name)) or "a file"
    stored, root = drop_folder.stored_name(sent_name), settings.IMPORT_DIR.get()
    try:
        with drop_folder.receive(root, shop_id) as part:
            for piece in content:
                part.write(piece)
            if not part.size:
                raise Refusal(422, "invalid_form", "The file is empty, or none was chosen.")
            part.finish(stored)
    except drop_folder.Receiving:
        raise _conflict("Another file of this shop is being received.") from None
    except OSError as error:
        raise Refusal(
            503,
            CODES[503],
            f"The file could not be stored ({error.strerror}), and nothing of it was kept. Tell whoever runs "
            "this service, and send it again then.",
        ) from None
    with change() as member:
        is_received = tasks.ask(member.connection, shop_key, FILE, LOOK, member.now, stored, name)
        if is_received:
            member.record("file_dropped", name)
    if not is_received:
        drop_folder.remove(root, shop_id, stored)
        raise _conflict("The file before is still being imported. Wait for its end.")
    if last is not None:
        drop_folder.remove(root, shop_id, last.item)
    return _back()


def take() -> Any:
    """Ask for the import of the file that is shown."""
    with change() as member:
        file = _file_of(member)
        is_shown = file is not None and dropped_files.state(file, member.now) == "shown"
        if file is None or not is_shown or file.item != _asked() or file.result.get("question"):
            return redirect_with("There is another file by now.", _FILE, "problem", 303)
        most_rows = settings.ROWS_PER_SHOP_DAY.get()
        day = dropped_files.day_for(member.connection, file, most_rows, member.now)
        if tasks.ask_next(member.connection, file, LAND, day, file.item):
            later = ", from tomorrow on" if day > member.now else ""
            member.record("file_imported", file.payload + later)
    return _back()


def answer() -> Any:
    """Ask for another look at the file, with the decimal mark that its member has said."""
    with change() as member:
        file = _file_of(member)
        decimal = request.form.get("decimal", "")
        if file is None or file.item != _asked() or not file.result.get("question"):
            return redirect_with("There is another file by now.", _FILE, "problem", 303)
        if decimal not in _DECIMALS:
            raise Refusal(422, "invalid_form", "The decimal mark is `point` or `comma`.")
        stored = landing_names.with_decimal(file.item, decimal)
        root, shop_id = settings.IMPORT_DIR.get(), member.member.shop_id
        if drop_folder.rename(root, shop_id, file.item, stored):
            tasks.ask_next(member.connection, file, LOOK, member.now, stored)
        else:
            tasks.discard(member.connection, file, member.now)
            flash("The file is no longer in the landing folder. Send it again.", "problem")
    return _back()


def discard() -> Any:
    """Forget the file, which was not imported or is done with."""
    with change() as member:
        file = _file_of(member)
        if file is None or file.item != _asked():
            return _back()
        if tasks.discard(member.connection, file, member.now):
            drop_folder.remove(settings.IMPORT_DIR.get(), member.member.shop_id, file.item)
            member.record("file_discarded", file.payload)
    return _back()


def _file_of(member: MemberRequest) -> Task | None:
    return tasks.find(member.connection, member.member.shop_key, FILE)


def _asked() -> str:
    return request.form.get("file", "")


def _back() -> Response:
    return redirect(url_for("dashboard.data", _anchor="file"), 303)


def _conflict(message: str) -> Refusal:
    return Refusal(409, "conflict", message)
