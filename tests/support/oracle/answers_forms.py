"""Answers about forms as wholes: contract section 4, endpoints 3, 6, 9, 10, 13 and 25."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from tests.support.oracle.sessions import Session
from tests.support.oracle.state import Question, State, answers
from tests.support.oracle.times import days_between
from tests.support.oracle.values import money, rate

Data = Any

MILESTONES = ("views", "starts", "subscriptions", "completions")
MONEY = ("orders", "grossRevenueCents", "totalRefundedCents", "netRevenueCents")


@answers("/v1/forms/funnel")
def all_forms_funnel(state: State, question: Question) -> Data:
    """3: "Without `form_ids`: every form with any event in the window. With it: one row for each
    distinct id that is a form of the shop or has events of the shop in the window"."""
    active = {
        session.form_id
        for session in state.sessions
        if any(state.within(at, question) for at in session.instants)
    }
    shown = active
    if "form_ids" in question.params:
        asked = {text.strip().lower() for text in question.params["form_ids"].split(",")}
        shown = asked & (state.form_names.keys() | active)
    rows = []
    for form_id in shown:
        sessions = state.of_form(form_id)
        rows.append(
            {
                "formId": form_id,
                "formName": state.form_names.get(form_id),
                "views": len(state.reached(sessions, "view", question)),
                "subscriptions": len(state.reached(sessions, "subscribe", question)),
                "completions": len(state.reached(sessions, "complete", question)),
            }
        )
    return sorted(rows, key=lambda row: (-row["views"], row["formId"]))


@answers("/v1/forms/{id}/funnel")
def funnel(state: State, question: Question) -> Data:
    """6: "Orders and revenue on the submission clock."; "the first stage's rates are 100, or 0
    where its count is 0"."""
    sessions = state.of_form(question.form_id)
    figures = on_submission_clock(state, sessions, question)
    mature = figures
    if "within" in question.params:
        mature = at_equal_age(state, sessions, question, int(question.params["within"]))
    stages = []
    for stage, name, before in (
        ("view", "views", "views"),
        ("start", "starts", "views"),
        ("submit", "submissions", "starts"),
        ("convert", "convertedSubmissions", "submissions"),
    ):
        of = figures if name in MILESTONES else mature
        stages.append(
            {
                "stage": stage,
                "count": of[name],
                "rateFromPrevious": rate(of[name], of[before]),
                "rateFromFirst": rate(of[name], of["views"]),
            }
        )
    figures = {**mature, **{name: figures[name] for name in MILESTONES}}
    return {
        "formId": question.form_id,
        "formName": state.form_names[question.form_id],
        **figures,
        "startRate": rate(figures["starts"], figures["views"]),
        "subscriptionRate": rate(figures["subscriptions"], figures["views"]),
        "completionRate": rate(figures["completions"], figures["views"]),
        "submissionRate": rate(mature["submissions"], mature["views"]),
        "conversionRate": rate(mature["convertedSubmissions"], mature["submissions"]),
        "stages": stages,
    }


def at_equal_age(
    state: State, sessions: Iterable[Session], question: Question, within: int
) -> dict[str, int]:
    """6 with `within`: "only submissions of days that are at least that many whole days before today
    (day + within < today), and only orders less than `within` x 24 h after the submission"; the
    milestones are "of the same days"."""
    sessions = list(sessions)
    until = mature_through(question.first, question.last, question.today, within)
    if until is None:
        return dict.fromkeys(on_submission_clock(state, [], question), 0)
    question = replace(question, last=until)
    submissions = state.submitted(sessions, question)
    return {
        **on_submission_clock(state, sessions, question),
        "convertedSubmissions": len(state.converted(submissions, within)),
        **money(state.outcome(submissions, within)),
    }


def mature_through(first: date, last: date, today: date, within: int) -> date | None:
    """6: "the earlier of the range's last day and today - within - 1, `null` if that is before its first
    day"."""
    until = min(last, today - timedelta(days=within + 1))
    return until if until >= first else None


