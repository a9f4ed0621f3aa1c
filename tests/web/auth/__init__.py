"""Tests of keys, members, permissions and sign-ins."""
