"""scikit-learn's own checks of an estimator, on every class.

The only exception: a sample of weight two is not the same as two samples. Weights are relative, so that
labels count as much against the other terms of an objective as they would without weights; and in a
dictionary, a graph or a fold a sample that is there twice is more than a label that counts twice.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from conftest import CLASSES, TRANSFORMERS


def not_repeated(estimator):
    """The checks that take a weight for a number of copies."""
    reason = "weights are relative: a sample of weight two is not two samples"
    names = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    return dict.fromkeys(names, reason) if isinstance(estimator, tuple(CLASSES)) else {}


# The checks fit a few points, where limits and notices are expected.
@pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [each() for each in [*CLASSES, *TRANSFORMERS]], expected_failed_checks=not_repeated
)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)
