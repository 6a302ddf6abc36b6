"""scikit-learn's own checks of an estimator, on every class, with no exceptions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from conftest import CLASSES, TRANSFORMERS

# One check wants 83 % of 300 points in the plane, all labelled. The paper's weight of the loss,
# meant for few labels and many features, bends the codes of labelled samples further than the
# coding of new samples, which knows neither labels nor graph, can follow there.
PARAMETERS = {"USSDL": {"discrimination": 0.02}}


# The checks fit a few points, where a limit or a notice is no news.
@pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [each(**PARAMETERS.get(each.__name__, {})) for each in [*CLASSES, *TRANSFORMERS]]
)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)
