"""Other tools: skops, frames as output, arrays of other libraries, progress, pages in notebooks."""

import doctest
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ssdl
from conftest import CLASSES, TRANSFORMERS, WITH_ATOMS, small
from ssdl import labelling, progress
from ssdl.model_selection import FewLabelSearch, cross_val_hidden
from ssdl.wrappers import HiddenCalibration, SelfTrainingAround, SoftVoting

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

OLD = np.lib.NumpyVersion(np.__version__) < "2.0.0"


# ---- skops ---------------------------------------------------------------------------------------


def through_skops(model):
    from skops import io

    data = io.dumps(model)
    asked = io.get_untrusted_types(data=data)
    return io.loads(data, trusted=asked), asked


@pytest.mark.skipif(OLD, reason="skops is installed with the newest versions")
@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_skops_keeps_every_classifier(each, digits, same_bits):
    model = small(each, calibrate=False).fit(digits["X"], digits["few"])
    again, asked = through_skops(model)
    same_bits(again.predict_proba(digits["new"]), model.predict_proba(digits["new"]))
    assert again.get_params() == model.get_params()
    # There is nothing to trust but the class: a model is bytes and arrays.
    assert asked == [f"ssdl._methods.{each.__name__}"]


@pytest.mark.skipif(OLD, reason="skops is installed with the newest versions")
def test_skops_keeps_transformers_weights_pipelines_and_searches(digits, same_bits):
    for each in TRANSFORMERS:
        model = small(each).fit(digits["X"])
        again, _ = through_skops(model)
        same_bits(again.transform(digits["new"]), model.transform(digits["new"]))
    weights = np.ones(300)
    weights[100:120] = 0
    model = ssdl.Ridge().fit(digits["X"], digits["few"], sample_weight=weights)
    again, _ = through_skops(model)
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    line = make_pipeline(ssdl.Preparation("standardise"), ssdl.Nearest())
    search = FewLabelSearch(line, {"nearest__n_neighbors": [1, 3]}, cv=2)
    search.fit(digits["X"], digits["few"])
    again, _ = through_skops(search)
    same_bits(again.predict_proba(digits["new"]), search.predict_proba(digits["new"]))


# ---- Frames and arrays ---------------------------------------------------------------------------


@pytest.mark.parametrize("each", [*WITH_ATOMS, *TRANSFORMERS], ids=lambda each: each.__name__)
def test_output_is_a_frame_on_request(each, digits):
    frame = pd.DataFrame(digits["X"], columns=[f"pixel{number}" for number in range(64)])
    model = small(each).set_output(transform="pandas")
    found = model.fit(frame, digits["few"]).transform(frame)
    assert isinstance(found, pd.DataFrame)
    assert list(found.columns) == list(model.get_feature_names_out())
    plain = clone(model).set_output(transform="default").fit(frame, digits["few"])
    np.testing.assert_array_equal(plain.transform(frame), found.to_numpy())


def found_at_every_entry(digits, folder):
    """What the main entry points return, as arrays."""
    X, few, new = digits["X"], digits["few"], digits["new"]
    model = small(ssdl.SSDLGA).fit(X, few)
    yield model.predict_proba(new)
    codes = model.transform(new)
    yield codes
    yield model.inverse_transform(codes)
    yield model.query(5)
    yield [each.probabilities for each in model.explain(new[:3])]
    model.report(folder / "page.html")
    yield model.add_labels([100], [3]).predict_proba(new)
    yield labelling.ask_in_turn(model, lambda rows: digits["y"][rows], 2)
    yield labelling.first_to_label(X, 5)
    yield labelling.first_to_label(pd.DataFrame(X), 5, prepare=("scale=5", "pca=5"))
    line = make_pipeline(ssdl.Preparation("pca=20"), StandardScaler(), ssdl.Ridge())
    yield labelling.query(line.fit(X, few), 5)
    yield labelling.query(line, 5, new)
    yield cross_val_hidden(line, X, few, cv=2)
    yield FewLabelSearch(line, {"ridge__calibrate": [False]}, cv=2).fit(X, few).predict_proba(new)
    yield HiddenCalibration(line, cv=2).fit(X, few).predict_proba(new)
    yield SoftVoting([("line", line)]).fit(X, few).predict_proba(new)
    yield SelfTrainingAround(line).fit(X, few).predict_proba(new)
    learner = small(ssdl.DictionaryLearner).fit(X)
    yield learner.inverse_transform(learner.transform(new))
    yield ssdl.SparseCoder(learner.components_, sparsity=20.0).fit_transform(new)