@answers("/v1/forms/{id}/time-to-order")
def time_to_order(state: State, question: Question) -> Data:
    """25: "a row for each whole day from 0 to the attribution window"."""
    sessions = state.of_form(question.form_id)
    rows = []
    for days in range(state.window_days + 1):
        figures = at_equal_age(state, sessions, question, days + 1)
        converted, submissions = figures["convertedSubmissions"], figures["submissions"]
        rows.append(
            {
                "days": days,
                "submissions": submissions,
                "convertedSubmissions": converted,
                "conversionRate": rate(converted, submissions),
                **{name: figures[name] for name in MONEY},
            }
        )
    return rows


def on_submission_clock(
    state: State, sessions: Iterable[Session], question: Question
) -> dict[str, int]:
    """The ten figures of sessions: milestones on their own days, orders on the submission's."""
    sessions = list(sessions)
    submissions = state.submitted(sessions, question)
    return {
        "views": len(state.reached(sessions, "view", question)),
        "starts": len(state.reached(sessions, "start", question)),
        "subscriptions": len(state.reached(sessions, "subscribe", question)),
        "completions": len(state.reached(sessions, "complete", question)),
        "submissions": len(submissions),
        "convertedSubmissions": len(state.converted(submissions)),
        **money(state.outcome(submissions)),
    }


@answers("/v1/forms/{id}/devices")
def devices(state: State, question: Question) -> Data:
    """9: "Submission clock. Order: views descending, then name." """
    sessions = state.of_form(question.form_id)
    all_views = len(state.reached(sessions, "view", question))
    rows = []
    for device in {session.device for session in sessions}:
        on_it = [session for session in sessions if session.device == device]
        figures = on_submission_clock(state, on_it, question)
        if any(figures.values()):
            rows.append(
                {
                    "deviceType": device,
                    **figures,
                    "submissionRate": rate(figures["submissions"], figures["views"]),
                    "conversionRate": rate(figures["convertedSubmissions"], figures["submissions"]),
                    "shareOfViews": rate(figures["views"], all_views),
                }
            )
    return sorted(rows, key=lambda row: (-row["views"], row["deviceType"]))


@answers("/v1/forms/{id}/visitor-conversion")
def visitor_conversion(state: State, question: Question) -> Data:
    """10: "Distinct visitors over the whole range, exactly: with a view in the range; with a
    submission in the range; with a converted submission (by submission day) in the range." """
    sessions = state.of_form(question.form_id)
    rows = []
    for visitor_type, group in (
        ("all", sessions),
        ("new", [session for session in sessions if session in state.new_sessions]),
        ("returning", [session for session in sessions if session not in state.new_sessions]),
    ):
        submissions = state.submitted(group, question)
        visitors = len({s.visitor for s in state.reached(group, "view", question)})
        submitters = len({s.visitor for s in submissions})
        purchasers = len({s.visitor for s in state.converted(submissions)})
        rows.append(
            {
                "visitorType": visitor_type,
                "visitors": visitors,
                "submitters": submitters,
                "purchasers": purchasers,
                "submissionRate": rate(submitters, visitors),
                "purchaseRate": rate(purchasers, visitors),
                "conversionRate": rate(purchasers, submitters),
            }
        )
    return rows


@answers("/v1/forms/{id}/trends")
def trends(state: State, question: Question) -> Data:
    """13: "every day of the range"; "Orders and revenue attributed to the form, on the order clock; with
    `clock=submission` on the submission clock"."""
    sessions = state.of_form(question.form_id)
    rows = []
    for day in days_between(question.first, question.last):
        of_day = Question(day, day, question.today, question.now, {}, question.form_id)
        figures = on_submission_clock(state, sessions, of_day)
        if question.params.get("clock", "order") == "order":
            credited = [
                order
                for order in state.ordered(of_day)
                if (to := state.credits[order.id].session) and to.form_id == question.form_id
            ]
            figures.update(money(credited))
        rows.append(
            {
                "date": day.isoformat(),
                **figures,
                "submissionRate": rate(figures["submissions"], figures["views"]),
                "conversionRate": rate(figures["convertedSubmissions"], figures["submissions"]),
            }
        )
    return rows
