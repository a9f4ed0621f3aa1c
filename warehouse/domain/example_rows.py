"""An example row of each kind of file: `python -m jobs fields` prints it, and a page has it to download.

A row is accepted once its shop is imported. The values of a field are declared in `jobs/importing/kinds/`.
"""

from typing import Any, Final

EXAMPLE_ROWS: Final[dict[str, dict[str, Any]]] = {
    "shops": {
        "shop_id": "example.myshopify.com",
        "name": "Example",
        "currency": "EUR",
        "timezone": "Europe/Berlin",
    },
    "forms": {
        "form_id": "0190c4a2-5b7e-7c3d-8f1a-2b3c4d5e6f70",
        "shop_id": "example.myshopify.com",
        "name": "Skin quiz",
        "status": "published",
        "schema": {"steps": []},
        "updated_at": "2026-01-15T09:00:00Z",
    },
    "events": {
        "event_id": "e-1",
        "shop_id": "example.myshopify.com",
        "form_id": "0190c4a2-5b7e-7c3d-8f1a-2b3c4d5e6f70",
        "form_session_id": "s-1",
        "visitor_id": "v-1",
        "type": "answer",
        "occurred_at": "2026-01-31T12:00:00Z",
        "field_id": "skin",
        "field_type": "choice",
        "value": "dry",
    },
    "orders": {
        "order_id": "o-1",
        "shop_id": "example.myshopify.com",
        "created_at": "2026-01-31T12:30:00Z",
        "currency": "EUR",
        "total_cents": 4990,
        "discount_cents": 500,
        "email": "ada@mail.example",
        "discount_codes": [{"code": "GLOW-1", "amount_cents": 500}],
        "refunds": [
            {"refund_id": "r-1", "created_at": "2026-02-02T09:00:00Z", "amount_cents": 1000}
        ],
    },
    "ad-spend": {
        "shop_id": "example.myshopify.com",
        "provider": "meta",
        "campaign_id": "23851",
        "campaign_name": "Spring",
        "date": "2026-01-31",
        "currency": "EUR",
        "spend": "12.34",
        "impressions": 1200,
        "clicks": 35,
    },
    "ad-accounts": {
        "shop_id": "example.myshopify.com",
        "provider": "meta",
        "account_id": "1234567890",
        "status": "ok",
        "synced_at": "2026-01-31T05:00:00Z",
    },
    "exchange-rates": {"date": "2026-01-30", "base": "EUR", "quote": "USD", "rate": "1.0393"},
}
