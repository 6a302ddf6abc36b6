"""Formulas as MathML, which browsers show without scripts and without the network."""

import re
from html import unescape

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(div|span) class="arithmatex">\\[\[(](.*?)\\[\])]</\1>', re.DOTALL)
# Sizes of delimiters, which MathML chooses by itself.
SIZES = re.compile(r"\\[bB]igg?[lr]?(?![a-zA-Z])")


def on_page_content(html, **more):
    """Replace every formula of a page; called by mkdocs."""

    def shown(match):
        formula = SIZES.sub("", unescape(match[2]))
        if match[1] == "span":
            return convert(formula)
        return f'<div class="formula">{convert(formula, display="block")}</div>'

    return FORMULA.sub(shown, html)
