"""Preparation steps without a classifier, compared with scikit-learn and scikit-image."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.utils._param_validation import InvalidParameterError

import ssdl
from conftest import small
from ssdl import errors
from ssdl.preparation import Preparation, known_steps

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

# Each step as it suits images of 8 x 8: the features that come out, and whether they are pixels.
STEPS = {
    "scale=5": (64, (8, 8)),
    "standardise": (64, (8, 8)),
    "unskew": (64, (8, 8)),
    "lift=5": (65, None),
    "pca=20": (20, None),
    "projection=30": (30, None),
    "power=0.5": (64, (8, 8)),
    "deskew": (64, (8, 8)),
    "gradients": (36, None),
    "gradients=9/4/2": (36, None),
    "gradients=9/4/2/soft": (36, None),
    "gradients=12/4/2/signed": (48, None),
    "logarithm": (64, (8, 8)),
    "logarithm=10": (64, (8, 8)),
    "contrast": (64, (8, 8)),
    "contrast=1/3": (64, (8, 8)),
    "resize=6x7": (42, (6, 7)),
    "join=[deskew,gradients | none]": (100, None),
}


def of_images(*steps, **parameters):
    return Preparation(steps, image_shape=(8, 8), **parameters)


def test_every_step_there_is_is_tried_below():
    names = {usage.partition("=")[0].rstrip("[") for usage in known_steps()}
    assert names == {step.partition("=")[0] for step in STEPS}
    assert all(sentence for sentence in known_steps().values())


@pytest.mark.parametrize("step", STEPS)
def test_every_step_prepares_images(step, digits, same_bits):
    n_features, shape = STEPS[step]
    preparation = of_images(step).fit(digits["X"])
    prepared = preparation.transform(digits["new"])
    assert prepared.shape == (200, n_features)
    assert prepared.dtype == np.float64
    assert np.isfinite(prepared).all()
    assert preparation.image_shape_ == shape
    assert preparation.n_features_in_ == 64
    assert len(preparation.get_feature_names_out()) == n_features
    # A prepared sample depends neither on other samples nor on the number of threads.
    same_bits(preparation.transform(digits["new"][7:8]), prepared[7:8])
    same_bits(of_images(step, n_jobs=2).fit(digits["X"]).transform(digits["new"]), prepared)


@pytest.mark.parametrize("step", STEPS)
def test_a_classifier_prepares_with_the_same_bits(step, digits, same_bits):
    preparation = of_images(step, "scale=5")
    prepared = preparation.fit_transform(digits["X"])
    apart = small(ssdl.SSDLGA, prepare=()).fit(prepared, digits["few"])
    within = small(ssdl.SSDLGA, prepare=(step, "scale=5"), image_shape=(8, 8))
    within.fit(digits["X"], digits["few"])
    same_bits(within.codes_, apart.codes_)
    same_bits(
        within.predict_proba(digits["new"]),
        apart.predict_proba(preparation.transform(digits["new"])),
    )


@pytest.mark.parametrize("step", STEPS)
def test_single_precision_stays_single_when_prepared(step, digits):
    single = of_images(step).fit(digits["X"].astype(np.float32)).transform(digits["new"])
    assert single.dtype == np.float32
    double = of_images(step).fit(digits["X"]).transform(digits["new"])
    if step.startswith("pca"):
        # A direction may be found either way round.
        single, double = np.abs(single), np.abs(double)
    np.testing.assert_allclose(single, double, atol=1e-3 * np.abs(double).max())


@pytest.mark.parametrize("step", STEPS)
def test_pickles_and_clones_prepare_alike(step, digits, same_bits):
    preparation = of_images(step).fit(digits["X"])
    prepared = preparation.transform(digits["new"])
    same_bits(pickle.loads(pickle.dumps(preparation)).transform(digits["new"]), prepared)
    twin = clone(preparation)
    assert not hasattr(twin, "image_shape_")
    same_bits(twin.fit(digits["X"]).transform(digits["new"]), prepared)


def test_samples_are_scaled_as_scikit_learn_does(digits):
    expected = 3 * normalize(digits["new"])
    np.testing.assert_allclose(
        Preparation("scale=3").fit(digits["X"]).transform(digits["new"]), expected, atol=1e-12
    )
    zeros = Preparation("scale=3").fit_transform(np.zeros((2, 4)))
    np.testing.assert_array_equal(zeros, np.zeros((2, 4)))


def test_features_are_standardised_as_scikit_learn_does(digits):
    expected = StandardScaler().fit(digits["X"]).transform(digits["new"])
    constant = digits["X"].std(axis=0) == 0
    expected[:, constant] = 0
    prepared = Preparation("standardise").fit(digits["X"]).transform(digits["new"])
    np.testing.assert_allclose(prepared, expected, atol=1e-10)


def test_components_are_those_of_scikit_learn(digits):
    expected = PCA(20, svd_solver="full").fit(digits["X"]).transform(digits["new"])
    prepared = Preparation("pca=20").fit(digits["X"]).transform(digits["new"])
    np.testing.assert_allclose(np.abs(prepared), np.abs(expected), atol=1e-6)


def test_projections_roughly_keep_distances(digits):
    prepared = Preparation("projection=50").fit_transform(digits["X"])
    before, after = (
        np.linalg.norm(each[:150] - each[150:], axis=1) for each in (digits["X"], prepared)
    )
    assert np.abs(after / before - 1).mean() < 0.15
    other = Preparation("projection=50", random_state=1).fit_transform(digits["X"])
    assert not np.array_equal(prepared, other)


def test_powers_keep_the_sign(digits):
    X = digits["X"] - 8
    prepared = Preparation("power=0.5").fit_transform(X)
    np.testing.assert_allclose(prepared, np.sign(X) * np.sqrt(np.abs(X)), atol=1e-12)


@pytest.mark.parametrize("knobs", [(9, 4, 2), (8, 3, 2), (6, 2, 3), (9, 4, 1)])
@pytest.mark.parametrize("side", [8, 16])
def test_histograms_of_gradients_are_those_of_scikit_image(side, knobs, digits):
    feature = pytest.importorskip("skimage.feature")
    orientations, cell, block = knobs
    noise = np.random.default_rng(0).random((40, side * side))
    images = np.vstack([digits["X"][:40], noise]) if side == 8 else noise
    expected = [
        feature.hog(
            image.reshape(side, side),
            orientations=orientations,
            pixels_per_cell=(cell, cell),
            cells_per_block=(block, block),
            block_norm="L2-Hys",
        )
        for image in images
    ]
    step = f"gradients={orientations}/{cell}/{block}"
    prepared = Preparation(step, image_shape=(side, side)).fit_transform(images)
    # Images are prepared in single precision.
    np.testing.assert_allclose(prepared, expected, atol=1e-6)


def test_steps_follow_one_another(digits, same_bits):
    steps = ["deskew", "resize=6x6", "gradients=8/3/2", "power=0.5", "pca=10", "scale=5"]
    together = of_images(*steps).fit(digits["X"])
    train, new, shape = digits["X"], digits["new"], (8, 8)
    for step in steps:
        alone = Preparation(step, image_shape=shape).fit(train)
        train, new, shape = alone.transform(train), alone.transform(new), alone.image_shape_
    same_bits(together.transform(digits["new"]), new)
    assert together.image_shape_ is shape is None


def test_no_steps_change_nothing(digits, same_bits):
    same_bits(Preparation(()).fit_transform(digits["X"]), digits["X"])


def test_sparse_samples_are_prepared_too(digits, same_bits):
    few = sparse.csr_array(digits["X"])
    same_bits(Preparation().fit_transform(few), Preparation().fit_transform(digits["X"]))


def test_prepared_samples_come_in_frames_with_names(digits):
    preparation = Preparation("pca=3").set_output(transform="pandas").fit(digits["X"])
    names = ["preparation0", "preparation1", "preparation2"]
    assert preparation.transform(digits["new"]).columns.tolist() == names
    assert preparation.set_output(transform="polars").transform(digits["new"]).columns == names


def test_prepared_images_feed_another_classifier(digits):
    steps = of_images("gradients=12/2/2/signed", "power=0.5", "scale=5")
    line = make_pipeline(steps, LogisticRegression()).fit(digits["X"], digits["y"])
    assert line.score(digits["new"], digits["truth"]) > 0.85
    assert len(line[:-1].get_feature_names_out()) == 9 * 4 * 12


@pytest.mark.parametrize(
    "step", ["deskew", "gradients", "contrast", "resize=4x4", "join=[deskew | none]"]
)
def test_steps_for_images_ask_for_their_shape(step, digits):
    with pytest.raises(errors.SamplesError, match="works on images"):
        Preparation(step).fit(digits["X"])
    with pytest.raises(errors.SamplesError, match="works on images"):
        of_images("pca=49", step).fit(digits["X"])


def test_an_unknown_step_is_refused_with_a_list_of_the_known_ones(digits):
    with pytest.raises(errors.UnknownNameError, match="whiten") as caught:
        Preparation("whiten").fit(digits["X"])
    assert all(usage in str(caught.value) for usage in known_steps())


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("pca", "missing"),
        ("pca=0", "pca"),
        ("pca=100", "64 features"),
        ("scale=-1", "scale"),
        ("scale=long", "scale"),
        ("power=0", "power"),
        ("gradients=9/4/3", "a block that fits"),
        ("gradients=nine", "gradients"),
        ("resize=8", "resize"),
        ("join=[deskew", "join"),
    ],
)
def test_arguments_out_of_range_are_named(step, words, digits):
    with pytest.raises(errors.KnobError, match=words):
        of_images(step).fit(digits["X"])


@pytest.mark.parametrize(
    ("shape", "error", "words"),
    [
        ((8, 9), errors.ShapeError, "expected 64, got 72"),
        ((8,), ValueError, "unpack"),
        ((8.5, 8), errors.ShapeError, "8.5"),
        ((-8, -8), errors.ShapeError, "above 0"),
        ((0, 64), errors.ShapeError, "above 0"),
        (64, InvalidParameterError, "image_shape"),
    ],
)
def test_impossible_shapes_are_refused(shape, error, words, digits):
    with pytest.raises(error, match=words):
        Preparation("deskew", image_shape=shape).fit(digits["X"])
    with pytest.raises(error, match=words):
        ssdl.LinearSVM(prepare="deskew", image_shape=shape).fit(digits["X"], digits["few"])


def test_what_was_not_fitted_or_does_not_fit_is_not_prepared(digits):
    with pytest.raises(NotFittedError):
        Preparation().transform(digits["X"])
    with pytest.raises(ValueError, match="63 features"):
        Preparation().fit(digits["X"]).transform(digits["X"][:, 1:])
    with pytest.raises(InvalidParameterError, match="steps"):
        Preparation(3).fit(digits["X"])
    with pytest.raises(ValueError, match="NaN"):
        Preparation().fit(np.full((3, 64), np.nan))
