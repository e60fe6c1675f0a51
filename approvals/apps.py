"""Tells Django that the app `approvals` exists, and answers for waits of kind decision."""

from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from runs.definition import gates
from runs.engine import drill_desk
from runs.rules import bundle_checks
from runs.rules.states import WaitKind


class ApprovalsConfig(AppConfig):
    name = "approvals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        gate = import_module("approvals.gate")
        gates.register(WaitKind.DECISION.value, gate.DecisionGate())
        groups = import_module("approvals.ledger.groups")
        # Behind Django's own receiver, which makes the permissions that the groups have.
        post_migrate.connect(groups.keep, sender=self, dispatch_uid="approvals.groups")
        import_module("approvals.ledger.records").guard()
        import_module("approvals.queries.verify_records").register()
        import_module("approvals.queries.bundled").register_parts()
        kept = import_module("approvals.rules.bundled")
        bundle_checks.register(kept.decisions_hold)
        bundle_checks.register(kept.records_hold)
        bundle_checks.register(kept.answers_hold)
        bundle_checks.register_note(kept.unbound)
        import_module("approvals.web.needs").register_needs()
        import_module("approvals.tasks").register_duties()
        drill_desk.register(gate.answer_in_a_drill)
