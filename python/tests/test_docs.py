"""The commands and the Python of every page run, and print what the page shows below them."""

import shlex

import matplotlib
import pytest
from PIL import Image
from sklearn.datasets import load_digits

import pages
from pages import Page

matplotlib.use("Agg")


def digits_as_images(folder):
    """`images/` with five digits of each class and 100 `unlabelled`, 20 `new-images/`."""
    X, y = load_digits(return_X_y=True)
    count = dict.fromkeys(range(10), 0)
    for place, (pixels, label) in enumerate(zip(X[:300] * 15.9, y, strict=False)):
        count[label] += 1
        inside = f"images/{label}" if count[label] <= 5 else "images/unlabelled"
        into = folder / ("new-images" if place >= 280 else inside)
        into.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels.reshape(8, 8).astype("uint8")).save(into / f"{place}.png")


# What a page needs before its first block.
PREPARED = {"docs/guide.md": digits_as_images}


@pytest.mark.filterwarnings("error::ssdl.errors.FitWarning")
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", pages.NAMES)
def test_a_page_does_and_prints_what_it_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name in PREPARED:
        PREPARED[name](tmp_path)
    Page(name).run()


@pytest.mark.parametrize("name", pages.NAMES)
def test_commands_named_in_the_text_exist(name):
    page = Page(name)
    for line, command in pages.named_commands(page.text()):
        wrong = pages.fault(shlex.split(command))
        if wrong:
            page.fail(line, f"{command}: {wrong}")


# ---- The reading and running itself --------------------------------------------------------------

PAGE = """# A page

```python
a = 1
print(f"{a} is {a + 0.004:.2f}")
```

```text
1 is %s
```

Text of its own, with `ssdl fit --no-such
option`:

```text
not printed by anything, `ssdl fit`
```

```%s
%s
```
"""


def page(folder, number="1.00", language="python", last="a"):
    path = folder / "page.md"
    path.write_text(PAGE % (number, language, last), encoding="utf-8")
    return Page(str(path))


@pytest.mark.parametrize(
    ("number", "language", "last", "words"),
    [
        ("1.02", "python", "a", r"printed\n1 is 1.00\ninstead of, in line 8,\n1 is 1.02"),
        ("1.0", "python", "a", "page.md:3: printed"),
        ("1.00", "python", "a\na + b", "page.md:21: NameError"),
        ("1.00", "python", "a = = 1", "page.md:20: SyntaxError"),
        ("1.00", "toml", "a = = 1", "page.md:19: no TOML"),
        ("1.00", "rust", "fn main() {}", "page.md:19: no crate has this page"),
        ("1.00", "ruby", "a", "page.md:19: no rule for blocks of `ruby`"),
        ("1.00", "sh", "\ncargo xtask tset", "page.md:21: .* there is no command tset"),
        ("1.00", "sh", "cargo xtask test --fast", "knows no --fast"),
        ("1.00", "sh", "cargo xtask bench --set all --set so", "knows no so"),
        ("1.00", "sh", "cargo install --path crates/ssdl", "no crate with a program"),
        ("1.00", "sh", "cargo build --profile fast", "there is no profile fast"),
        ("1.00", "sh", "pip install '.[plots]'", "nothing is known of a package"),
        ("1.00", "sh", "xdg-open report.html", "there is no file report.html"),
        ("1.00", "sh", "make", "no rule for this command"),
    ],
)
def test_a_failure_names_the_page_and_the_line(number, language, last, words, tmp_path):
    with pytest.raises(pytest.fail.Exception, match=words):
        page(tmp_path, number, language, last).run()


@pytest.mark.skipif(not pages.PROGRAM, reason="the package is not installed")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("ssdl methods\nssdl \\\n    fti a.csv", "page.md:21: ssdl fti a.csv: exit code 2"),
        ("cargo run --release -- demo --into .", "page.md:20: ssdl demo --into .: exit code 2"),
        ("ssdl fit a.csv --model m --label-column c", "a.csv: cannot be read"),
        ("ssdl data get usps --fast", "`ssdl data get` has no option --fast"),
        ("ssdl experiment digits --fast", "`ssdl experiment` has no option --fast"),
        ("ssdl experiment figures", "there is no experiment figures"),
    ],
)
def test_a_wrong_command_fails_with_its_line(command, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pytest.fail.Exception, match=words):
        page(tmp_path, language="sh", last=command).run()


def test_what_commands_print_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pages, "PROGRAM", "/nowhere/ssdl")
    (tmp_path / "a").write_text("1\n2\n", encoding="utf-8")
    lines = "cat a  # all\n\nhead -n 1 a | \\\n    head -n 1"
    assert list(page(tmp_path, language="sh", last=lines).run().values())[1] == "1\n2\n1\n"


def test_a_page_without_the_program_is_skipped_where_it_needs_it(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "PROGRAM", None)
    ended = page(tmp_path, language="sh", last="ssdl methods")
    with pytest.raises(pytest.skip.Exception, match="SSDL_PROGRAM"):
        ended.run()
    assert list(ended.printed.values()) == ["1 is 1.00\n"]


def test_commands_are_found_in_running_text(tmp_path):
    text = page(tmp_path).text()
    assert pages.named_commands(text) == [(12, "ssdl fit --no-such option")]


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("1.00", "1.01", True),
        ("1.00", "1.02", False),
        ("3023.7", "3026.1", True),
        ("3023.7", "3033.7", False),
        ("a (12), b (4)", "a (14), b (4)", True),
        ("a (12)", "a (15)", False),
        ("12 samples", "13 samples", False),
        ("read 0.004 s,   12 MB", "read 10.0 s, 8 kB", True),
        ("a\nb\nc\nd", "a\n…\nd", True),
        ("a\nb\nc\nd", "…\nc", False),
        ("a\nb", "a\nb\n…", True),
    ],
)
def test_texts_agree_except_for_what_differs_between_machines(printed, expected, same):
    assert pages.agree(printed, expected) == same
