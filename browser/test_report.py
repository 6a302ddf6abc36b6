"""The report pages as a reader meets them: wide and narrow, light and dark, by hand and by keys."""

import io
import re
from pathlib import Path

import pytest
from pages import HOSTILE, HOSTILE_FILES, LONG, SCHEMES, SIZES
from PIL import Image, ImageChops

MEASURES = (Path(__file__).parent / "measures.js").read_text(encoding="utf-8")
LARGEST = 500_000
# Cells of the matrix of the demonstration: some mistakes, and some that are right.
CELLS = 6


def measured(sheet, words):
    """An answer of the page, with the functions of measures.js at hand."""
    return sheet.page.evaluate("(text) => { if (!window.measures) eval(text) }", MEASURES) or (
        sheet.page.evaluate(words)
    )


def tree(sheet):
    """What the browser tells those who do not see: (role, name) of everything."""
    session = sheet.page.context.new_cdp_session(sheet.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored") and "role" in node
    ]


def picture(sheet, locator, around=6):
    """What can be seen of an element and a little around it."""
    box = locator.bounding_box()
    clip = {
        "x": max(0, box["x"] - around),
        "y": max(0, box["y"] - around),
        "width": box["width"] + 2 * around,
        "height": box["height"] + 2 * around,
    }
    return Image.open(io.BytesIO(sheet.page.screenshot(clip=clip))).convert("RGB")


def differing(left, right):
    """How many pixels of two pictures differ clearly."""
    grey = ImageChops.difference(left, right).convert("L")
    return sum(grey.histogram()[24:])


# Every page, at every width, in every scheme.


def test_nothing_is_complained_of_and_nothing_asked_for(sheet):
    assert sheet.complaints == []
    assert sheet.requests == []
    assert sheet.dialogs == []


def test_nothing_scrolls_sideways(sheet):
    assert sheet.page.evaluate("document.documentElement.scrollWidth") <= sheet.width


def test_text_stands_out_from_its_ground(sheet):
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


def test_the_ground_follows_the_scheme(sheet):
    light = measured(sheet, "measures.light(measures.painted(...measures.grounds(document.body)))")
    assert light > 0.8 if sheet.scheme == "light" else light < 0.05


def test_lines_of_plots_stand_out(sheet):
    weak = measured(
        sheet,
        """[...document.querySelectorAll(".legend i")].map((key) =>
            measures.ratio(measures.painted(getComputedStyle(key).color),
                measures.painted(...measures.grounds(key)))).filter((contrast) => contrast < 3)""",
    )
    assert weak == []


def test_words_of_plots_are_large_enough_to_read(sheet):
    small = sheet.page.evaluate(
        """[...document.querySelectorAll(".plot svg")].flatMap((svg) => {
            const zoom = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
            return [...svg.querySelectorAll("text")]
                .map((text) => zoom * parseFloat(getComputedStyle(text).fontSize))
                .filter((size) => size < 9);
        })"""
    )
    assert small == []


def test_captions_are_seen_whole_without_scrolling(sheet):
    cut = sheet.page.evaluate(
        """[...document.querySelectorAll("caption:not(.unseen)")].filter((caption) => {
            const range = document.createRange();
            range.selectNodeContents(caption);
            return range.getBoundingClientRect().right > innerWidth + 1;
        }).map((caption) => caption.textContent)"""
    )
    assert cut == []


# Every page.


def test_every_page_is_small(bench, kind):
    assert bench.path(kind).stat().st_size < LARGEST


def test_headings_have_an_order(shown, kind):
    levels = shown(kind).page.evaluate(
        """[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
            .map((heading) => Number(heading.tagName[1]))"""
    )
    assert levels.count(1) == 1 and levels[0] == 1
    pairs = zip(levels, levels[1:], strict=False)
    assert all(later <= earlier + 1 for earlier, later in pairs), levels


def test_everything_has_a_name(shown, kind):
    page = shown(kind)
    page.page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
    named = ("image", "img", "button", "combobox", "table", "link", "region", "figure")
    parts = [(role, name) for role, name in tree(page) if role in named]
    assert parts
    assert [role for role, name in parts if not name.strip()] == []
    uncaptioned = "[...document.querySelectorAll('table')].filter((table) => !table.caption).length"
    assert page.page.evaluate(uncaptioned) == 0


