"""From a figure back to its rows."""
