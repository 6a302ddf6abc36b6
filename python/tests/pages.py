"""Reads the pages of the project and runs their fenced blocks.

The blocks of a page run in order, in one folder. The Python blocks share one namespace. Each
command of an `sh` block runs in a shell that knows `ssdl`; commands that a test cannot run are
checked instead: that they exist, and that they know the options they are given. Where a block of
text follows directly, it is what the block prints.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2]
# The program of the environment that runs the tests, unless another one is named.
PROGRAM = os.environ.get("SSDL_PROGRAM") or shutil.which("ssdl", path=Path(sys.executable).parent)
NAMES = [
    *("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "python/README.md"),
    *sorted(f"docs/{path.name}" for path in (FOLDER / "docs").glob("*.md")),
]

FENCE = re.compile(r"^\s*```(.*)$")
OPTION = re.compile(r"--[a-z][a-z-]*")


# ---- Reading -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """Lines between two fences: their language, and the line before the first of them."""

    language: str
    line: int
    text: str
    follows: bool


def blocks(text):
    """The fenced blocks of a page, each with whether it directly follows the one before."""
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


def commands(block):
    """The commands of a block with their lines; a final backslash continues a command."""
    found, begun = [], None
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        first, text = (number, line) if begun is None else (begun[0], begun[1] + line.strip())
        begun = (first, text[:-1]) if text.endswith("\\") else None
        if begun is None and shlex.split(text, comments=True):
            found.append((first, text))
    assert begun is None, f"line {begun[0]}: the command has no end"
    return found


def named_commands(text):
    """Commands of the project in running text between backticks, with their lines."""
    inside = {
        number
        for block in blocks(text)
        for number in range(block.line, block.line + block.text.count("\n") + 2)
    }
    outside = "\n".join(
        "" if number in inside else line for number, line in enumerate(text.splitlines(), 1)
    )
    return [
        (outside.count("\n", 0, each.start()) + 1, " ".join(each[1].split()))
        for each in re.finditer(r"`((?:ssdl|cargo xtask)\s[^`]*)`", outside)
    ]


# ---- Comparing -----------------------------------------------------------------------------------

# Times and sizes, which differ from machine to machine, with the spaces that align them.
MEASURED = re.compile(r"\s*\b\d+(\.\d+)? (s|ms|min|B|kB|MB|GB)\b")
NUMBERS = re.compile(r"-?\b\d+\.\d+\b|(?<=\()\d+(?=\))")
# Progress lines, which a terminal overwrites.
PROGRESS = re.compile(r"^(iteration \d+ of at most \d+: .*|\d+ of \d+ fits.*)\n", re.MULTILINE)


def agree(printed, expected):
    """Whether two texts are the same, except for what may differ on another machine.

    That is: times and sizes; numbers with decimals by one in their last place or by a thousandth;
    counts in brackets by two. A line `…` stands for any number of lines.
    """
    return _agree(_lines(printed), _lines(expected))


def _agree(printed, expected):
    if not expected:
        return not printed
    if expected[0] == "…":
        return any(_agree(printed[skipped:], expected[1:]) for skipped in range(len(printed) + 1))
    return bool(printed) and _same(printed[0], expected[0]) and _agree(printed[1:], expected[1:])


def _lines(text):
    return [MEASURED.sub(" 0 s", line.rstrip()) for line in text.strip("\n").splitlines()]


def _same(printed, expected):
    if NUMBERS.sub("0", printed) != NUMBERS.sub("0", expected):
        return False
    pairs = zip(NUMBERS.findall(printed), NUMBERS.findall(expected), strict=True)
    return all(_near(Decimal(one), Decimal(other)) for one, other in pairs)


def _near(one, other):
    places = one.as_tuple().exponent
    allowed = max(Decimal(1).scaleb(places), abs(other) / 1000) if places else 2
    return places == other.as_tuple().exponent and abs(one - other) <= allowed


# ---- Checking what cannot be run -----------------------------------------------------------------


def only_checked(words):
    """Why a command of `ssdl` is not run; None if it is."""
    match words[1:]:
        case ["data", "get", *_]:
            return "needs the network"
        case ["experiment", *rest] if "--tables" not in rest:
            return "needs data sets and hours"
        case ["label", *_]:
            return "serves a page until it is stopped"
        case _:
            return None


def fault(words):
    """What is wrong with a command that is not run; None if nothing is."""
    match words:
        case ["ssdl", *rest]:
            return _fault_of_ssdl(rest)
        case ["ssdl-neural", *rest]:
            return _fault_of_neural(rest)
        case ["cargo", "xtask", *rest]:
            return _fault_of_xtask(rest)
        case ["cargo", "run", "--release", "-p", crate, "--example", example, *_]:
            there = (FOLDER / "crates" / crate / "examples" / f"{example}.rs").is_file()
            return None if there else f"{crate} has no example {example}"
        case ["cargo", "install", "--path", crate]:
            there = (FOLDER / crate / "src" / "main.rs").is_file()
            return None if there else f"{crate} is no crate with a program"
        case ["cargo", "install", "--path", crate, "--features", feature]:
            known = tomllib.loads((FOLDER / crate / "Cargo.toml").read_text("utf-8"))["features"]
            return None if feature in known else f"{crate} has no feature {feature}"
        case ["cargo", "build", "--profile", profile]:
            return _fault_of_profile(profile)
        case ["pip", "wheel", ".", "--no-deps", "--wheel-dir", _, "--config-settings", setting]:
            return _fault_of_profile(setting.removeprefix("build-args=--profile="))
        case ["pip", "install", *packages] if packages:
            faults = (_fault_of_package(package) for package in packages)
            return next((each for each in faults if each), None)
        case ["python", script, *rest]:
            return _fault_of_script(script, rest)
        case ["xdg-open", name]:
            return None if Path(name).is_file() else f"there is no file {name}"
        case _:
            return "pages.py has no rule for this command"


def _fault_of_ssdl(words):
    path = []
    for word in words:
        if word not in _commands_in(_help_of(*path)):
            break
        path.append(word)
    if not path:
        return f"there is no command {' '.join(words[:1])}"
    known = set(OPTION.findall(_help_of(*path)))
    unknown = [word for word in words if word.startswith("--") and word not in known]
    if unknown:
        return f"`ssdl {' '.join(path)}` has no option {unknown[0]}"
    match words:
        case ["experiment", name, *_] if re.fullmatch("[a-z-]+", name):
            there = (FOLDER / "experiments" / f"{name}.toml").is_file()
            return None if there or name == "all" else f"there is no experiment {name}"
        case _:
            return None


def _fault_of_neural(words):
    # It takes minutes to compile; its commands and options are names in its source.
    path = FOLDER / "crates" / "ssdl-neural" / "src" / "program" / "args.rs"
    text = path.read_text("utf-8")
    known = [name.lower() for name in re.findall(r"^    (\w+)[(,]", text, re.MULTILINE)]
    if not words or words[0] not in known:
        return f"there is no command {' '.join(words[:1])}"
    options = {f"--{name.replace('_', '-')}" for name in re.findall(r"pub (\w+): ", text)}
    unknown = [word for word in words if word.startswith("--") and word not in options]
    return f"`ssdl-neural {words[0]}` has no option {unknown[0]}" if unknown else None


@cache
def _help_of(*path):
    ran = subprocess.run(
        [program(), *path, "--help"], capture_output=True, text=True, timeout=60, check=True
    )
    return ran.stdout


def _commands_in(text):
    listed = text.partition("Commands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z-]+)", listed, re.MULTILINE)


def _fault_of_xtask(words):
    source = FOLDER / "crates" / "xtask" / "src"
    modules = dict(re.findall(r'"(\w+)" => (\w+)::', (source / "main.rs").read_text("utf-8")))
    if not words or words[0] not in modules:
        return f"there is no command {' '.join(words[:1])}"
    module = modules[words[0]]
    files = [source / f"{module}.rs", source / module / "mod.rs"]
    if module in ("bench", "fuzz"):
        # They hand their options over.
        files.append(FOLDER / "crates" / f"ssdl-{module}" / "src" / "main.rs")
    text = "".join(path.read_text("utf-8") for path in files if path.exists())
    # `--set parity`: the sets are words of the source, as the options are.
    given = [word for word in words[1:] if word.startswith("--")]
    sets = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "--set"]
    unknown = [word for word in given + sets if word != "…" and f'"{word}"' not in text]
    return f"`cargo xtask {words[0]}` knows no {unknown[0]}" if unknown else None


def _fault_of_script(script, words):
    path = FOLDER / script
    if not path.is_file():
        return f"there is no script {script}"
    text = path.read_text("utf-8")
    # The command and its options are words of the source.
    given = words[:1] + [word for word in words if word.startswith("--")]
    unknown = [word for word in given if f'"{word}"' not in text]
    return f"{script} knows no {unknown[0]}" if unknown else None


def _fault_of_profile(name):
    known = tomllib.loads((FOLDER / "Cargo.toml").read_text("utf-8"))["profile"]
    return None if name in known else f"there is no profile {name}"


def _fault_of_package(package):
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))["project"]
    name, _, extras = package.partition("[")
    if name == "pandas":
        return None
    known = project["optional-dependencies"]
    right = name == "." and all(each in known for each in extras.rstrip("]").split(",") if each)
    return None if right else f"nothing is known of a package {package}"


# ---- Running -------------------------------------------------------------------------------------


def program():
    """The program that the test was given; without one the test is skipped."""
    if not PROGRAM:
        pytest.skip("the package is not installed, and SSDL_PROGRAM names no program")
    return PROGRAM


@dataclass
class Page:
    """A page while it runs: what each block printed, by its line."""

    name: str
    namespace: dict = field(default_factory=lambda: {"__name__": "__main__"})
    printed: dict = field(default_factory=dict)

    @property
    def path(self):
        return FOLDER / self.name

    def text(self):
        return self.path.read_text(encoding="utf-8")

    def fail(self, line, words):
        pytest.fail(f"{self.name}:{line}: {words}")

    def run(self):
        found = blocks(self.text())
        for place, block in enumerate(found, 1):
            if block.language not in LANGUAGES:
                self.fail(block.line, f"no rule for blocks of `{block.language}`")
            printed = LANGUAGES[block.language](self, block)
            if printed is None:
                continue
            self.printed[block.line] = printed
            for below in found[place : place + 1]:
                if below.language == "text" and below.follows and not agree(printed, below.text):
                    instead = f"instead of, in line {below.line},\n{below.text}"
                    self.fail(block.line, f"printed\n{printed}{instead}")
        return self.printed


def _run_python(page, block):
    # Empty lines before it give every line its number on the page.
    code = "\n" * block.line + block.text
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(compile(code, str(page.path), "exec"), page.namespace)
        except Exception as error:
            lines = [
                frame.lineno
                for frame in traceback.extract_tb(error.__traceback__)
                if frame.filename == str(page.path)
            ]
            line = lines[-1] if lines else getattr(error, "lineno", block.line)
            page.fail(line, f"{type(error).__name__}: {error}")
    return out.getvalue()


def _run_commands(page, block):
    """What the commands print; None if one of them was only checked."""
    printed = [_run_command(page, line, command) for line, command in commands(block)]
    return None if None in printed else "".join(printed)


def _run_command(page, line, command):
    command = command.replace("cargo run --release --", "ssdl", 1)
    words = shlex.split(command, comments=True)
    if words[0] not in ("ssdl", "cat", "head", "sed") or only_checked(words):
        wrong = fault(words)
        if wrong:
            page.fail(line, f"{command.strip()}: {wrong}")
        return None
    beside = str(Path(program()).resolve().parent)
    ran = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command],
        env=os.environ | {"PATH": beside + os.pathsep + os.environ["PATH"], "SSDL_DATA": "data"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
    )
    if ran.returncode != 0:
        page.fail(line, f"{command.strip()}: exit code {ran.returncode}\n{ran.stdout}")
    return PROGRESS.sub("", ran.stdout)


def _parse_toml(page, block):
    try:
        tomllib.loads(block.text)
    except tomllib.TOMLDecodeError as error:
        page.fail(block.line, f"no TOML: {error}")


def _find_doctest(page, block):
    # rustdoc runs the blocks of a page that a crate includes.
    taken = re.compile(rf'include_str!\("[./]*{re.escape(page.name)}"\)')
    sources = (FOLDER / "crates").glob("*/src/lib.rs")
    if not any(taken.search(path.read_text(encoding="utf-8")) for path in sources):
        page.fail(block.line, "no crate has this page as a doctest")


LANGUAGES: dict[str, Callable] = {
    "python": _run_python,
    "sh": _run_commands,
    "toml": _parse_toml,
    "rust": _find_doctest,
    "text": lambda page, block: None,
    "math": lambda page, block: None,
}
