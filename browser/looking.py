"""How a test looks at a page: by the browser's own measures, by its words, and by pixels."""

import io
from pathlib import Path

from PIL import Image, ImageChops

MEASURES = (Path(__file__).parent / "measures.js").read_text(encoding="utf-8")


def measured(sheet, words):
    """An answer of the page, with the functions of measures.js at hand."""
    sheet.page.evaluate(MEASURES)
    return sheet.page.evaluate(words)


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