def test_links_of_the_page_lead_somewhere(shown, kind):
    page = shown(kind).page
    links = page.locator("nav a").evaluate_all("(all) => all.map((a) => a.getAttribute('href'))")
    assert len(links) > 1
    for link in links:
        assert page.locator(link).count() == 1, link


def test_texts_are_whole_letters(shown, kind):
    assert shown(kind).page.evaluate("document.body.textContent.isWellFormed()")
    assert "\ufffd" not in shown(kind).page.inner_text("body")


def test_what_scrolls_can_be_scrolled_by_keys(shown, kind):
    lost = shown(kind, width=390).page.evaluate(
        """[...document.querySelectorAll("main *")].filter((element) => {
            const flow = getComputedStyle(element).overflowX;
            return (flow === "auto" || flow === "scroll") && element.tabIndex < 0;
        }).map((element) => element.className)"""
    )
    assert lost == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_paper_is_white_and_has_no_links_to_follow(shown, kind, scheme):
    page = shown(kind, scheme=scheme)
    page.page.emulate_media(media="print", color_scheme=scheme)
    assert page.page.locator("nav").is_hidden()
    assert measured(page, "measures.painted(...measures.grounds(document.body))") == [255] * 3
    pdf = page.page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) > 1


def test_without_its_script_a_page_has_its_tables_and_plots(shown, kind_with_look):
    page, whole = shown(kind_with_look, script=False).page, shown(kind_with_look).page
    assert page.get_by_text("need the script of this page").is_visible()
    for part in [".confusion button", ".plot svg", "#tables table", "#run dd"]:
        assert page.locator(part).count() == whole.locator(part).count(), part
    for part in page.locator(".confusion button, .plot svg").all():
        box = part.bounding_box()
        assert box["width"] > 5 and box["height"] > 5


# Figures and pictures.


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize(
    ("kind", "where", "count"),
    [
        ("demo", "#objective svg", 1),
        ("demo", "#sparsity svg", 1),
        ("table", "#objective svg", 1),
        ("curve", "#curves svg", 2),
    ],
)
def test_plots_are_drawn_and_said(shown, kind, where, count, width):
    plots = shown(kind, width=width).page.locator(where)
    assert plots.count() == count
    for plot in plots.all():
        box = plot.bounding_box()
        assert box["width"] > 200 and box["height"] > 100
        assert plot.get_attribute("role") == "img"
        assert len(plot.get_attribute("aria-label")) > 40
        marks = plot.locator("path, rect, circle, line").count()
        assert marks > 10


def test_atoms_are_drawn(shown, kind_with_look):
    page = shown(kind_with_look).page
    atoms = page.locator("#atoms [data-atom]")
    if kind_with_look in ("svm", "planned"):
        assert atoms.count() == 0
        assert page.get_by_text("has no atoms").is_visible()
        return
    assert atoms.count() > 5
    assert page.locator("#atoms .tile").count() == atoms.count()
    drawn = atoms.evaluate_all(
        """(all) => all.map(({ firstElementChild: tile }) => tile instanceof SVGElement
            ? tile.querySelector("path").getBoundingClientRect().height > 0
            : getComputedStyle(tile).backgroundImage.startsWith('url("data:image/png'))"""
    )
    assert all(drawn)


# Samples.


@pytest.mark.parametrize("kind", ["demo", "table", "judged", "planned", "hostile"])
@pytest.mark.parametrize("width", SIZES)
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
    assert "found" in page.locator("#cell h3").inner_text()


def test_the_most_frequent_mistake_is_open_from_the_start(shown):
    page = shown("demo").page
    counts = page.locator(".confusion td:not(.right) button").all_inner_texts()
    pressed = page.locator(".confusion [aria-pressed=true]")
    assert int(pressed.inner_text()) == max(map(int, counts))
    assert " taken for " in page.locator("#cell h3").inner_text()


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
        likeliest = button.locator("span").nth(0 if kind == "table" else 1).inner_text()
        said = page.locator("#sample > p b").inner_text()
        assert likeliest.startswith(f"{said}: ")
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


