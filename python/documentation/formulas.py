"""Formulas of docstrings, which are written for Sphinx, as the site writes them."""

import re
import textwrap

import griffe

BLOCK = re.compile(r"^( *)\.\. math::\n\n((?:\1 +.*\n|\s*\n)+)", re.MULTILINE)
GROUP = re.compile(r"^\*About .*:\*\n\n?", re.MULTILINE)
INLINE = re.compile(r":math:`([^`]*)`")


def converted(text):
    """The docstring with formulas between dollars; groups of parameters follow without a title."""

    def block(match):
        formula = textwrap.dedent(match[2]).strip()
        return textwrap.indent(f"$$\n{formula}\n$$\n\n", match[1])

    return INLINE.sub(r"$\1$", BLOCK.sub(block, GROUP.sub("", text) + "\n"))


class Formulas(griffe.Extension):
    """Converts every docstring."""

    def on_instance(self, *, obj, **more):
        if obj.docstring:
            obj.docstring.value = converted(obj.docstring.value)
