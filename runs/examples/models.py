"""The rows that the bundled workflows keep for themselves, each found by run and ordinal."""

from django.db import models


class Message(models.Model):
    """One message of the inbox of one run."""

    run_id = models.UUIDField()
    ordinal = models.PositiveIntegerField()
    message_id = models.CharField(max_length=80)
    file = models.TextField()
    sender = models.TextField(blank=True)
    subject = models.TextField(blank=True)
    text = models.TextField()
    label = models.CharField(max_length=4, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["run_id", "ordinal"], name="examples_one_message_per_ordinal"
            ),
            models.UniqueConstraint(
                fields=["run_id", "message_id"], name="examples_one_message_per_id"
            ),
            models.CheckConstraint(
                condition=models.Q(label__in=["", "ham", "spam"]),
                name="examples_a_label_is_ham_or_spam",
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id}/{self.message_id}"


class Judgement(models.Model):
    """What the judge said of one message, with its reasons."""

    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="judgement")
    run_id = models.UUIDField()
    ordinal = models.PositiveIntegerField()
    spam = models.BooleanField()
    score = models.FloatField()
    reasons = models.JSONField(default=list)
    input_hash = models.CharField(max_length=80)
    reused = models.BooleanField()
    cost = models.JSONField(default=dict)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["run_id", "ordinal"], name="examples_one_judgement_per_message"
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id}/{self.ordinal}: {'spam' if self.spam else 'ham'}"


class Entry(models.Model):
    """One row that an example run of a single verb writes, so that doubles can be counted."""

    run_id = models.UUIDField()
    step = models.CharField(max_length=80)
    ordinal = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()
    value = models.JSONField()

    class Meta:
        indexes = (models.Index(fields=["run_id", "ordinal"], name="examples_entry_by_run"),)

    def __str__(self) -> str:
        return f"{self.run_id}/{self.step}/{self.ordinal}"
