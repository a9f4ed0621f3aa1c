"""Tests of derivations: frames in, frames out. Most need no warehouse."""
