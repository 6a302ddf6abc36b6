"""How tests inspect a page: by computed styles, by accessible names, and by pixels."""

import io
from pathlib import Path

from PIL import Image, ImageChops

MEASURES = (Path(__file__).parent / "measures.js").read_text(encoding="utf-8")


def measured(sheet, expression):
    """The value of an expression in the page, with the functions of measures.js."""
    sheet.page.evaluate(MEASURES)
    return sheet.page.evaluate(expression)


def tree(sheet):
    """The accessibility tree: (role, name) of every node."""
    session = sheet.page.context.new_cdp_session(sheet.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored") and "role" in node
    ]


def picture(sheet, locator, around=6):
    """A screenshot of an element and a little around it."""
    box = locator.bounding_box()
    clip = {
        "x": max(0, box["x"] - around),
        "y": max(0, box["y"] - around),
        "width": box["width"] + 2 * around,
        "height": box["height"] + 2 * around,
    }
    return Image.open(io.BytesIO(sheet.page.screenshot(clip=clip))).convert("RGB")


def differing(left, right):
    """The number of pixels that differ clearly between two pictures."""
    grey = ImageChops.difference(left, right).convert("L")
    return sum(grey.histogram()[24:])
