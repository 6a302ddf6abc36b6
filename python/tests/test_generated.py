"""The classes are those that the register describes now, and their examples run."""

import doctest
import importlib.util
import inspect
from pathlib import Path

import pytest

import ssdl
from conftest import CLASSES, TRANSFORMERS
from ssdl._request import as_value

GENERATOR = Path(__file__).parents[1] / "generate.py"


def test_the_classes_are_up_to_date():
    spec = importlib.util.spec_from_file_location("generate", GENERATOR)
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    installed = Path(inspect.getfile(ssdl._methods)).read_text(encoding="utf-8")
    assert installed == generator.generate(), "run python/generate.py and install again"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning")
@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_the_example_of_every_class_runs(each):
    runner = doctest.DocTestRunner()
    found = doctest.DocTestFinder(recurse=False).find(each, each.__name__)
    for test in found:
        runner.run(test)
    assert runner.tries > 5
    assert runner.failures == 0


def test_every_parameter_and_attribute_is_explained():
    for each in CLASSES:
        for name in inspect.signature(each).parameters:
            assert f"\n    {name} : " in each.__doc__, f"{each.__name__}.{name}"
        for name, member in inspect.getmembers(each):
            if not name.startswith("_") and callable(member) and "ssdl" in member.__module__:
                assert member.__doc__, f"{each.__name__}.{name}"


def test_the_package_says_what_is_in_it():
    for name in ssdl.__all__:
        assert getattr(ssdl, name) is not None
    assert set(ssdl.__all__) >= {each.__name__ for each in [*CLASSES, *TRANSFORMERS]}


def test_the_dictionary_learner_has_the_defaults_of_the_library():
    knobs = {knob["name"]: knob["default"] for knob in ssdl._ssdl.learner_knobs()}
    parameters = ssdl.DictionaryLearner().get_params()
    assert set(ssdl.DictionaryLearner._knobs.values()) == set(knobs)
    for name, knob in ssdl.DictionaryLearner._knobs.items():
        if parameters[name] is None:
            continue
        assert as_value(knobs[knob], type(parameters[name])) == parameters[name]
