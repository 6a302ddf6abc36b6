"""What `help` shows first: the few parameters that matter; what is common is said once."""

import inspect
import re

import pytest

import ssdl
from conftest import CLASSES
from ssdl import model_selection

SOLVER = {"max_iter", "tol", "coder", "coder_steps", "coder_tolerance", "dictionary_update"}


def sections(each):
    """The sections of a docstring by title."""
    parts = re.split(r"\n    (\w[\w ]*)\n    -{3,}\n", each.__doc__)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def names(text):
    return re.findall(r"^    (\w+) : ", text, re.MULTILINE)


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_the_parameters_that_matter_come_first(each):
    found = sections(each)
    first, rest = names(found["Parameters"]), names(found["Other Parameters"])
    assert 1 <= len(first) <= 4
    assert not SOLVER & set(first)
    assert sorted(first + rest) == sorted(inspect.signature(each).parameters)
    solver = found["Other Parameters"].partition("*About the solver:*")[2].partition("*About")[0]
    assert set(names(solver)) >= SOLVER & set(rest)


def test_the_four_of_the_main_method():
    wanted = ["n_atoms", "sparsity", "manifold", "discrimination"]
    assert names(sections(ssdl.SSDLGA)["Parameters"]) == wanted


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_other_classes_are_named_and_exist(each):
    text = sections(each)["See Also"]
    also = re.findall(r"^    ([\w.]+) : ", text, re.MULTILINE)
    assert len(also) >= 2
    assert each.__name__ not in also
    for name in also:
        place, _, last = name.rpartition(".")
        assert hasattr(model_selection if place else ssdl, last), name


def test_what_is_common_is_said_once():
    common = sections(ssdl.FewLabelClassifier)["Attributes"]
    for name in ("n_iter_", "objective_", "trace_", "converged_", "termination_condition_"):
        assert f"    {name} : " in common
        for each in CLASSES:
            assert f"    {name} : " not in each.__doc__
            assert inspect.getdoc(getattr(each, name))
    for each in CLASSES:
        assert "histograms of gradients" not in each.__doc__
