"""The addresses of decisions: answers and strikes are resources of their own."""

from django.urls import path

from approvals.views import (
    answers,
    askings,
    calls,
    decision,
    delegations,
    hands,
    inbox,
    records,
    sights,
    strikes,
    waits,
)

app_name = "approvals"
urlpatterns = [
    path("decisions/", inbox.index, name="decision_list"),
    path("decisions/claimed/", hands.index, name="claimed"),
    path("decisions/<int:decision_id>/claims/", hands.claim, name="claims"),
    path("decisions/<int:decision_id>/releases/", hands.release, name="releases"),
    path("decisions/<int:decision_id>/handovers/", hands.hand_over, name="handovers"),
    path("decisions/<int:decision_id>/withdrawals/", hands.withdraw, name="withdrawals"),
    path("decisions/<int:decision_id>/", decision.show, name="decision_show"),
    path("decisions/<int:decision_id>/status/", decision.status, name="status"),
    path("decisions/<int:decision_id>/answers/", answers.create, name="answers"),
    path("decisions/<int:decision_id>/strikes/", strikes.create, name="strikes"),
    path("decisions/<int:decision_id>/sights/", sights.create, name="sights"),
    path("decisions/<int:decision_id>/askings/", askings.create, name="askings"),
    path("decisions/<int:decision_id>/calls/<int:ordinal>/", calls.show, name="call_show"),
    path("decisions/<int:decision_id>/calls.jsonl", calls.as_lines, name="calls_jsonl"),
    path("decisions/<int:decision_id>/calls.csv", calls.as_table, name="calls_csv"),
    path("decisions/<int:decision_id>/records/<int:record_id>/", records.show, name="record_show"),
    path("delegations/", delegations.index, name="delegations"),
    path("delegations/<int:delegation_id>/end/", delegations.end, name="delegation_end"),
    path("decisions/of/<int:wait_id>/", waits.show, name="decision_of_wait"),
]
