"""What every class learns and predicts, on real digits."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import ssdl
from conftest import BY_RESIDUALS, CLASSES, small

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

LEARNT = ["transduction_", "label_distributions_", "n_iter_", "objective_", "codes_", "coef_"]


def test_few_labels_are_enough_for_most_digits(estimator, digits):
    model = estimator.fit(digits["X"], digits["few"])
    assert model.score(digits["new"], digits["truth"]) > 0.6
    assert np.mean(model.transduction_ == digits["y"]) > 0.6


def test_predictions_scores_and_probabilities_agree(estimator, digits):
    model = estimator.fit(digits["X"], digits["few"])
    probabilities = model.predict_proba(digits["new"])
    scores = model.decision_function(digits["new"])
    assert probabilities.shape == scores.shape == (200, 10)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(
        model.classes_[scores.argmax(axis=1)], model.predict(digits["new"])
    )
    np.testing.assert_array_equal(model.classes_, np.arange(10))
    assert model.label_distributions_.shape == (300, 10)
    assert set(model.transduction_) <= set(range(10))


def test_the_objective_is_the_sum_of_its_terms(estimator, digits):
    model = estimator.fit(digits["X"], digits["few"])
    terms = model.objective_
    total = terms.pop("total")
    assert sum(terms.values()) == pytest.approx(total)
    assert model.n_iter_ >= 1
    assert model.termination_condition_ in {"converged", "limit of iterations"}


def test_atoms_codes_and_classifier_have_their_shapes(coder, digits):
    model = coder.fit(digits["X"], digits["few"])
    n_atoms = 60 if isinstance(model, (ssdl.SRC, ssdl.SRCByClass)) else 30
    assert model.components_.shape == (n_atoms, 64)
    assert model.codes_.shape == (300, n_atoms)
    assert np.linalg.norm(model.components_, axis=1).max() <= 1 + 1e-12
    if isinstance(model, BY_RESIDUALS):
        return
    assert model.coef_.shape == (10, n_atoms)
    assert model.intercept_.shape == (10,)
    scores = model.transform(digits["new"]) @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(scores, model.decision_function(digits["new"]), atol=1e-10)


def test_codes_reconstruct_the_prepared_samples(coder, digits):
    model = coder.fit(digits["X"], digits["few"])
    codes = model.transform(digits["new"])
    prepared = 5 * digits["new"] / np.linalg.norm(digits["new"], axis=1, keepdims=True)
    error = np.linalg.norm(model.inverse_transform(codes) - prepared, axis=1)
    # Where the atoms of each class make a sample alone, all together make it many times.
    assert error.mean() < 2.5 or isinstance(model, (ssdl.SSDLP, ssdl.SRCByClass))
    n_atoms = codes.shape[1]
    with pytest.raises(ssdl.errors.ShapeError, match=f"expected {n_atoms}, got {n_atoms - 1}"):
        model.inverse_transform(codes[:, 1:])


def test_the_linear_classifier_is_there_if_it_decides(estimator, digits):
    model = estimator.fit(digits["X"], digits["few"])
    by_votes = (ssdl.Nearest, ssdl.Forest, ssdl.LabelSpreading, ssdl.AutoSSDL)
    if isinstance(model, (*by_votes, *BY_RESIDUALS)):
        assert not hasattr(model, "coef_")
        assert not hasattr(model, "intercept_")
    else:
        assert len(model.coef_) == 10


def test_nothing_is_learnt_before_the_fit(estimator, digits):
    assert not any(hasattr(estimator, name) for name in LEARNT)
    with pytest.raises(NotFittedError):
        estimator.predict(digits["new"])
    with pytest.raises(NotFittedError):
        estimator.save("nowhere")


def test_the_number_of_threads_does_not_change_a_bit(estimator, digits, same_bits):
    one = estimator.fit(digits["X"], digits["few"])
    two = clone(estimator).set_params(n_jobs=2).fit(digits["X"], digits["few"])
    same_bits(one.predict_proba(digits["new"]), two.predict_proba(digits["new"]))
    same_bits(one.label_distributions_, two.label_distributions_)


def test_a_sample_alone_is_classified_as_among_others(estimator, digits, same_bits):
    model = estimator.fit(digits["X"], digits["few"])
    together = model.predict_proba(digits["new"])
    same_bits(model.predict_proba(digits["new"][7:8]), together[7:8])


def test_seeds_are_kept_drawn_or_given(digits, same_bits):
    def codes(seed):
        return small(ssdl.SSDLGA, random_state=seed).fit(digits["X"], digits["few"]).codes_

    same_bits(codes(3), codes(3))
    same_bits(codes(np.random.RandomState(3)), codes(np.random.RandomState(3)))
    assert not np.array_equal(codes(3), codes(4))
    assert codes(None).shape == (300, 30)


@pytest.mark.parametrize("prepare", [(), [], "standardise", ["pca=20", "scale=5"]])
def test_preparation_is_chosen(prepare, digits):
    model = small(ssdl.SSDLGA, prepare=prepare).fit(digits["X"], digits["few"])
    n_prepared = 20 if "pca=20" in prepare else 64
    assert model.components_.shape == (30, n_prepared)


def test_images_are_prepared_by_their_shape(digits):
    model = ssdl.LinearSVM(prepare=["deskew", "scale=5"], image_shape=(8, 8))
    assert model.fit(digits["X"], digits["few"]).score(digits["new"], digits["truth"]) > 0.6
    with pytest.raises(ValueError, match="image"):
        ssdl.LinearSVM(prepare="deskew").fit(digits["X"], digits["few"])


def test_progress_is_printed_if_asked_for(digits, capsys):
    small(ssdl.SSDLGA).fit(digits["X"], digits["few"])
    assert capsys.readouterr().out == ""
    small(ssdl.SSDLGA, verbose=1).fit(digits["X"], digits["few"])
    lines = capsys.readouterr().out.splitlines()
    assert any("iteration 1 of at most 5" in line for line in lines)
    small(ssdl.SSDLGA, verbose=2).fit(digits["X"], digits["few"])
    assert len(capsys.readouterr().out.splitlines()) > len(lines)


def test_a_fit_that_did_not_converge_warns(digits):
    with pytest.warns(ConvergenceWarning, match="limit of iterations"):
        small(ssdl.SSDLGA, max_iter=1, tol=0).fit(digits["X"], digits["few"])


def test_notices_of_the_library_become_warnings(digits):
    with pytest.warns(ssdl.errors.FitWarning, match="typical length"):
        small(ssdl.SSDLGA, prepare=()).fit(digits["X"], digits["few"])


def test_parameters_have_the_defaults_of_the_library():
    listed = {method["name"]: method for method in ssdl._ssdl.methods()}
    assert len(CLASSES) == len(listed)
    for each in CLASSES:
        knobs = {knob["name"]: knob["default"] for knob in listed[each._method]["knobs"]}
        assert list(each._knobs.values()) == list(knobs)
        for name, knob in each._knobs.items():
            value = each().get_params()[name]
            assert ssdl._request.as_value(knobs[knob], type(value)) == value


@pytest.mark.parametrize(("n_features", "n_classes", "expected"), [(5, 3, 30), (64, 2, 64)])
def test_the_number_of_atoms_follows_features_and_classes(
    n_features, n_classes, expected, tmp_path
):
    rng = np.random.default_rng(0)
    y = np.arange(90) % n_classes
    X = rng.normal(size=(90, n_features)) + 3 * y[:, None]
    for each in (ssdl.SSDLGA, ssdl.USSDL):
        model = each(max_iter=2, tol=1.0).fit(X, y)
        assert each().n_atoms == "auto"
        # A constant stands beside few features.
        shape = (expected, n_features + (n_features < 10))
        assert model.components_.shape == shape
        model.save(tmp_path / "model.ssdl")
        again = ssdl.load(tmp_path / "model.ssdl")
        assert again.n_atoms == expected
        assert clone(again).fit(X, y).components_.shape == shape
