"""Write python/ssdl/_methods.py: one class per method of the register.

Usage: python python/generate.py [--check]

Names, defaults, ranges and descriptions come from the installed extension, so they cannot differ
from the library's. With --check nothing is written; the exit code says whether the file is current.
"""

import importlib.machinery
import importlib.util
import sys
import textwrap
from pathlib import Path

TARGET = Path(__file__).parent / "ssdl" / "_methods.py"

# Names that scikit-learn uses in all its estimators.
SPELLINGS = {"max_iterations": "max_iter", "tolerance": "tol", "n_nonzero": "n_nonzero_coefs"}
TYPES = {
    "whole_from": "int",
    "auto_or_from": 'int or "auto"',
    "auto_or_number": 'float or "auto"',
    "auto_or_above": 'float or "auto"',
    "from": "float",
    "within": "float",
    "word_or_several": "str, or array-like of float",
    "above": "float",
    "between": "float",
    "several_above": "array-like of float, or float",
    "switch": "bool",
    "text": "str",
}

# The same as annotations. What is not here is made of the words of the knob.
ANNOTATIONS = {
    "whole_from": "int",
    "auto_or_from": 'int | Literal["auto"]',
    "auto_or_number": 'float | Literal["auto"]',
    "auto_or_above": 'float | Literal["auto"]',
    "from": "float",
    "within": "float",
    "above": "float",
    "between": "float",
    "several_above": "Numbers | float",
    "switch": "bool",
    "text": "str",
}
COMMON_ANNOTATIONS = {
    "sparse_output": "bool",
    "prepare": "Steps",
    "image_shape": "ImageShape",
    "class_weight": "ClassWeight",
    "unlabeled": "object",
    "calibrate": "bool",
    "memory_limit": "int | None",
    "scratch": "PathLike | None",
    "device": "Device",
    "random_state": "Seed",
    "n_jobs": "int | None",
    "verbose": "int",
}

HEAD = '''"""The methods as classes, generated from the register by python/generate.py."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

from sklearn.utils._param_validation import Interval, StrOptions

from ._atoms import DictionaryClassifier
from ._base import COMMON_CONSTRAINTS, FewLabelClassifier, TakesGraph

if TYPE_CHECKING:
    from ._types import ClassWeight, Device, ImageShape, Numbers, PathLike, Seed, Steps

__all__ = [
{names}
]
'''

CLASS = '''

class {name}({base}):{remark}
    r"""{doc}
    """

    _method = "{method}"
    _doc_link_template = {link}
    _knobs = {{
{knobs}
    }}
    _parameter_constraints = {{
{constraints}
        **COMMON_CONSTRAINTS,
    }}

    def __init__(
        self,
        *,
{signature}
    ) -> None:
{body}
'''

# Four of these, in this order, are what users change first.
FIRST = (
    "n_atoms",
    "atoms_per_class",
    "parts",
    "base",
    "kernel",
    "sparsity",
    "n_nonzero",
    "threshold",
    "manifold",
    "discrimination",
    "consistency",
    "spreading",
    "box_constraints",
    "ridge",
    "n_neighbors",
    "width",
)
# The rest by what it is about; a knob in no group belongs to the method.
GROUPS = {
    "the graph": (
        *("halve_new", "denoise", "kept_samples", "graph", "n_neighbors", "neighbours", "width"),
        *("percentile", "smoothness", "self_sparsity", "normalise_trace", "spread_graph"),
        "graph_share",
    ),
    "the method": (),
    "samples and labels": ("prepare", "image_shape", "class_weight", "unlabeled", "calibrate"),
    "the solver": (
        *("max_iterations", "tolerance", "coder", "coder_steps", "coder_tolerance", "batch_size"),
        *("dictionary_update", "revive", "active_points", "atom_norm", "max_epochs", "max_rounds"),
        *("start_iterations", "exact", "scale_updates", "folds"),
    ),
    "the run": (
        *(
            "sparse_output",
            "memory_limit",
            "scratch",
            "device",
            "random_state",
            "n_jobs",
            "verbose",
        ),
    ),
}
# Classes that are compared with each other.
FAMILIES = (
    ("SSDLGA", "AutoSSDL", "USSDL", "GraphSC"),
    ("S2D2", "SSDLP", "SSRD", "SSPDL", "PSSDL"),
    ("SRC", "SRCByClass"),
    ("JDL", "OSSDL", "LCRLSDLA", "LCKSVD", "SupGraphDL", "KSVD"),
    ("LinearSVM", "Ridge", "Nearest", "LabelSpreading", "SelfTraining"),
)
ALSO = (
    ("LabelSpreading", "Quick; always worth comparing."),
    ("model_selection.FewLabelSearch", "Chooses parameters by labels that are hidden in turn."),
)
NOTES = (
    "What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the "
    "other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps."
)

