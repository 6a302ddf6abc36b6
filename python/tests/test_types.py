"""The types of the package, as users' own checkers see them: mypy, strictly, and pyright."""

import json
import os
import re
import site
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pages
import ssdl

TYPED = Path(__file__).parent / "typed"
SOURCES = Path(__file__).parents[1]
INSTALLED = Path(ssdl.__file__).parents[1]

pytestmark = [
    pytest.mark.skipif(
        np.lib.NumpyVersion(np.__version__) < "2.0.0",
        reason="types are checked with the newest versions, which have them all",
    ),
    # The checkers share a cache, and take all cores by themselves.
    pytest.mark.xdist_group("types"),
]


def mypy(paths, folder, path=None):
    """The lines with an error by file name, as mypy sees them."""
    settings = ["--config-file", TYPED / "mypy.ini", "--cache-dir", folder.parent / "mypy"]
    environment = dict(os.environ)
    environment.pop("MYPYPATH", None)
    if path is None and str(INSTALLED) not in site.getsitepackages():
        path = INSTALLED
    if path is not None:
        environment["MYPYPATH"] = str(path)
    command = [sys.executable, "-P", "-m", "mypy", *settings, "--no-error-summary", *paths]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(r"^(.*?):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    assert found or not done.returncode, done.stdout
    return [(Path(name).name, int(line), words) for name, line, words in found]


def pyright(paths, folder):
    """The same, as pyright sees them."""
    settings = {"extraPaths": [str(INSTALLED)], "pythonVersion": "3.11"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-P", "-m", "pyright", "--outputjson", "-p", folder]
    command += ["--pythonpath", sys.executable]
    for path in paths:
        (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return [
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"])
        for each in json.loads(done.stdout)["generalDiagnostics"]
        if each["severity"] == "error"
    ]


CHECKERS = [mypy, pyright]


@pytest.fixture(scope="module")
def pages_as_scripts(tmp_path_factory):
    """The Python of every page as one script each."""
    folder = tmp_path_factory.mktemp("pages")
    found = []
    for name in ("docs/tutorial.md", "docs/python.md"):
        blocks = pages.blocks(pages.Page(name).text())
        text = "\n".join(block.text for block in blocks if block.language == "python")
        found.append(folder / f"{Path(name).stem}_page.py")
        found[-1].write_text(text, encoding="utf-8")
    return found


@pytest.mark.parametrize("checker", CHECKERS)
def test_the_pages_and_a_script_of_a_user_pass(checker, pages_as_scripts, tmp_path):
    assert checker([*pages_as_scripts, TYPED / "script.py"], tmp_path) == []


@pytest.mark.parametrize("checker", CHECKERS)
def test_mistakes_are_found_and_nothing_else(checker, tmp_path):
    path = TYPED / "mistakes.py"
    lines = path.read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert len(wrong) > 20
    assert {line for _, line, _ in checker([path], tmp_path)} == wrong


def test_the_package_itself_passes(tmp_path):
    assert mypy(["-p", "ssdl"], tmp_path, path=SOURCES) == []


def test_the_script_of_a_user_compiles():
    for path in TYPED.glob("*.py"):
        compile(path.read_text(encoding="utf-8"), path, "exec")
