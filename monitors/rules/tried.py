"""What a test ping did, in a sentence."""

from monitors.rules.states import PingKind

DID = {
    PingKind.SUCCESS: "it counts as a sign of life",
    PingKind.START: "a run of it has begun, and has to end",
    PingKind.FAIL: "it reported a failure, and people are called as for a real one",
    PingKind.LOG: "it is kept among its beats and changed nothing else",
    PingKind.IGNORED: "it is kept among its beats, and this monitor takes no notice of it",
}
# What a monitor that counts beats says of a ping without one.
NOT_COUNTED = "it is kept among its beats and did not count: only beats with a fence do here"


def sentence_of(kind: PingKind, *, number: int, suspicious: str = "") -> str:
    return f"The test came in as ping {number}: {NOT_COUNTED if suspicious else DID[kind]}."
