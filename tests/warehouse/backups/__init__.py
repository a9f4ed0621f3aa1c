"""Tests of backups: written while everything runs, restored, and refused."""
