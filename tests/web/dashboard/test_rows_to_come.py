"""After an import and before the refresh, pages say what waits, and until when if a scheduler runs."""

import time

from jobs.scheduler.schedule import schedule
from tests.support.import_files import event, order
from tests.web.dashboard.two_shops import A, B, TwoShops
from warehouse.operations.schedulers import SchedulerRecord


def test_rows_that_wait_are_told(two: TwoShops) -> None:
    assert "rows wait" not in two.page(A, "/")
    two.load("orders", [order(shop_id=A, order_id=str(number)) for number in range(3)])
    two.load("events", [event(shop_id=B)])
    assert "3 rows wait." in two.page(A, "/")
    assert "1 row waits." in two.page(B, "/")
    # Without a scheduler no time is promised.
    assert "in the figures by" not in two.page(A, "/")
    now = time.time_ns() // 1000
    two.show_scheduler(
        SchedulerRecord(
            owner="here:1:x",
            started_at=now,
            seen_at=now,
            due_at=now,
            schedule=[job.as_stored for job in schedule()],
            landing_folder="/",
            landed_files=0,
            landed_since=0,
        )
    )
    assert "3 rows wait; in the figures by" in two.page(A, "/")
    two.jobs("rollup")
    assert "rows wait" not in two.page(A, "/")
