"""The Python of the pages runs as it stands, and prints what stands below it.

The blocks of a page share one namespace and run in an empty folder. Where a block of text follows
directly, it is what the block prints; a number with decimals may be one off in its last place, as
another processor may round a sample to the other side.
"""

import contextlib
import io
import re
import traceback
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import matplotlib
import pytest

FOLDER = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w*)$")
DECIMALS = re.compile(r"-?\b\d+\.\d+\b")

matplotlib.use("Agg")


@dataclass(frozen=True)
class Block:
    """Lines between two fences: their language, and the line before the first of them."""

    language: str
    line: int
    text: str
    follows: bool


def blocks(text):
    """The fenced blocks of a page; whether only empty lines part one from the block before."""
    found, start, close = [], None, True
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if start is not None and fence:
            inside = text.splitlines()[start[0] : number - 1]
            body = "\n".join(inside) + "\n" if inside else ""
            found.append(Block(start[1], start[0], body, start[2]))
            start, close = None, True
        elif start is None and fence:
            start = number, fence[1], close and bool(found)
        elif start is None and line.strip():
            close = False
    assert start is None, f"line {start[0]}: the block has no end"
    return found


def agree(said, expected):
    """Whether two texts are the same, but for the last place of numbers with decimals."""
    if _words(said) != _words(expected):
        return False
    pairs = zip(DECIMALS.findall(said), DECIMALS.findall(expected), strict=True)
    return all(_near(Decimal(one), Decimal(other)) for one, other in pairs)


def _words(text):
    return [line.rstrip() for line in DECIMALS.sub("0.0", text).strip("\n").splitlines()]


def _near(one, other):
    places = one.as_tuple().exponent
    return places == other.as_tuple().exponent and abs(one - other) <= Decimal(1).scaleb(places)


def run(name):
    """Run the blocks of a page; what each printed, by its line."""
    path = FOLDER / name
    found = blocks(path.read_text(encoding="utf-8"))
    namespace, printed = {"__name__": "__main__"}, {}
    for place, block in enumerate(found):
        if block.language != "python":
            continue
        said = printed[block.line] = _output(name, path, block, namespace)
        below = found[place + 1] if place + 1 < len(found) else None
        if below is not None and below.language == "text" and below.follows:
            if not agree(said, below.text):
                pytest.fail(
                    f"{name}:{block.line}: printed\n{said}instead of, in line {below.line},\n"
                    f"{below.text}"
                )
    assert printed, f"{name} has no Python"
    return printed


def _output(name, path, block, namespace):
    # Empty lines before it give every line its number on the page.
    code = "\n" * block.line + block.text
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(compile(code, str(path), "exec"), namespace)
        except Exception as error:
            lines = [
                frame.lineno
                for frame in traceback.extract_tb(error.__traceback__)
                if frame.filename == str(path)
            ]
            line = lines[-1] if lines else getattr(error, "lineno", block.line)
            pytest.fail(f"{name}:{line}: {type(error).__name__}: {error}")
    return out.getvalue()


@pytest.mark.filterwarnings("error::ssdl.errors.FitWarning")
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["docs/tutorial.md", "docs/python.md"])
def test_a_page_prints_what_it_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(name)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_example_of_the_readme_is_right_about_most_digits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    *shares, asked = "".join(run("README.md").values()).splitlines()
    assert len(shares) == 2
    assert all(0.8 < float(share) <= 1 for share in shares)
    assert len(set(asked.strip("[]").split())) == 10


PAGE = """# A page

```python
a = 1
print(f"{a} is {a + 0.004:.2f}")
```

```text
1 is %s
```

Text of its own:

```text
not printed by anything
```

```python
%s
```
"""


@pytest.mark.parametrize(
    ("number", "last", "words"),
    [
        ("1.02", "a", r"page.md:3: printed\n1 is 1.00\ninstead of, in line 8,\n1 is 1.02"),
        ("1.0", "a", "page.md:3: printed"),
        ("1.00", "a\na + b", "page.md:20: NameError"),
        ("1.00", "a = = 1", "page.md:19: SyntaxError"),
    ],
)
def test_a_failure_names_the_page_and_the_line(number, last, words, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE % (number, last), encoding="utf-8")
    with pytest.raises(pytest.fail.Exception, match=words):
        run(page)


def test_the_last_place_of_a_decimal_number_may_differ(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE % ("1.01", "a"), encoding="utf-8")
    assert list(run(page).values()) == ["1 is 1.00\n", ""]
