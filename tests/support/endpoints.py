"""The endpoints of the API, as tests call them."""

FORM = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"

# The endpoints by their number in the contract: method, address, scope (None: any valid key).
ENDPOINTS = {
    1: ("GET", "/v1/forms", None),
    2: ("POST", "/v1/forms", "forms:write"),
    3: ("GET", "/v1/forms/funnel", "analytics:read"),
    4: ("GET", f"/v1/forms/{FORM}", None),
    5: ("PUT", f"/v1/forms/{FORM}", "forms:write"),
    6: ("GET", f"/v1/forms/{FORM}/funnel", "analytics:read"),
    7: ("GET", f"/v1/forms/{FORM}/steps/dropoff", "analytics:read"),
    8: ("GET", f"/v1/forms/{FORM}/time-to-complete", "analytics:read"),
    9: ("GET", f"/v1/forms/{FORM}/devices", "analytics:read"),
    10: ("GET", f"/v1/forms/{FORM}/visitor-conversion", "analytics:read"),
    11: ("GET", f"/v1/forms/{FORM}/cross-field?fieldA=a&fieldB=b", "analytics:read"),
    12: ("GET", f"/v1/forms/{FORM}/response-revenue", "analytics:read"),
    13: ("GET", f"/v1/forms/{FORM}/trends", "analytics:read"),
    14: ("GET", "/v1/attribution", "analytics:read"),
    15: ("GET", "/v1/attribution/daily", "analytics:read"),
    16: ("GET", "/v1/discounts/performance", "discounts:read"),
    17: ("GET", "/v1/revenue/by-utm?dimension=campaign", "analytics:read"),
    18: ("GET", "/v1/ads/spend", "analytics:read"),
    19: ("GET", "/v1/customers/ltv?dimension=form", "customers:read"),
    20: ("GET", "/v1/orders", "customers:read"),
    22: ("GET", "/v1/revenue/new-returning", "analytics:read"),
    25: ("GET", f"/v1/forms/{FORM}/time-to-order", "analytics:read"),
    26: ("GET", "/v1/revenue/by-form", "analytics:read"),
    28: ("GET", "/v1/notes", "analytics:read"),
}

GETS = [path for method, path, _ in ENDPOINTS.values() if method == "GET"]
