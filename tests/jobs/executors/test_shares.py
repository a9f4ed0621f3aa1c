"""Shares: small editions together, a huge one alone, the largest first."""

from jobs.executors.shares import shares
from jobs.pipeline.batching import BATCH_ROWS


def test_one_portion_is_not_shared_out() -> None:
    assert shares({1: BATCH_ROWS // 2, 2: BATCH_ROWS // 2}, 4) == []
    assert shares({}, 4) == []


def test_each_worker_gets_at_least_four_shares_the_largest_first() -> None:
    rows = dict.fromkeys(range(1000), 1000) | {1_000: 5_000_000}
    cut = shares(rows, 3)
    assert cut[0].editions == (1_000,)
    sums = [sum(rows[edition] for edition in share.editions) for share in cut]
    assert sums == sorted(sums, reverse=True)
    assert max(sums[1:]) <= BATCH_ROWS
    assert sorted(edition for share in cut for edition in share.editions) == sorted(rows)
    even = shares(dict.fromkeys(range(1000), 1000), 3)
    assert 12 <= len(even) <= 14


def test_a_share_is_not_so_small_that_it_costs_more_than_it_saves() -> None:
    cut = shares(dict.fromkeys(range(500), 1000), 100)
    assert {len(share.editions) for share in cut} == {20}
