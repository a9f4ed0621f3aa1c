"""Tests of editions: who may write to one, and for how long."""
