"""A watch whose couriers wait for an answer until the test is over: whoever hangs, hangs.

`DJANGO_SETTINGS_MODULE=config.settings python -m tests.telling.patient_watch`
"""

import django

FOR_EVER = 3600.0


def main() -> None:
    django.setup()
    from django.core.management import call_command

    from runs.channels import webhook
    from runs.engine import courier

    # Couriers are forked from the watch, and so are as patient.
    webhook.SECONDS = courier.DELIVERY_LIMIT = FOR_EVER
    call_command("watch")


if __name__ == "__main__":
    main()
