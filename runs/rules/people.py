"""What may not be done to people, whoever asks."""


class PersonRefused(ValueError):
    """This may not be done to this person; the message says why, and what to do instead."""


class NoSuchPerson(Exception):
    """There is nobody of that number, or they belong to no tenant that this actor sees."""
