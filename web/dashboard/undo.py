"""`/data/undo`: a member sees which figures an import moves, and has it undone by the next refresh."""

from collections.abc import Collection
from typing import Any, Final

from flask import render_template, request
from sqlalchemy import text

from warehouse.domain.landing_names import is_dropped
from warehouse.domain.time import day_date
from warehouse.intake import imports
from warehouse.intake.import_reach import MOST_ROWS, reach_of
from warehouse.intake.imports import ImportedFile
from web.api.equal_age import window_days
from web.api.forms_table import form_names
from web.dashboard.drop_folder import file_name
from web.http.api_key_auth import find_shop
from web.pages.page_request import MemberRequest, change, member_request
from web.pages.rendering import redirect_with

# The kinds of imports that do not stand (file ""), and the files that brought or replaced rows. Imports of
# rows of several shops have the shop key 0.
_OTHERS: Final = text(
    f"SELECT DISTINCT kind, CASE WHEN {imports.IS_WITHDRAWN} THEN '' ELSE file END AS file "
    "FROM import_file WHERE shop_key IN (:shop_key, 0) "
    f"AND ({imports.IS_WITHDRAWN} OR rows_new + rows_replaced > 0)"
)
# Forms, or platforms, that are named.
_NAMED: Final = 10
_LONGEST: Final = 18


def movable(member: MemberRequest, files: Collection[ImportedFile]) -> set[int]:
    """The ids of those imports of the shop whose undo moves something: they brought or replaced rows; or
    another import of the same dropped file did, which the undo takes back, too; or they repeated rows of an
    import that does not stand."""
    found = [file for file in files if imports.can_undo(file, member.now)]
    moves = {file.import_id for file in found if file.new or file.replaced}
    repeated = [file for file in found if file.import_id not in moves and file.duplicate]
    if repeated:
        asked = {"shop_key": member.member.shop_key}
        others = {(kind, name) for kind, name in member.connection.execute(_OTHERS, asked)}
        moves |= {
            file.import_id
            for file in repeated
            if (file.kind, "") in others
            or (is_dropped(file.file.rpartition("/")[2]) and (file.kind, file.file) in others)
        }
    return moves


def undo() -> Any:
    """Show what would move, with a button; once that is pressed, the import stands no longer."""
    member = member_request()
    connection, shop_key = member.connection, member.member.shop_key
    too_late = "This import can no longer be undone.", "dashboard.data#imports", "problem", 303
    number = request.form.get("import", "")
    imported = None
    if number.isascii() and number.isdigit() and len(number) <= _LONGEST:
        imported = imports.find_of_shop(connection, shop_key, int(number), member.now)
    if imported is None:
        return redirect_with(*too_late)
    name = file_name(imported.file)
    if "confirmed" not in request.form:
        shop = find_shop(connection, shop_key)
        reach = reach_of(
            connection, shop_key, shop.edition, shop.timezone, imported.import_id, imported.kind
        )
        names = {}
        if imported.kind in ("events", "orders", "forms"):
            names = form_names(connection, shop_key, reach.names[:_NAMED])
        return render_template(
            "dashboard/undo.html",
            imported=imported,
            name=name,
            days=[day_date(day) for day in (reach.first, reach.last) if day is not None],
            names=[names.get(each, each) for each in reach.names[:_NAMED]],
            more=len(reach.names[_NAMED:]),
            most_rows=MOST_ROWS if reach.is_cut else 0,
            window=window_days(shop),
        )
    with change() as member:
        is_asked = imports.ask_undo(member.connection, shop_key, imported, member.now)
        if is_asked:
            member.record("file_undone", name)
    if not is_asked:
        return redirect_with(*too_late)
    return redirect_with("The next refresh undoes this import.", "dashboard.data#imports", code=303)
