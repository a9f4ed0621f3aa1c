"""The promises about figures: cases worked out by hand, and invariants on random data."""
