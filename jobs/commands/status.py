"""`status`: how far each shop is, and what was rejected."""

import json
from typing import Any

import click

from jobs.commands.shared import warehouse
from jobs.status import status


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def status_command(as_json: bool) -> None:
    """Show what was imported last, what waits for a rollup, and why rows were rejected."""
    with warehouse() as (bulk, window_days):
        found = status(bulk, window_days)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    for shop in found["shops"]:
        click.echo(_as_text(shop))
    if not found["shops"]:
        click.echo("no shops")
    click.echo(f"rejects: {sum(reject['rows'] for reject in found['rejects']) or 'none'}")
    for reject in found["rejects"]:
        click.echo(f"  {reject['rows']} {reject['kind']} {reject['reason']}")


def _as_text(shop: dict[str, Any]) -> str:
    batch = shop["newest_batch"]
    newest = (
        f"{batch['rows']} {batch['kind']} at {batch['imported_at']} (batch {batch['batch_id']})"
        if batch
        else "nothing"
    )
    return (
        f"{shop['shop_id']} ({shop['timezone']}): {shop['state']}\n"
        f"  last rollup   {shop['last_rollup_at'] or 'never'}\n"
        f"  waiting rows  {shop['waiting_rows']}\n"
        f"  newest batch  {newest}"
    )
