"""Samples are selected and explained, by mouse and by keyboard."""

import re

import pytest

from looking import differing, picture
from pages import SCHEMES, SIZES, WITH_LOOK

# Number of cells to click in a confusion matrix: mistakes, and as many correct ones.
CELLS = 4


# Samples.


@pytest.mark.parametrize(
    ("kind", "width"),
    [("demo", 1280), ("demo", 390), ("table", 1280), ("planned", 390), ("hostile", 1280)],
)
def test_a_count_opens_its_samples(shown, kind, width):
    page = shown(kind, width=width).page
    mistakes = page.locator(".confusion td:not(.right) button").all()[:CELLS]
    right = page.locator(".confusion .right button").all()[:CELLS]
    assert mistakes and right
    for cell in mistakes + right:
        cell.click()
        assert cell.get_attribute("aria-pressed") == "true"
        assert page.locator(".confusion [aria-pressed]").count() == 1
        listed, count = page.locator("#cell .tiles button").count(), int(cell.inner_text())
        heading = page.locator("#cell h3").inner_text()
        assert listed == count or f"({listed} of {count} are in this page)" in heading
        assert 0 < listed <= count
    assert "correct" in page.locator("#cell h3").inner_text()


def test_the_most_frequent_mistake_is_open_at_first(shown):
    page = shown("demo").page
    counts = page.locator(".confusion td:not(.right) button").all_inner_texts()
    pressed = page.locator(".confusion [aria-pressed=true]")
    assert int(pressed.inner_text()) == max(map(int, counts))
    assert " mistaken for " in page.locator("#cell h3").inner_text()


@pytest.mark.parametrize("kind", ["demo", "table"])
def test_a_sample_that_is_chosen_is_explained(shown, kind):
    page = shown(kind).page
    for button in page.locator("#unsure-list button").all()[:3]:
        button.click()
        index = button.get_attribute("data-sample")
        assert page.locator("#pick").input_value() == index
        named = page.locator("#pick option:checked").inner_text()
        place = re.match(r"sample (\d+)", named)[1]
        assert page.url.endswith(f"#sample-{place}")
        most_likely = button.locator("span").nth(0 if kind == "table" else 1).inner_text()
        predicted = page.locator("#sample > p b").inner_text()
        assert most_likely.startswith(f"{predicted}: ")
        assert page.locator("#sample").get_by_text(f"sample {place}", exact=True).count() == 1
        assert page.locator("#sample .equation").count() == 2
        assert "× atom" in page.locator("#sample .equation").first.inner_text()
        assert "weight" in page.locator("#sample .equation").last.inner_text()
        assert page.locator("#explained h2").is_visible()
        shares = page.locator("#sample .shares > span:nth-child(3n)").all_inner_texts()
        values = [float(share.removesuffix(" %")) for share in shares]
        assert values == sorted(values, reverse=True) and 0 < sum(values) <= 101


def test_an_address_names_a_sample(shown):
    first = shown("demo").page
    first.locator("#unsure-list button").nth(4).click()
    anchor = first.url[first.url.index("#") :]
    again = shown("demo", anchor=anchor).page
    assert again.locator("#pick").input_value() == first.locator("#pick").input_value()
    assert again.locator("#sample").inner_text() == first.locator("#sample").inner_text()
    assert again.locator("#explained h2").evaluate(
        "(heading) => heading.getBoundingClientRect().top < innerHeight"
    )
    nowhere = shown("demo", anchor="#sample-99999")
    assert nowhere.complaints == []
    assert nowhere.page.locator("#sample > p").is_visible()


def test_an_address_that_changes_shows_its_sample(shown):
    page = shown("demo").page
    option = page.locator("#pick option").nth(7)
    place = re.match(r"sample (\d+)", option.inner_text())[1]
    page.evaluate("(place) => { location.hash = `sample-${place}` }", place)
    page.wait_for_function("document.getElementById('pick').value === '7'", timeout=1000)


