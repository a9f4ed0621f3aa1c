"""Tests of batches: their order, their retries, and the editions that they are applied to."""
