"""Data that the tests share: real digits with a few labels, small enough for every method."""

import os
import re

# Some of scikit-learn's checks are skipped without it; SciPy reads it when it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Workers of Dask that are forked from one process have its modules already.
if os.name == "posix":
    os.environ.setdefault("DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD", "forkserver")

import numpy as np
import pytest
from sklearn.datasets import load_digits

import ssdl
from ssdl import _methods

# Tests of what is the same with every version of other packages: pages, program, oracle, memory.
OWN = (
    "test_docs.py",
    "test_generated.py",
    "test_guarded.py",
    "test_memory.py",
    "test_oracle.py",
    "test_program.py",
    "test_release.py",
    "test_site.py",
    "test_tools.py",
    "test_types.py",
)

CLASSES = [getattr(ssdl, name) for name in _methods.__all__]
TRANSFORMERS = [ssdl.SparseCoder, ssdl.DictionaryLearner, ssdl.Preparation]
WITH_ATOMS = [each for each in CLASSES if hasattr(each, "transform")]
# The class whose atoms leave least of a sample is its class.
BY_RESIDUALS = (ssdl.S2D2, ssdl.SRC, ssdl.SRCByClass, ssdl.SSDLP, ssdl.SSPDL, ssdl.SSRD)


def small(each, max_iter=5, tol=0.05, **parameters):
    """An estimator that fits the digits below in a fraction of a second."""
    if each in WITH_ATOMS or each in TRANSFORMERS:
        quick = {"n_atoms": 30, "atoms_per_class": 3, "max_iter": max_iter, "tol": tol}
        known = each().get_params()
        parameters = {name: quick[name] for name in quick if name in known} | parameters
    if each in TRANSFORMERS and "sparsity" in known:
        # They take samples as they are: pixels up to 16.
        parameters = {"sparsity": 20.0} | parameters
    return each(**parameters)


# The first class of each kind: the others have the same Python code and other knobs.
OF_EACH_KIND = {each.__bases__: each.__name__ for each in reversed(CLASSES)}.values()
THE_OTHERS = {each.__name__ for each in CLASSES} - set(OF_EACH_KIND)


def pytest_addoption(parser):
    words = (
        "leave out what is the same with every version of scikit-learn and NumPy, and most methods"
    )
    parser.addoption("--other-versions", action="store_true", help=words)


def pytest_ignore_collect(collection_path, config):
    if config.getoption("--other-versions") and collection_path.name in OWN:
        return True
    return None


def pytest_collection_modifyitems(config, items):
    if config.getoption("--other-versions"):
        is_left_out = {
            item: bool(THE_OTHERS & set(re.findall(r"\w+", item.name))) for item in items
        }
        config.hook.pytest_deselected(items=[item for item in items if is_left_out[item]])
        items[:] = [item for item in items if not is_left_out[item]]


@pytest.fixture(scope="session")
def digits():
    """300 training samples with their true labels, 60 of them known; 200 new samples."""
    X, y = load_digits(return_X_y=True)
    few = y[:300].copy()
    few[60:] = -1
    for array in (X, y, few):
        array.setflags(write=False)
    return {"X": X[:300], "y": y[:300], "few": few, "new": X[300:500], "truth": y[300:500]}


@pytest.fixture(params=CLASSES, ids=lambda each: each.__name__)
def estimator(request):
    return small(request.param)


@pytest.fixture(params=WITH_ATOMS, ids=lambda each: each.__name__)
def coder(request):
    return small(request.param)


@pytest.fixture
def same_bits():
    def check(left, right):
        left, right = np.asarray(left), np.asarray(right)
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert np.array_equal(left, right)

    return check
