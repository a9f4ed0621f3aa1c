"""Tests that `make test` leaves to `make test-all`.

`make test` is every rule once, on SQLite or in a core on PostgreSQL, and one browser, in five minutes.
`make test-all` has all of it. Nothing lands without both; a test is here since its fault is rare, not since
it matters less.

An entry is a folder, a file or a test below `tests/`. Where a few values of a parameter are enough for
`make test`, `thorough` gives the mark to the others.
"""

from collections.abc import Iterable
from typing import Any, Final

import pytest

THOROUGH: Final = (
    # random worlds
    "contract/test_credits.py",
    "contract/test_equal_age.py::test_random_worlds_at_any_age",
    "contract/test_few_people.py",
    "contract/test_forgetting.py",
    "contract/test_form_rules.py",
    "contract/test_many_answers.py::test_pairs_that_are_all_different_fit_into_memory",
    "contract/test_life.py::test_random_worlds_keep_their_answers",
    "contract/test_raw_days.py",
    "contract/test_removal.py",
    "contract/test_ties.py::test_two_warehouses_answer_the_same",
    "contract/test_undo.py",
    "jobs/facts/test_rows_read.py",
    "jobs/importing/test_orders_in_any_file.py::test_the_same_orders_by_several_ways_are_the_same_orders",
    "warehouse/tenants/test_export.py::test_answers_are_the_same_elsewhere",
    "web/dashboard/test_ads.py::test_a_random_shop",
    "web/dashboard/test_losses.py::test_a_shop_in_which_nothing_changes_is_left_alone_in_19_of_20_weeks",
    "web/dashboard/test_statistics.py::test_equal_rates_are_called_greater_as_seldom_as_the_level_says",
    # kills at every place
    "system/faults",
    "jobs/pipeline/test_deadly_batches.py::test_where_every_process_dies_with_it_the_record_outlasts_them",
    "jobs/pipeline/test_deadly_batches.py::test_the_workers_of_an_executor_survive_it_too",
    "jobs/importing/test_imports.py::test_an_undo_that_was_killed_is_ended_by_the_next_rollup",
    "warehouse/backups/test_backups.py::test_a_restore_that_is_killed_is_all_or_nothing",
    "warehouse/backups/test_backups.py::test_restored_under_the_api_and_a_rollup",
    "warehouse/backups/test_backups.py::test_taken_during_import_rollup_and_reads",
    "warehouse/backups/test_from_sqlite.py::test_it_goes_on_in_postgresql",
    "warehouse/backups/test_streams.py",
    "warehouse/migrations/test_migrations.py::test_a_migration_that_is_killed_has_done_nothing",
    "jobs/landing/test_landing.py::test_two_schedulers_over_one_folder_with_kills",
    "jobs/scheduler/test_scheduler.py::test_a_child_that_outlives_a_killed_scheduler_does_no_harm",
    "jobs/commands/test_start.py::test_when_one_dies_all_end",
    "web/collector/test_processes.py::test_each_answered_event_is_in_the_figures_once",
    "web/pages/test_seen_forms.py::test_the_next_real_form_after_twelve_thousand_made_up_ones",
    # of a dear test, all values but one
    "jobs/pipeline/test_comparison.py::test_a_backfill_mends_what_followed_from_the_rows_of_its_days[postgresql-1]",
    *(
        f"warehouse/editions/test_editions.py::test_no_transaction_of_a_drop_deletes_more_than_the_bound[{values}]"
        for values in (
            "postgresql-abcde-4-portions_of_a_table1",
            "postgresql-abc-12-portions_of_a_table2",
        )
    ),
    *(
        f"jobs/pipeline/test_zone_changes.py::{name}"
        for name in (
            "test_a_host_with_earlier_rules_stops_writing",
            "test_days_of_an_unknown_version_are_made_anew",
            "test_facts_of_events_that_are_gone_are_moved_too",
        )
    ),
    # clusters, poolers, and several processes at once
    "jobs/executors/test_dask_cluster.py",
    "jobs/executors/test_processes.py::test_processes_share_a_rollup_and_a_rebuild",
    "jobs/executors/test_processes.py::test_a_worker_that_finds_the_first_shop_taken_goes_on_with_the_others",
    "jobs/scheduler/test_scheduler.py::test_files_that_another_scheduler_imports_are_looked_at_again",
    "system/test_connection_limits.py",
    "system/test_processes.py",
    "system/test_package.py",
    "system/test_entry_points.py::test_a_collector_of_several_processes",
    "system/test_entry_points.py::test_an_api_of_several_processes",
    "web/db/test_pgbouncer.py::test_answers_are_the_same_for_many_clients_on_two_connections",
    "web/server/test_greedy_tenants.py",
    "web/server/test_uploads.py",
    "system/test_readme.py::test_the_demo_run_again_keeps_its_key_and_its_member",
    # floods, and files of many megabytes
    "jobs/importing/test_ceilings.py",
    "jobs/importing/test_hostile_files.py::test_rows_that_point_to_one_long_text",
    "jobs/importing/test_hostile_files.py::test_rows_that_share_a_long_beginning_meet_the_ceiling",
    "jobs/pulls/test_limits.py::test_what_is_unpacked_has_a_bound",
    *(
        f"jobs/importing/test_hostile_files.py::test_what_unpacks_to_much_more[{name}]"
        for name in ("reopened quotes", "broken lines", "many values", "string", "records")
    ),
    "system/test_attack.py",
    "system/test_fuzz.py",
    "web/server/test_slow_clients.py::test_slow_clients_delay_nobody",
    # days by a clock that is set
    "system/test_year.py",
    "web/openapi/test_conformance.py",
    # what a browser does with every page, but for BROWSER_CORE
    "system/browser",
    # tools, and how the tests themselves run
    "bench",
    "jobs/scheduler/test_scheduler.py::test_nothing_of_a_test_goes_on_in_the_next_one",
    "warehouse/test_databases.py::test_a_server_ends_with_its_run_however_that_ends",
)

