"""Tests of the pages without a browser: forms, links, permissions."""
