"""The documentation as a site: it is built by one command, complete, and no link leads nowhere."""

import importlib.util
import inspect
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

import ssdl

BUILDER = Path(__file__).parents[1] / "documentation" / "build.py"

pytestmark = [
    pytest.mark.skipif(
        np.lib.NumpyVersion(np.__version__) < "2.0.0",
        reason="the tools for the site are installed with the newest versions",
    ),
    pytest.mark.xdist_group("site"),
]


@pytest.fixture(scope="module")
def builder():
    spec = importlib.util.spec_from_file_location("build_site", BUILDER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(builder, tmp_path_factory):
    work = tmp_path_factory.mktemp("work")
    builder.gather(work / "pages")
    assert builder.build(work, work / "site") == ""
    return work / "site"


def test_every_page_and_every_name_is_there(site, builder):
    for name in builder.MODULES:
        assert (site / "api" / f"{name}.html").stat().st_size > 10_000
    for path in (builder.ROOT / "docs").glob("*.md"):
        assert (site / "docs" / f"{path.stem}.html").exists()
    reference = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    for name in ssdl.__all__:
        member = getattr(ssdl, name)
        names = getattr(member, "__all__", []) if inspect.ismodule(member) else [name]
        for each in names:
            assert re.search(rf'id="[\w.]*\b{each}"', reference), each
    for name in ("FewLabelSearch", "FewLabelHalvingSearch", "HiddenCalibration", "ask_in_turn"):
        assert re.search(rf'id="[\w.]*\b{name}"', reference), name
    # Formulas are neither left as they are written for Sphinx nor to a script from elsewhere.
    pages = [reference, (site / "docs" / "mathematics.html").read_text(encoding="utf-8")]
    for text in pages:
        assert text.count("<math") > 10
        assert ".. math::" not in text
        assert "arithmatex" not in text
        # What the converter does not know it leaves as it is.
        assert not re.findall(r"<m[a-z]+>\\[a-zA-Z]+</m", text)
        assert not re.search(r'<script[^>]*src="http', text)


def test_every_local_link_and_picture_exists(site):
    count = 0
    for page in site.rglob("*.html"):
        if page.name == "404.html":
            continue
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            if re.match(r"[a-z]+:|//", link) or link in (".", ".."):
                continue
            target, _, anchor = unquote(unescape(link)).partition("#")
            there = (page.parent / target).resolve() if target else page
            assert there.exists(), f"{page.relative_to(site)}: {link}"
            if anchor and there.suffix == ".html":
                inside = there.read_text(encoding="utf-8")
                assert f'id="{anchor}"' in inside, f"{page.relative_to(site)}: {link}"
            count += 1
    assert count > 1000


def test_a_link_that_leads_nowhere_fails(builder, tmp_path):
    builder.gather(tmp_path / "pages")
    page = tmp_path / "pages" / "docs" / "faq.md"
    links = ["[a](nowhere.md)", "[b](data.md#no-such-part)", "[c](no-such-folder)"]
    text = page.read_text(encoding="utf-8")
    page.write_text("\n\n".join([text, *links]), encoding="utf-8")
    failure = builder.build(tmp_path, tmp_path / "site")
    for target in ("nowhere.md", "no-such-part", "no-such-folder"):
        assert target in failure
