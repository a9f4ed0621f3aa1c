"""Persons: the secret under which e-mail addresses are hashed (`hash_secret.py`), and whom a shop forgets
(`forgotten.py`). Their rows are removed by `jobs/pipeline/forgetting.py`."""
