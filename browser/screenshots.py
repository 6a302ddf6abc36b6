"""Takes the screenshots for the documentation: `python browser/screenshots.py FOLDER`."""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

from labelling import Labelling, labelling_page, true_digits
from pages import Bench, browser, opened

# Height at which screenshots of whole pages are cut off.
HEIGHT = 1500
COLOURS = 96


def save(path, taken):
    """Writes a picture with few colours: a tenth of the bytes, and no visible difference."""
    image = Image.open(io.BytesIO(taken)).convert("RGB")
    few = image.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    print(f"{path}: {image.width} x {image.height}, {path.stat().st_size} bytes")


def top(launched, page, width, scheme):
    """The top of a page."""
    with opened(launched, page, width, scheme) as sheet:
        clip = {"x": 0, "y": 0, "width": width, "height": HEIGHT}
        return sheet.page.screenshot(clip=clip, full_page=True, animations="disabled")


def part(launched, page, where):
    """One part of a page."""
    with opened(launched, page) as sheet:
        return sheet.page.locator(where).screenshot(animations="disabled")


# Labels after which the page of `ssdl label` is shown.
LABELS = 120


def labelled(launched, scratch):
    """The digits, labelled on the page by somebody who knows them: one sample, a grid, a phone."""
    server = Labelling(scratch, "--demo")
    truth = true_digits()
    try:
        with labelling_page(launched, server.address) as sheet:
            for at in range(LABELS):
                sheet.press(truth[sheet.sample()])
                # As fast as a quick person.
                sheet.page.wait_for_timeout(250 if at % 10 else 1200)
            sheet.saved()
            rested = "() => document.getElementById('fit').textContent.startsWith('Refit')"
            sheet.page.wait_for_function(rested)
            sheet.page.wait_for_timeout(2500)
            sheet.press("g")
            yield "label.png", sheet.page.screenshot(animations="disabled")
            sheet.page.click("[data-view=grid]")
            sheet.page.select_option("#grid-class", "3")
            sheet.page.wait_for_timeout(1500)
            sheet.page.locator("#grid-list button").nth(7).click()
            yield "label-grid.png", sheet.page.screenshot(animations="disabled")
        with labelling_page(launched, server.address, 390, "dark") as sheet:
            yield "label-phone.png", sheet.page.screenshot(animations="disabled")
    finally:
        server.stop()


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, browser() as launched:
        bench = Bench(scratch)
        demo, curve = bench.path("demo"), bench.path("curve")
        save(folder / "report.png", top(launched, demo, 1280, "light"))
        save(folder / "report-phone.png", top(launched, demo, 390, "dark"))
        save(folder / "curves.png", part(launched, curve, "#curves"))
        for name, taken in labelled(launched, scratch):
            save(folder / name, taken)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python browser/screenshots.py FOLDER")
    main(Path(sys.argv[1]))
