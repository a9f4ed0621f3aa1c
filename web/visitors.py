"""Visitor conversion (10): distinct visitors over the whole range."""

from warehouse.vocabulary import VISITOR_LEVELS, VISITOR_TYPES, visitor_kind
from web.questions import Question
from web.rounding import percent
from web.shapes.sessions import VisitorRow


def visitor_conversion(question: Question) -> list[VisitorRow]:
    """Visitors who submit and who buy.

    Three rows, `all`, `new` and `returning`: distinct visitors with a view, a submission and a
    converted submission in the range.
    """
    by_kind = question.visitors()
    rows: list[VisitorRow] = []
    for place, name in enumerate(VISITOR_TYPES):
        visitors, submitters, purchasers = (
            by_kind.get(visitor_kind(place, level), 0) for level in range(len(VISITOR_LEVELS))
        )
        rows.append(
            {
                "visitorType": name,
                "visitors": visitors,
                "submitters": submitters,
                "purchasers": purchasers,
                "submissionRate": percent(submitters, visitors),
                "purchaseRate": percent(purchasers, visitors),
                "conversionRate": percent(purchasers, submitters),
            }
        )
    return rows
