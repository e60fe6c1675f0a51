"""What is secret is encrypted where it is kept, under keys derived from the installation's own."""

import base64
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PURPOSE = b"milepost channels 1"


class CannotUnseal(Exception):
    """It was sealed under another SECRET_KEY; enter it again."""


def seal(text: str, *, keys: Sequence[str]) -> str:
    """Encrypted and signed under the first of the keys."""
    return _box(keys).encrypt(text.encode()).decode()


def unseal(sealed: str, *, keys: Sequence[str]) -> str:
    """Raises CannotUnseal."""
    try:
        return _box(keys).decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise CannotUnseal("It was sealed under another SECRET_KEY; enter it again.") from None


def _box(keys: Sequence[str]) -> MultiFernet:
    return MultiFernet([Fernet(_derived(key)) for key in keys])


def _derived(key: str) -> bytes:
    kdf = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE)
    return base64.urlsafe_b64encode(kdf.derive(key.encode()))