def test_frames_as_output_of_all_transformers_change_nothing_else(digits, tmp_path):
    wanted = [np.asarray(each) for each in found_at_every_entry(digits, tmp_path)]
    with config_context(transform_output="pandas"):
        found = list(found_at_every_entry(digits, tmp_path))
    assert isinstance(found[1], pd.DataFrame)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(one), other)


class OnlyDlpack:
    """An array of another library that offers nothing but the exchange of the array API."""

    def __init__(self, values):
        self._values = values
        self.shape, self.dtype = values.shape, values.dtype

    def __dlpack__(self, **how):
        return self._values.__dlpack__()

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_arrays_of_the_array_api_are_taken(kind, digits, same_bits):
    X, few = digits["X"].astype(kind), digits["few"].copy()
    new = digits["new"].astype(kind)
    ours = small(ssdl.SSDLGA).fit(X, few)
    theirs = small(ssdl.SSDLGA).fit(OnlyDlpack(X), OnlyDlpack(few))
    same_bits(theirs.predict_proba(OnlyDlpack(new)), ours.predict_proba(new))
    same_bits(theirs.transform(OnlyDlpack(new)), ours.transform(new))
    assert theirs.score(OnlyDlpack(new), OnlyDlpack(digits["truth"].copy())) > 0.6


# ---- Progress ------------------------------------------------------------------------------------


def test_a_function_follows_every_step(digits):
    seen = []
    with progress.watching(seen.append):
        model = small(ssdl.SSDLGA).fit(digits["X"], digits["few"])
    assert {each.estimator for each in seen} == {"SSDLGA"}
    assert max(each.iteration for each in seen) == model.n_iter_
    assert {each.limit for each in seen} == {5}
    assert seen[-1].objective == pytest.approx(model.objective_["total"])
    assert {"codes", "dictionary"} <= {each.step for each in seen}
    count = len(seen)
    small(ssdl.SSDLGA).fit(digits["X"], digits["few"])
    assert len(seen) == count


def test_an_exception_stops_the_fit_and_leaves_the_model(digits):
    def stop(each):
        if each.iteration >= 2:
            raise TimeoutError("enough")

    model = small(ssdl.SSDLGA).fit(digits["X"], digits["few"])
    before = model.codes_
    with progress.watching(stop), pytest.raises(TimeoutError, match="enough"):
        model.set_params(max_iter=50, tol=0).fit(digits["X"], digits["few"])
    np.testing.assert_array_equal(model.codes_, before)


def test_fits_inside_pipelines_searches_and_learners_are_followed(digits):
    seen = []
    line = make_pipeline(ssdl.Preparation("scale=5"), small(ssdl.USSDL))
    search = FewLabelSearch(line, {"ussdl__sparsity": [0.3]}, cv=2)
    with progress.watching(seen.append):
        search.fit(digits["X"], digits["few"])
        ssdl.DictionaryLearner(5, max_iter=3, tol=0).fit(digits["X"])
    assert {each.estimator for each in seen} == {"USSDL", "DictionaryLearner"}


@pytest.mark.parametrize("has_tqdm", [False, True])
def test_a_bar_shows_every_fit(has_tqdm, digits, capsys, monkeypatch):
    shown = []

    class Tqdm:
        def __init__(self, total, desc, **more):
            shown.append([desc, total, 0])

        def update(self, more):
            shown[-1][2] += more

        def set_postfix_str(self, words):
            assert words.startswith("objective")

        def close(self):
            shown[-1].append("closed")

    module = type(sys)("tqdm.auto")
    module.tqdm = Tqdm
    monkeypatch.setitem(sys.modules, "tqdm.auto", module if has_tqdm else None)
    with progress.bar():
        first = small(ssdl.SSDLGA).fit(digits["X"], digits["few"])
        small(ssdl.USSDL).fit(digits["X"], digits["few"])
    printed = capsys.readouterr().err
    if has_tqdm:
        assert [each[0] for each in shown] == ["SSDLGA", "USSDL"]
        assert shown[0][1:] == [5, first.n_iter_, "closed"]
        assert printed == ""
    else:
        assert f"SSDLGA: {first.n_iter_} of at most 5 iterations, objective" in printed
        assert printed.endswith("\n")


def test_the_example_runs():
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(progress.watching, "watching", globs={}):
        runner.run(test)
    assert runner.tries > 3
    assert runner.failures == 0


# ---- Notebooks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_the_page_of_an_estimator_links_to_its_paper(each):
    listed = {method["class"]: method["link"] for method in ssdl._ssdl.methods()}
    assert f'href="{listed[each.__name__]}"' in each()._repr_html_()