def test_samples_are_turned_over(shown):
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

    moved(lambda: pick.select_option("3"), 3)
    moved(page.get_by_role("button", name="Sample after").click, 4)
    moved(page.get_by_role("button", name="Sample before").click, 3)
    moved(lambda: pick.select_option("0"), 0)
    moved(page.get_by_role("button", name="Sample before").click, last)
    moved(page.get_by_role("button", name="Sample after").click, 0)


@pytest.mark.parametrize("kind", ["demo", "svm", "hostile", "files"])
@pytest.mark.parametrize("width", SIZES)
def test_the_buttons_beside_the_choice_stay_together(shown, kind, width):
    page = shown(kind, width=width).page
    before, after = page.locator("#before").bounding_box(), page.locator("#after").bounding_box()
    assert before["y"] == after["y"]


def test_no_sample_of_any_page_is_too_wide_or_unexplained(shown, kind_with_look):
    sheet = shown(kind_with_look, width=390)
    count = sheet.page.locator("#pick option").count()
    for index in range(0, count, max(1, count // 12)):
        sheet.page.locator("#pick").select_option(str(index))
        words = sheet.page.locator("#sample").inner_text()
        assert "The model says" in words
        assert not re.search(r"undefined|NaN|null|Infinity|\[object", words), words
        assert not re.search(r"[-−]0\.0+( |$)", words, re.MULTILINE), words
        assert sheet.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert sheet.complaints == []


# By keys alone.


def tab_to(page, where, most=150):
    """Goes on from the place of the keys until it is in such an element."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(where) => document.activeElement.matches(where)", where):
            return page.locator(":focus")
    raise AssertionError(f"{where} cannot be reached")


def has_outline(element):
    style = "(element) => { const s = getComputedStyle(element); return [s.outlineStyle, "
    kind, width = element.evaluate(style + "parseFloat(s.outlineWidth)] }")
    return kind != "none" and width > 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_sample_is_found_and_explained_by_keys(shown, scheme):
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
def test_the_place_of_the_keys_can_be_seen(shown, where, scheme):
    """An outline may be there and yet be cut off, so the pixels are compared."""
    sheet = shown("demo", scheme=scheme)
    element = tab_to(sheet.page, where)
    assert has_outline(element)
    with_keys = picture(sheet, element)
    handle = element.element_handle()
    element.evaluate("(element) => element.blur()")
    without = picture(sheet, handle)
    box = handle.bounding_box()
    assert differing(with_keys, without) > box["width"] + box["height"]


def test_each_stop_of_the_keys_is_seen(shown, kind):
    page = shown(kind).page
    for _ in range(25):
        page.keyboard.press("Tab")
        if not page.evaluate("document.activeElement === document.body"):
            assert has_outline(page.locator(":focus"))


# Names that others chose.


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize(
    ("kind", "names"),
    [("hostile", HOSTILE + LONG), ("files", HOSTILE_FILES), ("planned", HOSTILE[1:2])],
)
def test_names_are_only_ever_text(shown, kind, names, width):
    sheet = shown(kind, width=width)
    page = sheet.page
    for button in page.locator(".confusion button, #unsure-list button").all():
        button.click()
    for index in range(page.locator("#pick option").count()):
        page.locator("#pick").select_option(str(index))
    page.wait_for_timeout(100)
    assert page.evaluate("window.__hit") is None
    assert (sheet.dialogs, sheet.complaints, sheet.requests) == ([], [], [])
    assert page.locator("img, iframe, [onerror], [onload], [onclick], [onmouseover]").count() == 0
    assert page.locator("script").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    words = page.locator("body").inner_text()
    for name in names:
        assert name[:20] in words, name


def test_names_are_there_in_full_for_who_asks(shown):
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


# What is missing, and what is remarkable.


def test_a_class_that_is_never_predicted_is_named(shown):
    assert "Never predicted: “rare”" in shown("rare").page.locator(".remark").inner_text()
    assert shown("demo").page.locator(".remark").count() == 0


def test_of_many_classes_it_is_said_which_are_shown(shown):
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
def test_a_number_of_tables_is_said_rightly(shown, kind):
    words = shown(kind).page.locator("summary").inner_text()
    assert re.search(r"\b1 more table$|\b([2-9]|\d\d) more tables$", words), words