def test_samples_can_be_stepped_through(shown):
    page = shown("demo").page
    pick, sample = page.locator("#pick"), page.locator("#sample")
    last = page.locator("#pick option").count() - 1

    def moved(act, index):
        before = sample.inner_text()
        act()
        assert pick.input_value() == str(index)
        assert sample.inner_text() != before
        place = re.match(r"sample (\d+)", page.locator("#pick option:checked").inner_text())[1]
        assert f"sample {place}" in sample.inner_text()
        assert page.url.endswith(f"#sample-{place}")

    moved(lambda: pick.select_option("7"), 7)
    moved(page.get_by_role("button", name="Next sample").click, 8)
    moved(page.get_by_role("button", name="Previous sample").click, 7)
    moved(lambda: pick.select_option("0"), 0)
    moved(page.get_by_role("button", name="Previous sample").click, last)
    moved(page.get_by_role("button", name="Next sample").click, 0)


@pytest.mark.parametrize("kind", ["demo", "svm", "hostile", "files"])
@pytest.mark.parametrize("width", SIZES)
def test_the_buttons_beside_the_choice_stay_together(shown, kind, width):
    page = shown(kind, width=width).page
    before, after = page.locator("#before").bounding_box(), page.locator("#after").bounding_box()
    assert before["y"] == after["y"]


@pytest.mark.parametrize("kind", WITH_LOOK)
def test_no_sample_of_any_page_is_too_wide_or_unexplained(shown, kind):
    sheet = shown(kind, width=390)
    count = sheet.page.locator("#pick option").count()
    for index in range(0, count, max(1, count // 6)):
        sheet.page.locator("#pick").select_option(str(index))
        words = sheet.page.locator("#sample").inner_text()
        assert "Prediction: " in words
        assert not re.search(r"undefined|NaN|null|Infinity|\[object", words), words
        assert not re.search(r"[-−]0\.0+( |$)", words, re.MULTILINE), words
        assert sheet.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert sheet.complaints == []


# By keyboard alone.


def tab_to(page, where, limit=150):
    """Presses Tab until the focus is on such an element."""
    for _ in range(limit):
        page.keyboard.press("Tab")
        if page.evaluate("(where) => document.activeElement.matches(where)", where):
            return page.locator(":focus")
    raise AssertionError(f"{where} cannot be reached")


def has_outline(element):
    style = "(element) => { const s = getComputedStyle(element); return [s.outlineStyle, "
    kind, width = element.evaluate(style + "parseFloat(s.outlineWidth)] }")
    return kind != "none" and width > 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_sample_is_found_and_explained_by_keyboard(shown, scheme):
    page = shown("demo", scheme=scheme).page
    tab_to(page, ".confusion button")
    cell = tab_to(page, ".confusion button:not([aria-pressed])")
    assert has_outline(cell)
    page.keyboard.press("Enter")
    assert cell.get_attribute("aria-pressed") == "true"
    count = page.locator(":focus").inner_text()
    choice = tab_to(page, "#cell button")
    assert has_outline(choice)
    index = choice.get_attribute("data-sample")
    assert page.locator("#cell button").count() <= int(count)
    page.keyboard.press("Enter")
    assert page.locator("#pick").input_value() == index
    assert re.search(r"#sample-\d+$", page.url)
    assert page.locator(":focus").get_attribute("id") == "pick"
    assert has_outline(page.locator(":focus"))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "where",
    [
        "nav a",
        ".confusion button:not([aria-pressed])",
        ".confusion button[aria-pressed]",
        "#cell button",
        "#unsure-list button",
        "#pick",
        "#after",
    ],
)
def test_the_focus_is_visible(shown, where, scheme):
    """An outline may exist and still be cut off, so the pixels are compared."""
    sheet = shown("demo", scheme=scheme)
    element = sheet.page.locator(where).first
    element.focus()
    for key in ["Shift+Tab", "Tab"]:
        sheet.page.keyboard.press(key)
    assert element.evaluate("(element) => element === document.activeElement")
    assert has_outline(element)
    with_keys = picture(sheet, element)
    handle = element.element_handle()
    element.evaluate("(element) => element.blur()")
    without = picture(sheet, handle)
    box = handle.bounding_box()
    assert differing(with_keys, without) > box["width"] + box["height"]


@pytest.mark.parametrize("kind", ["table", "curve", "planned"])
def test_every_focused_element_has_an_outline(shown, kind):
    page = shown(kind).page
    for _ in range(25):
        page.keyboard.press("Tab")
        if not page.evaluate("document.activeElement === document.body"):
            assert has_outline(page.locator(":focus"))
