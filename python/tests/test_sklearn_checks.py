"""scikit-learn's own checks of an estimator, on every class.

The exceptions: weights in methods that cannot use them, which the fit says; points in a plane for
methods that need room, since the atoms of any one class span it; and a sample of weight two is not
the same as two samples. Weights are relative, so that labels count as much against the other terms
of an objective as they would without weights; and in a dictionary, a graph or a fold a sample that
is there twice is more than a label that counts twice.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import ssdl
from conftest import BY_RESIDUALS, CLASSES, TRANSFORMERS

# The nearest votes are of one class, whatever it weighs; the others have no place for weights.
WEIGHTLESS = (
    ssdl.JDL,
    ssdl.KSVD,
    ssdl.LCKSVD,
    ssdl.LCRLSDLA,
    ssdl.Nearest,
    ssdl.OSSDL,
    ssdl.PSSDL,
    ssdl.SupGraphDL,
    *BY_RESIDUALS,
)
NEED_ROOM = (ssdl.LCKSVD, ssdl.S2D2, ssdl.SRC, ssdl.SSDLP, ssdl.SSPDL, ssdl.SSRD)


def not_repeated(estimator):
    """The checks that take a weight for a number of copies."""
    reason = "weights are relative: a sample of weight two is not two samples"
    names = (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    )
    if not isinstance(estimator, tuple(CLASSES)):
        return {}
    found = dict.fromkeys(names, reason)
    if isinstance(estimator, WEIGHTLESS):
        found["check_class_weight_classifiers"] = "weights are not used, or only among near votes"
    if isinstance(estimator, NEED_ROOM):
        found["check_classifiers_train"] = "two features: the atoms of any class make every sample"
    return found


# The checks fit a few points, where limits and notices are expected.
@pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [each() for each in [*CLASSES, *TRANSFORMERS]], expected_failed_checks=not_repeated
)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)
