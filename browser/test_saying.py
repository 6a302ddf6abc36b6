"""Names chosen by users are only ever text, and the page points out what is missing or unusual."""

import re

import pytest

from pages import HOSTILE, HOSTILE_FILES, LONG, SIZES

# Names chosen by users.


@pytest.mark.parametrize("width", SIZES)
def test_long_names_leave_room_for_the_bars(shown, width):
    bars = shown("hostile", width=width).page.locator("#sample .bar").all()
    assert bars
    assert all(bar.bounding_box()["width"] > 40 for bar in bars)


# Opens every count and every sample, and hovers over everything in them.
EVERYTHING = """
    for (const part of document.querySelectorAll(".confusion button, #unsure-list button"))
        part.click();
    const pick = document.getElementById("pick");
    for (const option of pick.options) {
        pick.value = option.value;
        pick.dispatchEvent(new Event("change"));
        for (const part of document.querySelectorAll("#sample *, #cell *"))
            part.dispatchEvent(new Event("mouseover"));
    }
"""


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize(
    ("kind", "names"),
    [("hostile", HOSTILE + LONG), ("files", HOSTILE_FILES), ("planned", HOSTILE[1:2])],
)
def test_names_are_only_ever_text(shown, kind, names, width):
    sheet = shown(kind, width=width)
    page = sheet.page
    page.evaluate(EVERYTHING)
    page.wait_for_timeout(100)
    assert page.evaluate("window.__hit") is None
    assert (sheet.dialogs, sheet.complaints, sheet.requests) == ([], [], [])
    assert page.locator("img, iframe, [onerror], [onload], [onclick], [onmouseover]").count() == 0
    assert page.locator("script").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    words = page.locator("body").inner_text()
    for name in names:
        assert name[:20] in words, name


def test_full_names_are_shown_on_hover(shown):
    page = shown("hostile").page
    titles = page.locator(".confusion [title]").evaluate_all("(all) => all.map((e) => e.title)")
    for name in HOSTILE + LONG:
        assert name in titles


def test_names_of_files_and_features_are_shown(shown):
    page = shown("files").page
    assert HOSTILE_FILES[0][:20] in page.locator("#pick").inner_text()
    page = shown("hostile").page
    features = page.locator("#sample table th[scope=row]").evaluate_all(
        "(all) => all.map((heading) => heading.title)"
    )
    assert set(features) == {*HOSTILE, LONG[0], "plain"}


@pytest.mark.parametrize("width", SIZES)
def test_rows_of_the_matrix_can_be_told_apart(shown, width):
    """Names that begin alike must not be cut to the same few letters."""
    page = shown("many", width=width).page
    cut = page.locator(".confusion tbody th").evaluate_all(
        "(all) => all.filter((each) => each.scrollWidth > each.clientWidth + 1).length"
    )
    assert cut == 0


# What is missing or unusual.


def test_a_class_that_is_never_predicted_is_named(shown):
    assert "Never predicted: “rare”" in shown("rare").page.locator(".remark").inner_text()
    assert shown("demo").page.locator(".remark").count() == 0


def test_with_many_classes_the_page_says_which_are_shown(shown):
    page = shown("many").page
    assert "30 of 45 classes" in page.locator(".remark").first.inner_text()
    assert page.locator(".confusion tbody tr").count() == 30


def test_a_model_without_its_samples_says_so(shown):
    page = shown("bare").page
    missing = page.locator(".missing").inner_text()
    assert "does not keep its training samples" in missing
    assert "no neighbours to show" in missing
    assert page.locator("#unsure-list .tile").count() == 0
    assert "sample" in page.locator("#unsure-list button").first.inner_text()
    assert shown("inspected").page.locator(".missing").count() == 0


def test_without_labels_there_is_no_matrix_but_a_reason(shown):
    for kind, words in [("unjudged", "--label-column"), ("inspected", "ssdl fit --report")]:
        page = shown(kind).page
        assert page.locator(".confusion").count() == 0
        assert words in page.locator("#mistakes").inner_text()
        assert page.locator("#unsure-list button").count() == 24


def test_tables_alone_say_how_to_get_more(shown):
    page = shown("curve").page
    assert "--tables runs none" in page.locator(".missing").inner_text()
    assert page.locator("#mistakes").count() == 0
    more = page.locator("details table")
    assert more.count() > 1 and more.first.is_hidden()
    page.locator("summary").click()
    assert more.first.is_visible()


@pytest.mark.parametrize("kind", ["curve", "planned"])
def test_the_number_of_tables_is_correct(shown, kind):
    words = shown(kind).page.locator("summary").inner_text()
    assert re.search(r"\b1 more table$|\b([2-9]|\d\d) more tables$", words), words
