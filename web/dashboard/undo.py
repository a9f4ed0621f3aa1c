"""`/data/undo`: a member sees which figures an import moves, and has it undone by the next refresh."""

from typing import Any, Final

from flask import flash, redirect, render_template, request, url_for

from warehouse.domain.time import day_date
from warehouse.operations import imports
from warehouse.operations.import_reach import MOST_ROWS, reach_of
from web.api.equal_age import window_days
from web.api.forms_table import form_names
from web.dashboard.drop import file_name
from web.http.api_key_auth import find_shop
from web.pages.page_request import change, member_request

# Forms, or platforms, that are named.
_NAMED: Final = 10
_LONGEST: Final = 18


def undo() -> Any:
    """What would move, with a button; once that is pressed, the import stands no longer."""
    member = member_request()
    connection, shop_key = member.connection, member.member.shop_key
    back = redirect(url_for("dashboard.data", _anchor="imports"), 303)
    number = request.form.get("import", "")
    imported = None
    if number.isascii() and number.isdigit() and len(number) <= _LONGEST:
        imported = imports.find_of_shop(connection, shop_key, int(number), member.now)
    if imported is None:
        flash("This import can no longer be undone.", "problem")
        return back
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
    if is_asked:
        flash("The next refresh undoes this import.")
    else:
        flash("This import can no longer be undone.", "problem")
    return back
