"""Tests of `warehouse`, in the same rooms. They run on both databases."""
