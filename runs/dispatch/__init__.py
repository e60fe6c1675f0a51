"""How a placed assignment reaches a worker: the doorbell, its brokers, the hardened cluster."""
