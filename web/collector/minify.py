"""Scripts for pages of shops, made small: without comments and blanks, and with short names.

It knows as much of the language as those scripts use: they have no text between backticks, end each
statement with a semicolon or a brace, and never call two things by one name of which one is a global. A
name is shortened where it is declared, as a constant, a variable or a parameter, and is nowhere that of a
property: so pages and servers see the names of the source.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from string import ascii_letters
from typing import Final

_NOTHING: Final = re.compile(r"(?:\s+|//[^\n]*)*")
_WORD: Final = re.compile(r"[\w$]+")
_TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\w$]+|\.\.\.|\?\.|=>|\+\+|--|[^\s`\'"]')
_PATTERN: Final = re.compile(r"/(?:\[(?:[^\]\\\n]|\\.)*\]|[^/\[\\\n]|\\.)+/[a-z]*")
_BEFORE_A_PATTERN: Final = {"(", ",", "=", ":", "!", "&", "|", "?", ";", "{", "}", "=>", "return"}
_SHORT: Final = (*ascii_letters, *map("".join, product(ascii_letters, repeat=2)))
_KEYWORDS: Final = {"as", "do", "if", "in", "of"}


def minified(source: str) -> str:
    """The script in the bytes that these rules leave. Raises ValueError for what they do not know."""
    tokens = tokens_of(source)
    short = _short_names(tokens)
    return "".join(_spaced([short.get(token, token) for token in tokens]))


def tokens_of(source: str) -> list[str]:
    """Texts, patterns, words and signs of a script, in their order. Raises ValueError."""
    tokens = [""]
    at = _after_nothing(source, 0)
    while at < len(source):
        begins_pattern = source[at] == "/" and tokens[-1] in _BEFORE_A_PATTERN
        token = (_PATTERN if begins_pattern else _TOKEN).match(source, at)
        if token is None:
            raise ValueError(f"No rule of the minifier is for {source[at : at + 20]!r}.")
        tokens.append(token[0])
        at = _after_nothing(source, token.end())
    return tokens[1:]


def _after_nothing(source: str, at: int) -> int:
    blank = _NOTHING.match(source, at)
    return blank.end() if blank else at


def _spaced(tokens: list[str]) -> Iterator[str]:
    """The tokens, with a blank between two that would be one, and without a sign that the next bracket makes
    needless."""
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        if token not in (";", ",") or following not in ("}", "]", ")"):
            yield token
        if (_is_word(token) and _is_word(following)) or token + following in ("++", "--"):
            yield " "


def _is_word(token: str) -> bool:
    return _WORD.fullmatch(token) is not None


def _short_names(tokens: list[str]) -> dict[str, str]:
    """A short name of each that can have one, the shortest for the most frequent."""
    renamed = _declared(tokens) - _of_properties(tokens)
    taken = {*tokens, *_KEYWORDS} - renamed
    free = (name for name in _SHORT if name not in taken)
    uses = Counter(token for token in tokens if token in renamed)
    return {name: next(free) for name, _ in uses.most_common()}


def _declared(tokens: list[str]) -> set[str]:
    """The names after `const` and `let`, and those of parameters before `=>`; none in `{a}`."""
    names = set()
    for at, token in enumerate(tokens):
        if token in ("const", "let"):
            names.add(tokens[at + 1])
        depth, before = 0, at - 1
        while token == "=>" and before >= 0:
            depth += (tokens[before] in ")]}") - (tokens[before] in "([{")
            if depth == 0:
                break
            if depth == 1 and tokens[before - 1] in ("(", ",", "..."):
                names.add(tokens[before])
            before -= 1
    return {name for name in names if _is_word(name)}


def _of_properties(tokens: list[str]) -> set[str]:
    """Names that follow a dot, stand before a colon, or are members of such as `{a, b}`."""
    names, brackets = set(), []
    for before, token, after in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
        if token in ("{", "(", "["):
            brackets.append(token)
        elif token in ("}", ")", "]"):
            brackets.pop()
        is_member = before in ("{", ",") and brackets[-1:] == ["{"]
        if before in (".", "?.") or after == ":" or (is_member and after in (",", "}", "=")):
            names.add(token)
    return names
