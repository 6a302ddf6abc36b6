"""scikit-learn's own checks of an estimator, on every class, with no exceptions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from conftest import CLASSES, TRANSFORMERS


# The checks fit a few points, where limits and notices are expected.
@pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([each() for each in [*CLASSES, *TRANSFORMERS]])
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)