ATTRIBUTES = [
    ("classes_", "ndarray of shape (n_classes,)", "The classes, sorted, in the type of `y`."),
    (
        "transduction_",
        "ndarray of shape (n_samples,)",
        "Predictions of the fit for the training samples.",
    ),
    (
        "label_distributions_",
        "ndarray of shape (n_samples, n_classes)",
        "Class probabilities of each training sample.",
    ),
]
ATOM_ATTRIBUTES = [
    (
        "components_",
        "ndarray of shape (n_atoms, n_prepared_features)",
        "Atoms, in the space of prepared samples.",
    ),
    ("codes_", "ndarray of shape (n_samples, n_atoms)", "Codes of the training samples."),
    ("n_revived_", "int", "Number of unused atoms that were replaced during the fit."),
]
LINEAR_ATTRIBUTES = [
    (
        "coef_",
        "ndarray of shape (n_classes, n_atoms or n_prepared_features)",
        "Weights of the linear classifier; missing if training samples vote or residuals decide.",
    ),
    ("intercept_", "ndarray of shape (n_classes,)", "Bias of the linear classifier."),
]

EXAMPLE = """\
>>> from sklearn.datasets import load_digits
>>> from ssdl import {name}
>>> X, y = load_digits(return_X_y=True)
>>> few = y[:600].copy()
>>> few[100:] = -1
>>> model = {name}({arguments}).fit(X[:600], few)
>>> bool(model.score(X[600:], y[600:]) > 0.7)
True"""


def extension():
    """The Rust module alone, as the package around it may be out of date."""
    # The script's own folder comes first in the path, but the package there is not compiled.
    for folder in map(Path, sys.path):
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            for path in (folder / "ssdl").glob(f"_ssdl*{suffix}"):
                spec = importlib.util.spec_from_file_location("_ssdl", path)
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
    raise SystemExit("no compiled ssdl is installed: install the package first")


def parameter(knob):
    return SPELLINGS.get(knob["name"], knob["name"])


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def default(knob):
    """The default as a Python value."""
    text, kind = knob["default"], knob["kind"]
    if kind == "switch":
        return text == "true"
    if kind == "whole_from":
        return int(text)
    if kind == "several_above":
        return tuple(float(part) for part in text.split(","))
    return float(text) if kind != "one_of" and is_number(text) else text


def type_words(knob):
    if knob["kind"] == "one_of":
        return "{" + ", ".join(f'"{word}"' for word in knob["words"]) + "}"
    words = TYPES[knob["kind"]]
    return f"{words} or str" if words == "float" and isinstance(default(knob), str) else words


def annotation(knob):
    words = ", ".join(f'"{word}"' for word in knob.get("words", ()))
    if knob["kind"] == "one_of":
        return f"Literal[{words}]"
    if knob["kind"] == "word_or_several":
        return f"Literal[{words}] | Numbers"
    found = ANNOTATIONS[knob["kind"]]
    return f"{found} | str" if found == "float" and isinstance(default(knob), str) else found


def constraint(knob):
    low, high = knob.get("low"), knob.get("high")
    match knob["kind"]:
        case "whole_from":
            return [f'Interval(Integral, {low}, None, closed="left")']
        case "auto_or_from":
            return ['StrOptions({"auto"})', f'Interval(Integral, {low}, None, closed="left")']
        case "auto_or_number":
            return ['StrOptions({"auto"})', f'Interval(Real, {low}, None, closed="left")']
        case "auto_or_above":
            return ['StrOptions({"auto"})', f'Interval(Real, {low}, None, closed="neither")']
        case "within":
            return [f'Interval(Real, {low}, {high}, closed="both")']
        case "word_or_several":
            words = ", ".join(f'"{word}"' for word in knob["words"])
            return [f"StrOptions({{{words}}})", '"array-like"']
        case "from":
            return [f'Interval(Real, {low}, None, closed="left")']
        case "between":
            return [f'Interval(Real, {low}, {high}, closed="neither")']
        case "above":
            more = ["str"] if isinstance(default(knob), str) else []
            return [f'Interval(Real, {low}, None, closed="neither")', *more]
        case "several_above":
            return ['"array-like"', f'Interval(Real, {low}, None, closed="neither")']
        case "switch":
            return ['"boolean"']
        case "one_of":
            return ["StrOptions({" + ", ".join(f'"{word}"' for word in knob["words"]) + "})"]
    return ["str"]


