"""Tests of the secret under which persons are hashed."""