# A page of each kind in a browser, each way through it: as a test, a page costs seconds.
BROWSER_CORE: Final = (
    "system/browser/test_dashboard.py::test_the_pages_of_the_frame",
    "system/browser/test_docs.py::test_the_docs_show_every_endpoint_and_try_them_out",
    "system/browser/test_drop.py::test_from_the_drop_to_the_undoing[True]",
    "system/browser/test_front_door.py::test_a_link_signs_in_once",
    "system/browser/test_keys.py::test_member_and_key_from_start_to_end",
    "system/browser/test_seen_forms.py::test_three_forms_of_which_none_is_marked[sqlite]",
    "system/browser/test_snippet.py::test_what_is_clicked_on_the_demo_page_is_answered",
    "system/browser/test_snippet_consent.py::test_nothing_is_stored_or_sent_before_the_consent",
)

# Together, and with those that need PostgreSQL anyway, they send it every statement of the product that the
# whole run sends (`tests/support/statements.py`): the cheapest that do, and the rooms about the database
# itself. The other tests of both databases run on SQLite in `make test`.
POSTGRES_CORE: Final = (
    "contract/test_later_rows.py",
    "contract/test_receipts.py::test_a_cursor_that_is_none_gives_an_empty_page",
    "contract/test_receipts.py::test_all_pages_are_the_reports",
    "contract/test_receipts.py::test_every_order_tells_its_story",
    "contract/test_receipts.py::test_the_values_of_a_filter_add_up",
    "jobs/explaining/test_explain.py::test_every_endpoint_is_explained",
    "jobs/explaining/test_explain.py::test_facts_add_up_to_the_rows_of_every_summary",
    "jobs/explaining/test_explain.py::test_rows_that_are_gone_are_said_to_be_kept_as_facts",
    "jobs/facts/test_kept_facts_stored.py",
    "jobs/facts/test_read_raw.py",
    "jobs/importing/test_chosen_rejects.py::test_chosen_by_kind_file_shop_and_number",
    "jobs/importing/test_forgotten_forms.py::test_a_form_goes_with_its_last_event",
    "jobs/importing/test_forgotten_rows.py::test_versions_of_orders_are_counted_as_without_the_dropped_ones",
    "jobs/importing/test_form_places.py::test_a_form_of_one_visitor_gives_way_once_figures_have_it",
    "jobs/importing/test_imports.py::test_a_purge_forgets_old_imports",
    "jobs/importing/test_imports.py::test_a_shop_stays_and_keeps_the_currency_of_its_money",
    "jobs/importing/test_imports.py::test_accounts_and_rates",
    "jobs/importing/test_imports.py::test_the_list",
    "jobs/importing/test_inserting.py",
    "jobs/importing/test_reject_retries.py::test_a_shop_is_known_once_it_is_imported",
    "jobs/importing/test_seen_forms.py",
    "jobs/importing/test_undo_forms.py::test_a_form_that_was_edited_here_since_stays",
    "jobs/importing/test_undo_forms.py::test_forms_are_those_of_the_imports_that_stand",
    "jobs/importing/test_undo_rows.py::test_an_undone_version_passes_to_an_import_that_said_the_same",
    "jobs/importing/test_undo_rows.py::test_restated_spend_adds_versions_of_what_changed",
    "jobs/importing/test_undo_rows.py::test_what_is_fetched_again_each_day_adds_no_versions",
    "jobs/pipeline/test_deadly_batches.py::test_a_batch_that_needs_too_much_is_a_failed_one",
    "jobs/pipeline/test_deleted_shops.py::test_a_verify_finds_no_difference_in_a_shop_that_is_deleted",
    "jobs/pipeline/test_forget_asked.py::test_a_member_touches_rejects_of_the_own_shop_alone",
    "jobs/pipeline/test_zone_changes.py::test_later_rules_move_the_shops_whose_instants_they_move",
    "jobs/pulls/test_pulls.py::test_a_pull_runs_by_its_job_s_name_and_once_at_a_time",
    "jobs/pulls/test_pulls.py::test_pulled_files_go_in_time",
    "jobs/pulls/test_pulls.py::test_the_scheduler_runs_what_is_set_up_while_it_runs",
    "jobs/scheduler/test_conditions.py::test_a_pull_that_fails",
    "jobs/scheduler/test_conditions.py::test_forms_that_a_member_had_forgotten_are_not_asked_for",
    "warehouse/backups/test_refusals.py::test_refused_without_force_where_there_is_data",
    "warehouse/connections",
    "warehouse/daily",
    "warehouse/editions",
    "warehouse/migrations/test_migrations.py::test_a_warehouse_of_a_newer_version_is_refused_in_one_line",
    "warehouse/migrations/test_migrations.py::test_undos_and_forgets_that_were_asked_for_go_on",
    "warehouse/migrations/test_migrations.py::test_what_pages_had_asked_for_goes_on",
    "warehouse/forms",
    "warehouse/intake",
    "warehouse/operations",
    "warehouse/persons",
    "warehouse/shops",
    "warehouse/tenants/test_deletion.py::test_a_deleted_shop_is_unknown_and_can_be_added_again",
    "warehouse/tenants/test_export.py::test_a_file_that_is_there_stays",
    "warehouse/tenants/test_export.py::test_of_two_versions_of_one_instant_only_the_standing_one_is_exported",
    "web/api/test_ad_spend.py::test_inverse_and_crossed_rates",
    "web/api/test_ad_spend.py::test_without_spend_in_the_range_the_currency_with_most_ever",
    "web/api/test_filter_values.py",
    "web/api/test_form_quota.py",
    "web/api/test_notes.py::test_a_note_is_written_listed_and_taken_away",
    "web/api/test_notes.py::test_a_repeated_request_writes_once",
    "web/api/test_notes.py::test_two_at_once_stay_within_the_bound",
    "web/limits/test_gcra.py",
    "web/auth/test_most_keys.py::test_a_rotation_needs_room_for_the_old_key_while_that_works",
    "web/auth/test_sessions.py",
    "web/auth/test_sign_in_limits.py::test_a_known_browser_has_a_count_of_its_own",
    "web/cli/test_shops.py",
    "web/dashboard/test_daily_noise.py",
    "web/dashboard/test_data_persons.py::test_rows_under_other_identifiers_of_the_person_are_counted",
    "web/dashboard/test_data_rejects.py::test_a_retry_and_its_outcome",
    "web/dashboard/test_data_rejects.py::test_only_members_who_manage_connections_see_it",
    "web/dashboard/test_drop.py::test_a_decimal_mark_that_the_file_does_not_show",
    "web/dashboard/test_drop.py::test_a_file_that_is_gone",
    "web/dashboard/test_drop.py::test_all_imports_of_a_file_are_undone",
    "web/dashboard/test_drop.py::test_what_nobody_imports_goes_after_a_day",
    "web/dashboard/test_drop.py::test_who_may",
    "web/dashboard/test_labels.py",
    "web/dashboard/test_shops.py::test_an_operator_sees_all_shops_and_enters_their_own",
    "web/dashboard/test_shops.py::test_a_row_leads_into_its_shop_over_the_same_days",
    "web/dashboard/test_shops.py::test_every_figure_is_that_of_the_api[postgresql-query0]",
    "web/dashboard/test_undo.py::test_each_says_what_would_move_and_is_undone",
    "web/dashboard/test_undo.py::test_who_may",
    "web/db",
    "web/pages/test_members.py::test_a_link_ends",
    "web/pages/test_members.py::test_a_link_invites_once",
    "web/pages/test_members.py::test_a_link_sets_no_password_of_an_account",
)