SPARSE_OUTPUT = (
    "sparse_output",
    False,
    "bool",
    "Whether ``transform`` returns codes as a CSR array.",
)


def common_parameters(module):
    """Parameters of every fit: name, default, type, description."""
    prepare = tuple(module.default_preparation())
    return [
        (
            "prepare",
            prepare,
            "sequence of str, str or None",
            "Preparation (preprocessing) steps, fitted on the training samples, kept in the model "
            "and applied to every sample, as `ssdl.preparation.known_steps` lists them; None or "
            "empty for none.",
        ),
        (
            "image_shape",
            None,
            "(int, int) or None",
            "Height and width, if samples are images (pixels row by row).",
        ),
        (
            "class_weight",
            None,
            'dict, "balanced" or None',
            "How much the labels of each class count: a number above 0 by class, or all classes "
            "the same however many labels each has. Only ratios matter.",
        ),
        (
            "unlabeled",
            None,
            "object",
            "Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless "
            "there is only one other class: then -1 is a class.",
        ),
        (
            "calibrate",
            True,
            "bool",
            "Whether probabilities are calibrated, by three more fits with labels hidden in turn "
            "on at most 3,000 samples; predicted classes do not depend on it.",
        ),
        ("memory_limit", None, "int or None", "Maximum number of bytes that the fit may use."),
        (
            "scratch",
            None,
            "str, path-like or None",
            "Folder for a file of the prepared samples: once the graph is built they are read from "
            "there, a block at a time, and take no memory. Only few methods can; others say so.",
        ),
        (
            "device",
            "cpu",
            "{'cpu', 'gpu', 'auto'}",
            "Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with "
            "it; 'auto' is the card if there is one.",
        ),
        (
            "random_state",
            0,
            "int, RandomState instance or None",
            "Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.",
        ),
        (
            "n_jobs",
            None,
            "int or None",
            "Number of threads; None means 1 unless joblib says otherwise, -1 all.",
        ),
        ("verbose", 0, "int", "1 prints a line for every iteration, 2 for every step."),
    ]


def wrapped(text, indent):
    lines = []
    for part in text.splitlines():
        lines += textwrap.wrap(
            part, 97, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        ) or [""]
    return lines


def entry(name, words, sentences):
    return [*wrapped(f"{name} : {words}", "    "), *wrapped(sentences, "        ")]


def section(title, lines):
    return ["", f"    {title}", "    " + "-" * len(title), *lines]


def knob_sentences(knob):
    allowed = "" if knob["kind"] in ("switch", "one_of") else f" Allowed: {knob['allowed']}."
    letter = f" Letter: {knob['symbol']}." if knob["symbol"] else ""
    return f"{knob['sentence'].rstrip('.')}.{letter}{allowed}"


def grouped(entries):
    """Entries by group, first what users change first; each is (knob or name, lines)."""
    found = {"": []}
    order = [name for name in FIRST if name in entries][:4]
    found[""] = order + [name for name in entries if name not in order and not group_of(name)]
    spare = found[""][4:]
    found[""] = found[""][:4]
    for group in GROUPS:
        own = [name for name in entries if group_of(name) == group and name not in found[""]]
        found[group] = own + (spare if group == "the method" else [])
    return {group: names for group, names in found.items() if names}


def group_of(name):
    """The group of a knob; none for the knobs of the method itself."""
    return next((group for group, names in GROUPS.items() if name in names), "")


