"""The minifier: what it leaves out, which names it shortens, and what it refuses."""

import re
from pathlib import Path

import pytest

from web.collector import snippet
from web.collector.minify import minified, tokens_of

STATIC = Path(snippet.__file__).parent / "static"
SOURCES = sorted(STATIC.rglob("*.js"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("// why\nconst first = 1; // here\nsend(first);", "const a=1;send(a);"),
        ('const word = "a , b // c";', 'const a="a , b // c";'),
        ("const mark = (text) => /a [/] ,/.test(text);", "const b=(a)=>/a [/] ,/.test(a);"),
        ("const half = whole / 2 / 1;", "const a=whole/2/1;"),
        ("const one = a + +b - -c;", "const d=a+ +b- -c;"),
        ("f({ a, b: [1, 2,], });", "f({a,b:[1,2]});"),
        # Others see the names of properties.
        ("const size = 1; f({ size, width: size });", "const size=1;f({size,width:size});"),
        ("const size = 1; f(box.size, box?.other);", "const size=1;f(box.size,box?.other);"),
        ("const other = 1; f({ one: other });", "const a=1;f({one:a});"),
        (
            "run((first, second = 2, ...rest) => first + second + rest);",
            "run((a,b=2,...c)=>a+b+c);",
        ),
        ("for (const { src } of all) if (src) f(src);", "for(const{src}of all)if(src)f(src);"),
    ],
)
def test_scripts_by_hand(source: str, expected: str) -> None:
    assert minified(source) == expected


@pytest.mark.parametrize("source", ["f(`text`);", "f('text');", 'f("text);'])
def test_what_it_does_not_know_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="No rule of the minifier is for"):
        minified(source)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_served_script_is_its_source(source: Path) -> None:
    """Token for token, but for names; each of these has one other name, and none is a property's."""
    text = source.read_text()
    before = [token for token in tokens_of(text) if token not in (";", ",")]
    after = [token for token in tokens_of(minified(text)) if token not in (";", ",")]
    pairs = set(zip(before, after, strict=True))
    assert len(pairs) == len(dict(pairs)) == len({short for _, short in pairs})
    changed = {name for name, short in pairs if name != short}
    assert changed
    assert all(re.fullmatch(r"[a-zA-Z]\w*", name) for name in changed)
    code = re.sub(r'"[^"\n]*"|//.*', "", text)
    assert not [name for name in changed if re.search(rf"(?<!\.\.)\.{name}\b|\b{name}:", code)]