# Those of the core that take long: in `make test` they run on PostgreSQL alone.
POSTGRES_ALONE: Final = (
    "contract/test_equal_age.py::test_a_world_at_any_age",
    "contract/test_life.py::test_a_world_keeps_its_answers",
    "jobs/commands/test_forget.py::test_another_shop_keeps_its_rows",
    "jobs/commands/test_forget.py::test_imports_of_kept_orders_can_be_undone",
    "jobs/commands/test_scheduled_backups.py::test_no_backup_for_two_days",
    "jobs/importing/test_imports.py::test_events_that_another_import_repeated_stay",
    "jobs/importing/test_imports.py::test_orders_that_another_import_repeated_stay",
    "jobs/importing/test_undo_rows.py::test_rows_are_those_of_the_imports_that_stand",
    "jobs/pipeline/test_comparison.py::test_a_backfill_mends_what_followed_from_the_rows_of_its_days",
    "jobs/pipeline/test_comparison.py::test_all_sees_what_a_sample_found_and_alone_clears_what_it_found",
    "jobs/pipeline/test_failed_batches.py::test_the_first_wait_is_five_minutes_and_each_further_one_twice_as_long",
    "jobs/pipeline/test_joined_batches.py",
    "jobs/pipeline/test_pending_batches.py::test_an_import_says_for_whom_it_waits",
    "jobs/pipeline/test_raw_days.py::test_a_late_event_merges_with_what_was_kept",
    "jobs/pipeline/test_raw_days.py::test_what_computes_again_says_which_events_are_gone",
    "jobs/scheduler/test_conditions.py::test_a_batch_that_is_set_aside_does_not_wait",
    "jobs/scheduler/test_conditions.py::test_every_door_says_what_needs_an_operator",
    "jobs/scheduler/test_landing_conditions.py::test_landed_files_that_another_host_sees",
    "warehouse/editions/test_editions.py::test_no_transaction_of_a_drop_deletes_more_than_the_bound",
    "warehouse/migrations/test_data.py",
    "warehouse/tenants/test_deletion.py::test_a_deletion_that_was_killed_again_and_again_goes_on_in_the_night",
    "web/api/test_all_steps.py",
    "web/dashboard/test_data_persons.py::test_a_person_is_forgotten_by_the_next_refresh",
    "web/dashboard/test_undo.py::test_each_says_what_would_move_and_is_undone",
    "web/pages/test_form_codes.py::test_a_code_that_no_form_reports",
    "web/pages/test_seen_forms.py",
)


def names(entries: Iterable[str], test: str) -> bool:
    """Whether one of the entries is this test, its function, or a file or folder that it is in."""
    return any(
        test == entry or test.startswith((f"{entry}/", f"{entry}::", f"{entry}["))
        for entry in entries
    )


def thorough(values: Iterable[Any]) -> list[Any]:
    """Values of a parameter that only `make test-all` tries."""
    return [pytest.param(value, marks=pytest.mark.thorough) for value in values]


def mark(item: pytest.Item) -> None:
    """Mark a test that only `make test-all` runs."""
    test = item.nodeid.removeprefix("tests/")
    parameters = getattr(item, "callspec", None)
    kinds = parameters.params.values() if parameters is not None else ()
    is_rare = names(THOROUGH, test) and not names(BROWSER_CORE, test)
    is_alone = names(POSTGRES_ALONE, test)
    on_postgres_later = "postgresql" in kinds and not (is_alone or names(POSTGRES_CORE, test))
    if is_rare or on_postgres_later or ("sqlite" in kinds and is_alone):
        item.add_marker(pytest.mark.thorough)
