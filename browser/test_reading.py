"""Every page as readers see it: wide, narrow, light, dark, in print, without scripts."""

import re

import pytest

from looking import measured, tree
from pages import KINDS, SCHEMES, SIZES, WITH_LOOK

LARGEST = 500_000


# Every page, at every width, in every scheme.


def test_there_are_no_errors_and_no_requests(sheet):
    assert sheet.complaints == []
    assert sheet.requests == []
    assert sheet.dialogs == []


def test_nothing_scrolls_sideways(sheet):
    assert sheet.page.evaluate("document.documentElement.scrollWidth") <= sheet.width


def test_text_has_enough_contrast(sheet):
    body, soft = measured(
        sheet,
        """["body", ".lead"].map((where) =>
            measures.contrast(document.querySelector(where)))""",
    )
    assert body >= 7
    assert soft >= 4.5
    weak = measured(
        sheet,
        """measures.texts()
            .map((element) => [measures.contrast(element), measures.words(element)])
            .filter(([contrast]) => contrast < 4.5)""",
    )
    assert weak == []


def test_the_background_follows_the_scheme(sheet):
    light = measured(sheet, "measures.light(measures.painted(...measures.grounds(document.body)))")
    assert light > 0.8 if sheet.scheme == "light" else light < 0.05


def test_lines_of_plots_have_enough_contrast(sheet):
    weak = measured(
        sheet,
        """[...document.querySelectorAll(".legend i")].map((key) =>
            measures.ratio(measures.painted(getComputedStyle(key).color),
                measures.painted(...measures.grounds(key)))).filter((contrast) => contrast < 3)""",
    )
    assert weak == []


def test_text_in_plots_is_large_enough_to_read(sheet):
    small = sheet.page.evaluate(
        """[...document.querySelectorAll(".plot svg")].flatMap((svg) => {
            const zoom = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
            return [...svg.querySelectorAll("text")]
                .map((text) => zoom * parseFloat(getComputedStyle(text).fontSize))
                .filter((size) => size < 9);
        })"""
    )
    assert small == []


def test_captions_are_fully_visible_without_scrolling(sheet):
    cut = sheet.page.evaluate(
        """[...document.querySelectorAll("caption:not(.unseen)")].filter((caption) => {
            const range = document.createRange();
            range.selectNodeContents(caption);
            return range.getBoundingClientRect().right > innerWidth + 1;
        }).map((caption) => caption.textContent)"""
    )
    assert cut == []


# Every page.


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_is_small(bench, kind):
    assert bench.path(kind).stat().st_size < LARGEST


def test_headings_have_an_order(still):
    levels = still.page.evaluate(
        """[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
            .map((heading) => Number(heading.tagName[1]))"""
    )
    assert levels.count(1) == 1 and levels[0] == 1
    pairs = zip(levels, levels[1:], strict=False)
    assert all(later <= earlier + 1 for earlier, later in pairs), levels


def test_everything_has_a_name(still):
    named = ("image", "img", "button", "combobox", "table", "link", "region")
    parts = [(role, name) for role, name in tree(still) if role in named]
    assert parts
    assert [role for role, name in parts if not name.strip()] == []
    for part, name in [("table", "caption"), ("figure", "figcaption")]:
        unnamed = still.page.locator(f"{part}:not(:has(> {name}))")
        assert unnamed.count() == 0, part


def test_links_of_the_page_lead_somewhere(still):
    links = still.page.locator("nav a").evaluate_all("(all) => all.map((a) => a.hash)")
    assert len(links) > 1
    for link in links:
        assert still.page.locator(link).count() == 1, link


def test_an_index_leads_to_its_pages_and_back(shown):
    sheet = shown("index")
    links = sheet.page.locator(".entries h2 a")
    assert links.count() == sheet.page.locator(".entries li").count() > 5
    for at in range(links.count()):
        title = links.nth(at).inner_text()
        links.nth(at).click()
        assert sheet.page.locator("h1").inner_text() == title
        assert sheet.page.locator("#tables table").first.is_visible()
        sheet.page.locator("nav a").first.click()
    assert sheet.complaints == []


def test_no_character_is_cut_in_half(still):
    assert still.page.evaluate("document.body.textContent.isWellFormed()")
    assert "\ufffd" not in still.page.inner_text("body")


def test_scrolling_works_by_keyboard(still):
    lost = still.page.evaluate(
        """[...document.querySelectorAll("main *")].filter((element) => {
            const flow = getComputedStyle(element).overflowX;
            return (flow === "auto" || flow === "scroll") && element.tabIndex < 0;
        }).map((element) => element.className)"""
    )
    assert lost == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", ["demo", "table", "curve", "hostile"])
def test_print_is_white_and_has_no_navigation(shown, kind, scheme):
    sheet = shown(kind, scheme=scheme)
    sheet.page.emulate_media(media="print", color_scheme=scheme)
    assert sheet.page.locator("nav").is_hidden()
    assert measured(sheet, "measures.painted(...measures.grounds(document.body))") == [255] * 3
    pdf = sheet.page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) > 1


@pytest.mark.parametrize("kind", WITH_LOOK)
def test_without_scripts_a_page_has_its_tables_and_plots(shown, bench, kind):
    page = shown(kind, script=False).page
    assert page.locator("noscript p").is_visible()
    text = bench.path(kind).read_text(encoding="utf-8")
    for part, mark in [(".confusion button", '<button type="button" data-row'), ("dd", "<dd>")]:
        assert page.locator(part).count() == text.count(mark), part
    for part in page.locator("#tables table, .confusion, .plot svg").all():
        box = part.bounding_box()
        assert box["width"] > 50 and box["height"] > 50


# Figures and pictures.


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize(
    ("kind", "where", "count"),
    [
        ("demo", "#objective svg", 1),
        ("demo", "#sparsity svg", 1),
        ("table", "#objective svg", 1),
        ("curve", "#curves svg", 4),
    ],
)
def test_plots_are_drawn_and_described(shown, kind, where, count, width):
    plots = shown(kind, width=width).page.locator(where)
    assert plots.count() == count
    for plot in plots.all():
        box = plot.bounding_box()
        assert box["width"] > 200 and box["height"] > 100
        assert plot.get_attribute("role") == "img"
        assert len(plot.get_attribute("aria-label")) > 40
        marks = plot.locator("path, rect, circle, line").count()
        assert marks > 10


def test_without_atoms_a_page_says_so(shown):
    page = shown("svm").page
    assert page.locator("#atoms [data-atom]").count() == 0
    assert page.get_by_text("has no atoms").is_visible()
    assert page.get_by_text("no iterations to draw").is_visible()


@pytest.mark.parametrize("kind", ["demo", "table", "bare", "files"])
def test_atoms_are_drawn(shown, kind):
    page = shown(kind).page
    atoms = page.locator("#atoms [data-atom]")
    assert atoms.count() > 5
    assert page.locator("#atoms .tile").count() == atoms.count()
    drawn = atoms.evaluate_all(
        """(all) => all.map(({ firstElementChild: tile }) => tile instanceof SVGElement
            ? tile.querySelector("path").getBoundingClientRect().height > 0
            : getComputedStyle(tile).backgroundImage.startsWith('url("data:image/png'))"""
    )
    assert all(drawn)
