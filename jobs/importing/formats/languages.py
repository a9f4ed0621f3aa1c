"""The languages in which pages of ad platforms name their columns, beyond those that are read."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_LANGUAGES: Final = tomllib.loads(Path(__file__).with_name("languages.toml").read_text())
# Words of one language among the columns by which it is told: English and German have some of them, too.
_FEWEST_WORDS: Final = 2
# "Montant dépensé (EUR)"
_IN_PARENTHESES: Final = re.compile(r"\s*\([A-Z]{3}\)$")


def language_of(columns: Iterable[str]) -> str:
    """The language in which a page of an ad platform wrote these columns, if it is neither English nor
    German; else ""."""
    names = {_IN_PARENTHESES.sub("", name.strip()).lower() for name in columns}
    found = {language: len(names.intersection(words)) for language, words in _LANGUAGES.items()}
    best = max(found, key=lambda language: found[language])
    return best if found[best] >= _FEWEST_WORDS else ""


def in_language(language: str) -> str:
    """The advice for a table whose columns are in a language."""
    return (
        f"They are {language}: set the platform's pages to English or German, and export it again"
    )
