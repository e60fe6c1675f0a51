"""Whatever is killed, runs go on from where they were."""
