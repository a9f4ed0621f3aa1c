"""Each condition has a test that provokes it, and asks every door for it."""

from inspect import getsource
from types import ModuleType

import pytest

from tests.jobs.commands import test_scheduled_backups as backups
from tests.jobs.scheduler import test_conditions as others
from tests.jobs.scheduler import test_landing_conditions as landing
from warehouse.operations.conditions import counts

PROVOKED = {
    "set-aside": (others, "test_a_batch_that_is_set_aside_does_not_wait"),
    "removal-failed": (others, "test_an_undo_that_was_given_up"),
    "verify-failed": (others, "test_a_verify_that_finds_a_difference"),
    "nightly-failed": (others, "test_a_pull_a_verify_and_a_nightly_rollup_that_were_killed"),
    "no-scheduler": (others, "test_a_scheduler_that_was_stopped"),
    "backlog": (others, "test_rows_that_wait_for_more_than_three_refreshes"),
    "no-collector": (others, "test_a_collector_that_is_seen_no_more"),
    "disk-low": (landing, "test_what_lies_in_the_folder_is_told_at_every_door"),
    "log-kept": (landing, "test_a_reader_that_keeps_the_log_of_the_warehouse_from_its_file"),
    "no-backup": (backups, "test_no_backup_for_two_days"),
    "landing-waits": (landing, "test_landed_files_that_another_host_sees"),
    "landing-failed": (landing, "test_landed_files_that_cannot_be_moved"),
    "failed-files": (landing, "test_what_lies_in_the_folder_is_told_at_every_door"),
    "left-alone": (landing, "test_what_lies_in_the_folder_is_told_at_every_door"),
    "pull-failed": (others, "test_a_pull_that_fails"),
    "no-events": (others, "test_a_shop_whose_pages_stop_to_send"),
    "no-orders": (others, "test_a_shop_with_daily_orders_that_stop"),
    "many-rejects": (others, "test_more_than_a_twentieth_of_the_rows_of_a_day_rejected"),
    "unknown-forms": (others, "test_events_of_forms_that_are_not_known"),
    "collect-limit": (others, "test_events_beyond_the_bytes_of_a_shop"),
    "rows-limit": (others, "test_a_dropped_file_that_waits_for_tomorrow"),
}


def test_each_is_listed() -> None:
    assert PROVOKED.keys() == counts([]).keys()


@pytest.mark.parametrize("condition", PROVOKED)
def test_each_is_provoked(condition: str) -> None:
    module: ModuleType
    module, name = PROVOKED[condition]
    steps = getsource(getattr(module, name))
    assert f'"{condition}"' in steps
    assert "needs(commands" in steps