def parameter_sections(method, common):
    """Parameters in two sections of numpydoc, the second in groups."""
    entries = {}
    for knob in method["knobs"]:
        words = f"{type_words(knob)}, default={default(knob)!r}"
        entries[knob["name"]] = entry(parameter(knob), words, knob_sentences(knob))
    for name, value, words, sentences in common:
        entries[name] = entry(name, f"{words}, default={value!r}", sentences)
    by_group = grouped(entries)
    lines = section("Parameters", [line for name in by_group.pop("") for line in entries[name]])
    rest = []
    for group, names in by_group.items():
        rest += ["", f"    *About {group}:*", ""]
        rest += [line for name in names for line in entries[name]]
    return lines + section("Other Parameters", rest[1:])


def see_also(name, methods):
    """Other classes of the family, and what everybody should know of."""
    titles = {method["class"]: method["title"] for method in methods}
    family = next((each for each in FAMILIES if name in each), ())
    also = [(each, f"{titles[each]}.") for each in family if each != name and each in titles]
    also += [pair for pair in ALSO if pair[0] != name and pair[0] not in dict(also)]
    lines = []
    for each, sentence in also:
        first, *rest = wrapped(f"{each} : {sentence}", "    ")
        lines += [first, *(f"    {line}" for line in rest)]
    return section("See Also", lines)


def docstring(method, name, common, methods):
    has_atoms = method["coding"] != "none"
    lines = [f"{method['title']}.", "", *wrapped(method["summary"], "    "), ""]
    lines += ["    .. math::", ""]
    lines += [f"        {line.strip()}" for line in method["objective"].splitlines()]
    lines += parameter_sections(method, common)
    attributes = ATTRIBUTES + (ATOM_ATTRIBUTES if has_atoms else []) + LINEAR_ATTRIBUTES
    lines += section("Attributes", [line for each in attributes for line in entry(*each)])
    lines += see_also(name, methods)
    lines += section("Notes", wrapped(NOTES, "    "))
    lines += section("References", [f"    {method['reference']}: {method['link']}"])
    chooses_atoms = any(knob["name"] == "n_atoms" for knob in method["knobs"])
    example = EXAMPLE.format(name=name, arguments="n_atoms=100" if chooses_atoms else "")
    lines += section("Examples", [f"    {line}" for line in example.splitlines()])
    return "\n".join(line.rstrip() for line in lines)


def written(method, common, methods):
    name = method["class"]
    knobs = method["knobs"]
    has_atoms = method["coding"] != "none"
    common = ([SPARSE_OUTPUT] if has_atoms else []) + common
    base = "DictionaryClassifier" if has_atoms else "FewLabelClassifier"
    values = [(parameter(knob), annotation(knob), default(knob)) for knob in knobs]
    values += [(each[0], COMMON_ANNOTATIONS[each[0]], each[1]) for each in common]
    text = CLASS.format(
        name=name,
        base=f"TakesGraph, {base}" if method["uses_graph"] else base,
        # The graph is the third argument of such a fit, the weights are the third of others.
        remark="  # type: ignore[misc]" if method["uses_graph"] else "",
        doc=docstring(method, name, common, methods),
        method=method["name"],
        link=link_literal(method["link"]),
        knobs="\n".join(f'        "{parameter(knob)}": "{knob["name"]}",' for knob in knobs),
        constraints="\n".join(
            [
                *(
                    f'        "{parameter(knob)}": [{", ".join(constraint(knob))}],'
                    for knob in knobs
                ),
                *(['        "sparse_output": ["boolean"],'] if has_atoms else []),
            ]
        ),
        signature="\n".join(
            f"        {key}: {kind} = {quoted(value)}," for key, kind, value in values
        ),
        body="\n".join(f"        self.{key} = {key}" for key, _, _ in values),
    )
    return text.rstrip() + "\n"


def link_literal(link):
    """An address as a literal, in brackets where the line would be too long."""
    line = f'    _doc_link_template = "{link}"'
    return f'"{link}"' if len(line) <= 100 else f'(\n        "{link}"\n    )'


def quoted(value):
    """A literal with double quotes, as in the rest of the package."""
    return repr(value).replace("'", '"')


def generate():
    """The text of the file."""
    module = extension()
    methods, common = module.methods(), common_parameters(module)
    names = "\n".join(f'    "{method["class"]}",' for method in methods)
    classes = (written(method, common, methods) for method in methods)
    return HEAD.format(names=names) + "".join(classes)


def main():
    text = generate()
    if "--check" in sys.argv[1:]:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{TARGET} is out of date: run python/generate.py")
        return
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
