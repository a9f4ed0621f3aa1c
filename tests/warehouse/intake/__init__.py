"""Tests of how data come in: the credentials of pulls."""
