"""What every command says where its database does not answer."""

from django.core.management.base import CommandError
from django.db import Error


def database_away(error: Error) -> CommandError:
    return CommandError(f"The database does not answer: {error}", returncode=1)
