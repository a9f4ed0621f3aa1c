"""The error of a change to keys or members that cannot be made."""


class OperatorError(Exception):
    """The thing asked for is not there, or cannot be changed. The message is a sentence without its full
    stop: what happened, and what to do next."""
