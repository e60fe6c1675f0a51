"""One line that a step wrote with `run.log`: bounded and redacted before it is stored."""

from django.db import models

from runs.models.run import Run


class LogLine(models.Model):
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="log_lines", db_index=False)
    step = models.CharField(max_length=200)
    generation = models.PositiveIntegerField(default=1)
    attempt = models.PositiveIntegerField()
    fence = models.BigIntegerField()
    level = models.CharField(max_length=10)
    message = models.CharField(max_length=2000)
    fields = models.TextField(default="{}")
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["run", "step", "id"], name="log_of_a_step")]

    def __str__(self) -> str:
        return self.message
