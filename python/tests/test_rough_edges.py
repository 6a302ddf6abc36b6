"""What people type, what they get wrong, and where the messages about it point."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import ssdl
from conftest import CLASSES, small
from ssdl import errors, graphs
from ssdl.preparation import KEEP_FEATURES, Preparation, known_steps


@pytest.mark.parametrize("as_objects", [False, True])
def test_dates_without_a_value_have_no_label(as_objects, digits):
    days = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]")[digits["y"] % 2]
    few = days.copy()
    few[60:] = np.datetime64("NaT")
    few = pd.Series(few).astype(object) if as_objects else few
    model = ssdl.Nearest().fit(digits["X"], few)
    assert len(model.classes_) == 2
    assert np.mean(np.asarray(model.transduction_, dtype="datetime64[D]") == days) > 0.8
    assert ssdl._labels.is_missing(np.array([np.timedelta64("NaT"), None, pd.NaT], object)).all()


@pytest.mark.parametrize("gap", ["", "nan", "None", "NaN", "<NA>"])
def test_text_that_was_a_missing_value_is_a_class_with_a_warning(gap, digits):
    words = np.where(digits["y"] < 5, "low", "high").astype(object)
    words[60:] = gap
    with pytest.warns(errors.FitWarning, match="is taken for a class, as it is text"):
        model = ssdl.Nearest().fit(digits["X"], words)
    assert gap in model.classes_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = ssdl.Nearest(unlabeled=gap).fit(digits["X"], words)
    assert gap not in named.classes_


def test_what_people_type_is_understood(digits, same_bits):
    def prepared(prepare):
        return small(ssdl.USSDL, prepare=prepare).fit(digits["X"], digits["few"]).components_

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same_bits(prepared(None), prepared(()))
        same_bits(prepared("standardize"), prepared("standardise"))
        same_bits(prepared(["standardize", "scale=5"]), prepared(["standardise", "scale=5"]))
        wide, plain = (
            small(ssdl.SSDLGA, graph="heat", width=width).fit(digits["X"], digits["few"]).codes_
            for width in ("auto", "1x")
        )
    same_bits(wide, plain)
    assert (graphs.heat_graph(digits["X"], width="auto") != graphs.heat_graph(digits["X"])).nnz == 0
    assert Preparation(None).fit_transform(digits["X"]).shape == (300, 64)


def test_steps_that_keep_features_keep_their_names(digits):
    frame = pd.DataFrame(digits["X"], columns=[f"pixel{number}" for number in range(64)])
    kept = Preparation(["standardize", "scale=5"]).set_output(transform="pandas")
    assert list(kept.fit_transform(frame).columns) == list(frame.columns)
    other = Preparation(["pca=5"]).set_output(transform="pandas").fit_transform(frame)
    assert list(other.columns) == [f"preparation{number}" for number in range(5)]
    line = make_pipeline(Preparation("unskew"), Preparation("scale=5")).fit(frame)
    assert list(line.get_feature_names_out()) == list(frame.columns)
    assert KEEP_FEATURES <= {usage.partition("=")[0].partition("[")[0] for usage in known_steps()}


def test_the_two_meanings_of_graph_are_told_apart(digits):
    own = sparse.csr_array(np.eye(300))
    with pytest.raises(errors.GraphError, match=r"pass a graph of your own to fit"):
        ssdl.SSDLGA(graph=own).fit(digits["X"], digits["few"])
    with pytest.raises(errors.GraphError, match="give it to the constructor"):
        ssdl.SSDLGA().fit(digits["X"], digits["few"], graph="heat")


def where(call, category):
    """The file and line to which the first such warning points."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    first = next(each for each in caught if issubclass(each.category, category))
    return first.filename, first.lineno


def test_warnings_point_at_the_caller(digits):
    X, few = digits["X"], digits["few"]
    one = np.where(few == 3, 3, -1)
    model = small(ssdl.USSDL, max_iter=1, tol=0)
    line = make_pipeline(Preparation("scale=5"), model)
    search = ssdl.model_selection.FewLabelSearch(model, {"sparsity": [0.3]}, cv=2)
    calls = [
        (lambda: model.fit(X, few), ConvergenceWarning),
        (lambda: model.partial_fit(X, few), ConvergenceWarning),
        (lambda: line.fit(X, few), ConvergenceWarning),
        (lambda: search.fit(X, few), ConvergenceWarning),
        (lambda: ssdl.Nearest().fit(X, one), errors.FitWarning),
        (lambda: ssdl.model_selection.labelled_accuracy([-1], [2]), Warning),
        (lambda: ssdl.DictionaryLearner(5, max_iter=1, tol=0).fit(X), ConvergenceWarning),
    ]
    for call, category in calls:
        assert where(call, category) == (__file__, call.__code__.co_firstlineno)


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_errors_name_the_class_that_was_called(each, digits):
    for call in ("fit", "predict", "query", "add_labels", "save"):
        with pytest.raises(TypeError, match=rf"^{each.__name__}\.{call}\(\)"):
            getattr(each(), call)(no_such_argument=1)
    with pytest.raises(TypeError, match=rf"^{each.__name__}\.fit\(\) missing 1"):
        each().fit(digits["X"])
    assert inspect.signature(each.fit) == inspect.signature(each.__mro__[1].fit)


def test_a_solver_inside_is_not_the_fit(digits):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ssdl.SelfTraining().fit(digits["X"], digits["few"])
    about = [str(each.message) for each in caught if "SVM" in str(each.message)]
    assert len(about) == len(set(about)) <= 1
    assert all(line.startswith("inside the fit") for line in about)
    assert model.converged_ == (model.termination_condition_ == "converged")
    with pytest.warns(ConvergenceWarning, match=r"^inside the fit, the SVM .* 2 times$"):
        ssdl._request.warn_of(["the SVM stopped before it converged"] * 2)
