"""What a release needs: its metadata, links that work anywhere, and workflows without mistakes."""

import re
import subprocess
import sys
import sysconfig
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

newest = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="these checks are installed with the newest versions",
)


def test_the_metadata_say_what_users_look_for():
    assert PROJECT["authors"]
    assert {"semi-supervised learning", "scikit-learn"} <= set(PROJECT["keywords"])
    assert all(address.startswith("https://") for address in PROJECT["urls"].values())
    for start in ("Development Status", "Operating System", "Typing", "Topic"):
        assert any(each.startswith(f"{start} ::") for each in PROJECT["classifiers"]), start


@newest
def test_the_classifiers_exist():
    from trove_classifiers import classifiers

    assert set(PROJECT["classifiers"]) <= classifiers


def test_the_source_distribution_holds_what_the_crates_include():
    """Files outside of the crates; those of the licences are always there."""
    maturin = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "maturin"
    ]
    patterns = [each["path"] for each in maturin["include"]] + PROJECT["license-files"]
    found = set()
    for name in ("ssdl", "ssdl-cli", "ssdl-data", "ssdl-experiments", "ssdl-label", "ssdl-report"):
        for source in (ROOT / "crates" / name / "src").rglob("*.rs"):
            text = source.read_text(encoding="utf-8")
            for path in re.findall(r'include_(?:str|bytes)!\("([^"]+)"\)', text):
                place = (source.parent / path).resolve().relative_to(ROOT.resolve())
                if place.parts[0] != "crates":
                    found.add(place.as_posix())
    assert len(found) > 5
    missing = [path for path in found if not any(fnmatch(path, each) for each in patterns)]
    assert missing == []


def test_links_of_the_page_for_the_registry_work_anywhere():
    text = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    assert all(link.startswith("https://") for link in links), links


def test_the_versions_of_python_agree():
    oldest = re.fullmatch(r">=3\.(\d+)", PROJECT["requires-python"])[1]
    listed = [
        int(each[1])
        for each in map(re.compile(r".* :: 3\.(\d+)$").fullmatch, PROJECT["classifiers"])
        if each
    ]
    assert min(listed) == int(oldest)
    for path in WORKFLOWS:
        assert f'"3.{oldest}"' in path.read_text(encoding="utf-8"), path.name
    cargo = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    assert f"abi3-py3{oldest}" in cargo


@newest
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_well_formed(path):
    scripts = Path(sysconfig.get_path("scripts"))
    schema = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    checks = [
        [*schema, "vendor.github-workflows", path],
        [scripts / "zizmor", "--offline", "--config", ROOT / ".github" / "zizmor.yml", path],
    ]
    for check in checks:
        done = subprocess.run(check, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_workflows_run_commands_that_exist():
    known = (ROOT / "crates/xtask/src/main.rs").read_text(encoding="utf-8")
    for path in WORKFLOWS:
        for command in re.findall(r"cargo xtask (\w+)", path.read_text(encoding="utf-8")):
            assert f'"{command}"' in known, command
