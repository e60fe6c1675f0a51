"""What allows a call to leave, and the draft of it that is stored before it does (I7)."""

from typing import TYPE_CHECKING, Any

from runs.definition.approvals import Approval, Waived
from runs.definition.effects import Effect
from runs.engine import parking
from runs.engine.relaying import leaving_digest
from runs.engine.session import Attempt, Session
from runs.rules import asks, canonical, keys
from runs.rules.calls import CallDraft, CallRecord
from runs.rules.fingerprints import effect_fingerprint, who_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


class ApprovedOtherwise(RuntimeError):
    """What a person approved is not what would be sent; nothing is."""


class Allowing:
    """Who has approved what this attempt is about to send.

    `listed` are effect, resource and request digest of each call that an approved list covers.
    """

    def __init__(self, session: Session, attempt: Attempt) -> None:
        self.session, self.attempt = session, attempt
        self.listed: Callable[[], Collection[tuple[str, str, str]]] = tuple

    def require_as_allowed(self, effect: Effect, record: CallRecord) -> None:
        """Compare the very bytes that leave with their key, and with what was approved (I5, I7).

        Raises ApprovedOtherwise; then nothing may leave.
        """
        digest = canonical.digest(record.request)
        as_named = self._key(effect, record.resource, record.request) == record.key
        if digest != record.request_digest or not as_named or effect.name != record.effect:
            raise ApprovedOtherwise(
                f"The stored request of {effect.name} for {record.resource} is not the one that its "
                "key was made of; nothing is sent."
            )
        if not self._covers(effect, record, digest):
            raise ApprovedOtherwise(
                f"What was approved for {effect.name} is not what would be sent; nothing is sent."
            )

    def _covers(self, effect: Effect, record: CallRecord, digest: str) -> bool:
        """Whether the decision that the call names is about these bytes, as far as it is known here."""
        answered = {f"decision:{one.wait_id}": one for one in self.attempt.answers.values()}
        known = answered.get(record.authority)
        if known is None:
            return not effect.irreversible or bool(record.authority)
        if known.asked.get("plan"):
            return (effect.name, record.resource, digest) in self.listed()
        call = known.asked.get("call")
        if not call or "digest" not in call:
            return True
        return bool(call["digest"] == self._bound(effect, record.resource, record.request))

    def draft(
        self,
        effect: Effect,
        resource: str,
        request: str,
        *,
        authority: str,
        undoes: int | None = None,
    ) -> CallDraft:
        """The call as it will be stored."""
        return CallDraft(
            key=self._key(effect, resource, request),
            effect=effect.name,
            resource=resource,
            request=request,
            request_digest=canonical.digest(request),
            irreversible=effect.irreversible,
            authority=authority,
            undoes=undoes,
        )

    def authority(self, effect: Effect, resource: str, request: str) -> str:
        """What allows this call; parks until somebody does, where a person has to."""
        if self.asks_first(effect):
            return self._approved_alone(effect, resource, request)
        approval = self.attempt.declared.approval
        if isinstance(approval, Waived) and effect.irreversible:
            return f"waiver:{approval.reason}"
        return ""

    def asks_first(self, effect: Effect) -> bool:
        """Whether a person sees a call that no approved list covers, before it leaves."""
        approval = self.attempt.declared.approval
        if isinstance(approval, Waived):
            return False
        return effect.irreversible or isinstance(approval, Approval)

    def _approved_alone(self, effect: Effect, resource: str, request: str) -> str:
        shown = self._shown(effect, resource, request)
        name = f"call {shown['key']}"
        approval = self.attempt.declared.approval
        groups = approval.groups if isinstance(approval, Approval) else ()
        who = who_facts(approval) if isinstance(approval, Approval) else {}
        before = self._approved_otherwise(effect, resource, name)
        ask = asks.approve_call(
            step=self.attempt.begun.key,
            call=shown,
            groups=groups,
            changed_from=before,
            redact=effect.redact,
            irreversible=effect.irreversible,
        ) | asks.of_whom(who)
        answered = parking.answered_or_park(
            self.session,
            self.attempt,
            name=name,
            ask=ask,
            **_time_for(approval),
        )
        if answered.asked["call"]["digest"] != shown["digest"]:
            raise ApprovedOtherwise(
                f"What was approved for {effect.name} is not what would be sent."
            )
        return f"decision:{answered.wait_id}"

    def _approved_otherwise(self, effect: Effect, resource: str, name: str) -> Any:
        """The request approved before for the same resource, to show what has changed."""
        for other, answered in self.attempt.answers.items():
            call = answered.asked.get("call") if answered.asked else None
            # The very same, asked again because its approval had grown too old, is no other one.
            if other == name or other.startswith(f"{name} (") or not call:
                continue
            if (call["effect"], call["resource"]) == (effect.name, resource):
                return call["request"]
        return None

    def _shown(self, effect: Effect, resource: str, request: str) -> dict[str, Any]:
        return {
            "effect": effect.name,
            "resource": resource,
            "request": canonical.loads(request),
            "request_digest": canonical.digest(request),
            "key": self._key(effect, resource, request),
            "fingerprint": effect_fingerprint(effect),
            "state": "not sent",
            "digest": self._bound(effect, resource, request),
        }

    def _bound(self, effect: Effect, resource: str, request: str) -> str:
        """What an approval of this one call binds."""
        return leaving_digest(effect, resource=resource, request=request)

    def _key(self, effect: Effect, resource: str, request: str) -> str:
        return keys.idempotency_key(
            run_id=self.session.fence.run_id,
            scope=self.attempt.begun.scope,
            effect=effect.name,
            resource=resource,
            request_text=request,
        )


def _time_for(approval: object) -> dict[str, Any]:
    """How long people have, as declared for the list of the step, which this call is not on."""
    if not isinstance(approval, Approval):
        return {}
    return {
        "expires": parking.seconds(approval.expires),
        "on_expiry": approval.on_expiry,
        "timing": approval.timing,
    }


def draft_of(record: CallRecord) -> CallDraft:
    """A stored call, as a draft of itself."""
    return CallDraft(
        key=record.key,
        effect=record.effect,
        resource=record.resource,
        request=record.request,
        request_digest=record.request_digest,
        irreversible=False,
        authority=record.authority,
    )
