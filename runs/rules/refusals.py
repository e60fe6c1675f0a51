"""What was filled in does not fit: one sentence a field, for forms and commands alike."""

from collections.abc import Mapping


class FieldErrors(ValueError):
    """`errors` has one sentence a field; the message joins them."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = dict(errors)
        super().__init__("; ".join(f"{name}: {error}" for name, error in self.errors.items()))
