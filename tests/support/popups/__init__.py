"""Pages and scripts, written by us, that behave as the documents of pop-up tools say."""
