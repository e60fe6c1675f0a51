"""Each race that was decided in advance, R1 to R39, is tried by tests that name it, and fail without it."""

import ast
from collections.abc import Iterator
from pathlib import Path
from re import findall

import pytest

from config.environment import ROOT

pytestmark = pytest.mark.one_database
RULES = [f"R{number}" for number in range(1, 40)]
# What was seen to fail when the rule was switched off in the source; each test may hold several.
# Those of R23, R26, R32 and R35 need real processes, and were read, not seen.
FAILS_WITHOUT = {
    "R1": (
        "effects/test_results.py::test_a_probes_no_is_not_believed_before_it_has_settled",
        "effects/test_results.py::test_a_probes_no_is_not_believed_while_its_sender_may_live",
        "effects/test_results.py::test_a_worker_that_has_lost_its_lease_lets_nothing_leave",
    ),
    "R2": (
        "effects/test_results.py::test_an_intent_keeps_the_judgements_made_before_it",
        "operating/test_replays.py::test_a_call_that_is_not_named_any_more_asks_before_its_step_ends",
    ),
    "R3": (
        "durability/test_bodies.py::test_what_a_page_has_planned_may_be_planned_again_by_the_next_attempt",
        "approvals/test_answering.py::test_a_replay_supersedes_what_was_asked_about_the_list_of_before",
    ),
    "R4": (
        "operating/test_versions.py::test_a_rename_that_says_what_it_was_keeps_result_and_key",
        "operating/test_versions.py::test_a_changed_effect_voids_an_approval_that_is_not_applied_yet",
    ),
    "R5": (
        "operating/test_restarts.py::test_a_call_nobody_knows_of_is_settled_or_abandoned_first",
        "operating/test_restarts_by_engine.py::test_once_a_call_was_intended_a_person_is_asked_instead",
        "operating/test_restarts_by_engine.py::test_it_does_so_no_more_often_in_a_row_than_declared",
    ),
    "R6": (
        "effects/test_relayed.py::test_with_neither_a_person_is_asked_and_decides_whether_it_leaves_again",
        "effects/test_relayed.py::test_a_courier_that_died_while_sending_leaves_a_call_in_doubt",
    ),
    "R7": (
        "effects/test_results.py::test_a_call_that_never_left_goes_out_again_under_the_same_key_and_counts_as_a_failure",
        "effects/test_results.py::test_under_a_contract_without_end_an_unknown_result_is_sent_again",
        "effects/test_results.py::test_a_refusal_is_kept_and_not_sent_again_until_a_person_reopens_it",
    ),
    "R8": (
        "effects/test_results.py::test_an_irreversible_call_that_no_list_covers_asks_with_the_very_bytes",
    ),
    "R9": (
        "effects/test_results.py::test_a_contracts_window_counts_from_the_first_intent_and_must_hold_the_resend",
        "durability/test_breaches.py::test_time_spent_waiting_for_people_or_paused_does_not_count",
    ),
    "R10": ("durability/test_bodies.py::test_nothing_leaves_inside_a_transaction",),
    "R11": (
        "effects/test_doubt_and_answers.py::test_a_secret_that_the_receiver_echoes_is_not_stored",
    ),
    "R12": (
        "definition/test_keys.py::test_r12_everything_that_can_change_a_judgement_changes_its_hash",
        "operating/test_replays.py::test_judgements_are_kept_unless_the_person_says_forget",
    ),
    "R13": (
        "durability/test_bodies.py::test_a_second_use_of_a_name_is_refused",
        "durability/test_bodies_left.py::test_a_body_that_catches_every_error_does_not_catch_being_parked",
        "durability/test_bodies.py::test_a_body_that_swallows_being_parked_is_told_again_at_its_next_verb",
    ),
    "R14": (
        "events/test_races.py::test_at_the_moment_the_wait_opens_twice_over_the_run_goes_on_exactly_once",
        "events/test_fates.py::test_one_that_is_kept_beside_an_open_wait_is_found_by_the_watch",
    ),
    "R15": (
        "durability/test_rules_of_the_unbuilt.py::test_a_fan_out_is_refused_as_long_as_nothing_counts_its_children",
    ),
    "R16": (
        "approvals/test_quorum_rules.py::test_only_votes_for_the_same_answer_on_the_same_bytes_add_up",
    ),
    "R17": (
        "durability/test_bodies.py::test_a_cancel_does_not_roll_back_the_transactional_step_that_hears_it",
        "durability/test_bodies_left.py::test_the_step_behind_the_one_that_was_to_be_the_last_does_not_begin",
        "durability/test_takeover_rest.py::test_what_was_asked_of_a_dead_holder_is_done_by_who_takes_over",
    ),
    "R18": (
        "durability/test_lock_order.py::test_a_locked_run_is_passed_over_by_a_claim_which_takes_the_next",
        "durability/test_lock_order.py::test_a_held_run_does_not_keep_others_from_writing_what_refers_to_it",
    ),
    "R19": ("durability/test_lock_order.py::test_whoever_waits_too_long_for_a_lock_is_told_so",),
    "R20": (
        "durability/test_guards_remade.py::test_every_guard_is_there",
        "durability/test_safe_database.py::test_a_missing_guard_is_named",
        "durability/test_lock_order.py::test_a_write_under_a_fence_that_is_being_raised_waits_and_is_refused",
    ),
    "R21": (
        "durability/test_fences.py::test_a_zombie_is_refused_and_changes_nothing_when_it",
        "durability/test_late_writes.py::test_of_two_takers_at_once_one_wins",
    ),
    "R22": (
        "durability/test_clockwork.py::test_a_process_is_the_same_whatever_the_wall_clock_says",
        "durability/test_leases.py::test_a_stopped_worker_is_fenced_killed_and_then_replaced",
        "durability/test_takeover_rest.py::test_the_run_of_a_worker_that_will_not_die_is_fenced_and_not_placed",
    ),
    "R23": (
        "durability/test_lock_order.py::test_the_lease_is_kept_while_a_body_holds_a_transaction",
    ),
    "R24": (
        "durability/test_session_locks.py::test_a_held_lock_is_left_alone_and_one_that_is_freed_is_taken_at_the_second_look",
        "durability/test_session_locks.py::test_a_held_lock_does_not_override_a_lease_that_is_over",
    ),
    "R25": (
        "durability/test_clockwork.py::test_after_an_outage_every_lease_gets_a_full_period_first",
        "durability/test_session_locks.py::test_a_restarted_server_has_freed_every_lock_and_proves_nothing",
    ),
    "R26": (
        "durability/test_limits.py::test_a_step_past_its_timeout_is_interrupted_or_ended_from_outside",
    ),
    "R27": (
        "durability/test_takeover_rest.py::test_what_a_dead_worker_had_started_is_ended_before_its_run_is_placed",
    ),
    "R28": (
        "durability/test_takeover.py::test_a_worker_killed_at_the_end_of_a_stop_has_not_crashed",
    ),
    "R29": (
        "durability/test_bodies_left.py::test_on_sqlite_a_transactional_body_that_takes_too_long_is_rolled_back",
        "durability/test_rules_of_the_unbuilt.py::test_another_database_is_refused_inside_a_transactional_body",
    ),
    "R30": ("durability/test_safe_database.py::test_commits_that_could_be_forgotten_are_refused",),
    "R31": (
        "durability/test_clockwork.py::test_when_the_clock_jumps_nobody_is_lost_and_nothing_expires",
    ),
    "R32": (
        "effects/test_relay_killed.py::test_a_hung_receiver_delays_neither_another_lane_nor_a_takeover",
    ),
    "R33": ("durability/test_clockwork.py::test_it_rings_no_more_than_there_are_idle_workers",),
    "R34": (
        "monitors/test_judging.py::test_silence_is_believed_only_after_an_own_ping_came_through",
    ),
    "R35": ("operating/test_up.py::test_whatever_is_killed_comes_back",),
    "R36": ("durability/test_verify.py::test_what_the_engine_wrote_is_in_order",),
    "R37": (
        "durability/test_late_writes.py::test_a_late_write_after_the_end_is_told_of_in_the_tenants_chain",
        "durability/test_verify.py::test_an_erased_body_leaves_the_chain_whole",
    ),
    "R38": (
        "durability/test_bodies_left.py::test_a_cursor_that_goes_back_is_refused_by_its_ordinal_whatever_its_token_says",
    ),
    "R39": (
        "durability/test_bodies.py::test_an_event_that_came_first_loses_nothing_of_the_attempt_that_meets_it",
    ),
}


def told_by_tests() -> Iterator[str]:
    """What the names and docstrings of tests, and of their modules, say."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if path != Path(__file__):
            yield from _told(ast.parse(path.read_text(encoding="utf-8")))


def _told(module: ast.Module) -> Iterator[str]:
    tests = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    for test in tests:
        yield f"{test.name.replace('_', ' ')} {ast.get_docstring(test) or ''}"
    if tests:
        yield ast.get_docstring(module) or ""


def test_every_rule_is_named_by_a_test() -> None:
    named = {rule for text in told_by_tests() for rule in findall(r"\bR\d+\b", text)}

    assert [rule for rule in RULES if rule not in named] == []


def test_what_fails_without_each_rule_is_there() -> None:
    named = {
        f"{path.relative_to(ROOT / 'tests')}::{node.name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }

    assert list(FAILS_WITHOUT) == RULES
    assert [test for tests in FAILS_WITHOUT.values() for test in tests if test not in named] == []


def test_a_name_that_no_test_has_is_missed() -> None:
    """The look above sees tests alone: a remark somewhere else proves nothing."""
    named = ast.parse('"""About R77."""\ndef a_builder():\n    """R78"""\n')

    assert list(_told(named)) == []
