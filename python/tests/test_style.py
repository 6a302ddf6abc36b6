"""The style of all Python here: checked once, where the newest versions are."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]


@pytest.mark.skipif(find_spec("ruff") is None, reason="ruff is not installed")
@pytest.mark.parametrize("check", [["check"], ["format", "--check"]], ids=["lints", "format"])
def test_ruff_has_nothing_to_say(check):
    folders = [name for name in ("python", "browser") if (TOP / name).is_dir()]
    command = [sys.executable, "-m", "ruff", *check, "--no-cache", *folders]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
