"""What is learnt against the formulas, in plain NumPy, and against scikit-learn.

A second solver is not needed to see that the first one ended at a minimum: no step along any
coefficient, weight or atom may lower the objective.
"""

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading
from sklearn.svm import LinearSVC

import ssdl
from conftest import small
from ssdl import graphs

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

SPARSITY, MANIFOLD, DISCRIMINATION, RIDGE, SHARPNESS = 0.3, 0.5, 0.4, 0.9, 1.7
WEIGHTS = {
    "sparsity": SPARSITY,
    "manifold": MANIFOLD,
    "discrimination": DISCRIMINATION,
    "ridge": RIDGE,
    "sharpness": SHARPNESS,
}
# Relative to the weight of the l1 norm, at which the coding of new samples stops.
CODED = 1e-3
# The same for training samples, at the end of many iterations.
SETTLED = 1e-2


def scaled(X):
    return 5 * X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def problem(digits):
    """Few samples, none left to prepare."""
    few = digits["y"][:100].copy()
    few[40:] = -1
    return {"X": scaled(digits["X"][:100]), "few": few, "new": scaled(digits["new"])}


@pytest.fixture(scope="module")
def model(problem):
    """A fit that went on until hardly anything moved."""
    return ssdl.SSDLGA(
        voting="paper",
        calibrate=False,
        n_atoms=20,
        prepare=(),
        max_iter=3000,
        tol=1e-10,
        coder_steps=20,
        coder_tolerance=1e-6,
        **WEIGHTS,
    ).fit(problem["X"], problem["few"])


def scores_of(model):
    return model.codes_ @ model.coef_.T + model.intercept_


def class_errors(scores):
    """Squared hinge of each sample, summed over the classifiers, if its class were k."""
    signs = np.where(np.eye(scores.shape[1], dtype=bool), 1, -1)
    return (np.maximum(0, 1 - signs * scores[:, None, :]) ** 2).sum(axis=2)


def memberships(errors):
    """Shares P on the simplex that make the sum of P**r times the errors least."""
    least = errors.min(axis=1, keepdims=True)
    ratios = np.divide(least, errors, out=np.ones_like(errors), where=errors > 0)
    certain = (errors == 0).astype(float)
    shares = np.where(least > 0, ratios ** (1 / (SHARPNESS - 1)), certain)
    return shares / shares.sum(axis=1, keepdims=True)


def votes(model, few):
    """P**r: one at the label of a labelled sample, spread where there is none."""
    shares = memberships(class_errors(scores_of(model)))
    known = few >= 0
    shares[known] = np.eye(shares.shape[1])[few[known]]
    return shares**SHARPNESS


def pull_of_classes(model, few):
    """Gradient of the loss in the scores."""
    scores, votes_for = scores_of(model), votes(model, few)
    votes_against = votes_for.sum(axis=1, keepdims=True) - votes_for
    return 2 * votes_against * np.maximum(0, 1 + scores) - 2 * votes_for * np.maximum(0, 1 - scores)


def terms(model, X, few, laplacian):
    """The objective as the documentation writes it."""
    codes = model.codes_
    return {
        "reconstruction": np.sum((X - codes @ model.components_) ** 2),
        "sparsity": SPARSITY * np.abs(codes).sum(),
        "manifold": MANIFOLD * np.trace(codes.T @ laplacian @ codes),
        "discrimination": DISCRIMINATION
        * np.sum(votes(model, few) * class_errors(scores_of(model))),
        "ridge": RIDGE * (np.sum(model.coef_**2) + np.sum(model.intercept_**2)),
    }


def lasso_gap(codes, gradient, sparsity=SPARSITY):
    """How far coefficients are from where none wants to move, relative to the weight."""
    moving = np.abs(gradient + sparsity * np.sign(codes))
    resting = np.maximum(0, np.abs(gradient) - sparsity)
    return np.where(codes != 0, moving, resting).max() / sparsity


def test_the_objective_is_what_its_formula_gives(model, problem):
    laplacian = graphs.laplacian(graphs.lle_graph(problem["X"], 8)).toarray()
    expected = terms(model, problem["X"], problem["few"], laplacian)
    for name, value in expected.items():
        assert model.objective_[name] == pytest.approx(value, rel=1e-7), name
    assert model.objective_["total"] == pytest.approx(sum(expected.values()), rel=1e-7)


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("heat", graphs.heat_graph),
        ("threshold", graphs.threshold_graph),
        ("learnt", graphs.learnt_graph),
    ],
)
@pytest.mark.parametrize("normalised", [False, True])
def test_the_objective_heeds_every_graph(name, build, normalised, problem):
    model = small(
        ssdl.SSDLGA,
        prepare=(),
        graph=name,
        normalise_trace=normalised,
        voting="paper",
        **WEIGHTS,
    )
    model.fit(problem["X"], problem["few"])
    laplacian = graphs.laplacian(build(problem["X"])).toarray()
    if normalised:
        laplacian *= len(laplacian) / np.trace(laplacian)
    expected = terms(model, problem["X"], problem["few"], laplacian)
    # The memberships are those of the step before: the loss may be told a little too high.
    loss = expected.pop("discrimination")
    assert loss * (1 - 1e-9) <= model.objective_["discrimination"] <= 1.2 * loss
    for term, value in expected.items():
        assert model.objective_[term] == pytest.approx(value, rel=1e-9), term


def test_distributions_are_the_memberships(model):
    expected = memberships(class_errors(scores_of(model)))
    np.testing.assert_allclose(model.label_distributions_, expected, atol=1e-12)


def test_new_samples_have_the_memberships_of_their_scores(model, problem):
    expected = memberships(class_errors(model.decision_function(problem["new"])))
    np.testing.assert_allclose(model.predict_proba(problem["new"]), expected, atol=1e-12)


def test_no_code_could_be_better(model, problem):
    codes, atoms = model.codes_, model.components_
    laplacian = graphs.laplacian(graphs.lle_graph(problem["X"], 8))
    gradient = 2 * (codes @ atoms - problem["X"]) @ atoms.T + 2 * MANIFOLD * (laplacian @ codes)
    gradient += DISCRIMINATION * pull_of_classes(model, problem["few"]) @ model.coef_
    assert lasso_gap(codes, gradient) < SETTLED


def test_no_classifier_could_be_better(model, problem):
    pull = DISCRIMINATION * pull_of_classes(model, problem["few"])
    weights = pull.T @ model.codes_ + 2 * RIDGE * model.coef_
    bias = pull.sum(axis=0) + 2 * RIDGE * model.intercept_
    size = 2 * RIDGE * np.abs(model.coef_).max()
    assert np.abs(weights).max() < SETTLED * size
    assert np.abs(bias).max() < SETTLED * size


def test_no_atom_could_be_better(model, problem):
    atoms, codes = model.components_, model.codes_
    gradient = 2 * codes.T @ (codes @ atoms - problem["X"])
    lengths = np.linalg.norm(atoms, axis=1)
    assert lengths.max() <= 1 + 1e-12
    # An atom at its full length is pulled straight outwards, a shorter one not at all.
    outwards = -(gradient * atoms).sum(axis=1) / lengths**2
    assert outwards.min() > -SETTLED
    rest = gradient + outwards[:, None] * atoms
    assert np.abs(rest).max() < SETTLED * np.abs(gradient).max()
    assert np.abs(outwards[lengths < 1 - 1e-9]).max(initial=0) < SETTLED


@pytest.mark.parametrize("radius", [0.5, 2.0])
def test_atoms_stay_in_the_ball(radius, problem):
    model = small(ssdl.SSDLGA, prepare=(), atom_norm=radius).fit(problem["X"], problem["few"])
    assert np.linalg.norm(model.components_, axis=1).max() <= radius * (1 + 1e-12)


def test_new_samples_lean_on_the_mixture_of_their_neighbours(model, problem):
    X, new = problem["X"], problem["new"]
    codes, atoms = model.transform(new), model.components_
    lists = graphs.nearest_neighbors(X, 8, Y=new)
    for x, code, near in zip(new, codes, lists, strict=True):
        apart = x - X[near]
        weights = np.linalg.solve(apart @ apart.T, np.ones(8))
        mean = weights / weights.sum() @ model.codes_[near]
        gradient = 2 * atoms @ (code @ atoms - x) + 2 * MANIFOLD * (code - mean)
        assert lasso_gap(code, gradient) < CODED


def within_reach(X, new, k):
    """Which training samples a new one is joined to, neighbours counted from either side."""
    among = np.linalg.norm(X[:, None] - X, axis=2)
    radii = np.sort(among, axis=1)[:, k]
    towards = np.linalg.norm(new[:, None] - X, axis=2)
    nearest = np.argsort(np.argsort(towards, axis=1), axis=1) < k
    mean = among[np.triu_indices(len(X), 1)].mean()
    return nearest | (towards < radii), towards, mean


def test_new_samples_lean_on_a_heat_graph(problem):
    X, new = problem["X"], problem["new"]
    model = small(ssdl.SSDLGA, prepare=(), graph="heat", **WEIGHTS).fit(X, problem["few"])
    joined, towards, sigma = within_reach(X, new, 8)
    heat = np.where(joined, np.exp(-(towards**2) / (2 * sigma**2)), 0)
    codes, atoms = model.transform(new), model.components_
    leaning = heat.sum(axis=1, keepdims=True) * codes - heat @ model.codes_
    gradient = 2 * (codes @ atoms - new) @ atoms.T + 2 * MANIFOLD * leaning
    assert lasso_gap(codes, gradient) < CODED


def test_without_a_graph_new_samples_are_coded_by_the_atoms_alone(problem):
    model = small(ssdl.USSDL, prepare=(), sparsity=SPARSITY).fit(problem["X"], problem["few"])
    codes, atoms = model.transform(problem["new"]), model.components_
    assert lasso_gap(codes, 2 * (codes @ atoms - problem["new"]) @ atoms.T) < CODED
    assert model.objective_["manifold"] == 0


@pytest.mark.parametrize("spreading", [0.2, 0.8, 0.99, None])
def test_labels_spread_as_in_scikit_learn(spreading, problem):
    X, few = problem["X"], problem["few"]
    # scikit-learn's own graphs are others, so ours is handed to it.
    weights = graphs.heat_graph(X, 5, width="0.2x").toarray()
    until = {"max_iter": 100_000, "tol": 1e-13}
    if spreading is None:
        ours = ssdl.LabelSpreading(prepare=(), calibrate=False, clamp=True)
        theirs = LabelPropagation(kernel=lambda *_: weights, **until)
    else:
        ours = ssdl.LabelSpreading(prepare=(), calibrate=False, spreading=spreading)
        theirs = LabelSpreading(kernel=lambda *_: weights, alpha=spreading, **until)
    shares = ours.fit(X, few).label_distributions_
    np.testing.assert_allclose(shares, theirs.fit(X, few).label_distributions_, atol=1e-9)


@pytest.mark.parametrize("kernel", ["heat", "neighbours"])
def test_new_samples_take_the_mean_of_the_shares_around_them(kernel, problem):
    X, new = problem["X"], problem["new"]
    model = ssdl.LabelSpreading(prepare=(), calibrate=False, kernel=kernel).fit(X, problem["few"])
    joined, towards, mean = within_reach(X, new, 5)
    # Relative to the nearest, so that no weight is too small for its type.
    nearest = towards.min(axis=1, keepdims=True)
    heat = np.exp((nearest**2 - towards**2) / (2 * (0.2 * mean) ** 2))
    weights = np.where(joined, heat if kernel == "heat" else 1.0, 0)
    expected = weights @ model.label_distributions_
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("box", [0.1, 1.0, 10.0])
def test_the_margin_is_that_of_scikit_learn(loss, box, problem):
    known = problem["few"] >= 0
    ours = ssdl.LinearSVM(prepare=(), loss=loss, box_constraints=box, tol=1e-9, max_epochs=10**6)
    ours.fit(problem["X"], problem["few"])
    theirs = LinearSVC(
        loss=loss.replace("-", "_"), C=box, dual=True, tol=1e-9, max_iter=10**7, random_state=0
    ).fit(problem["X"][known], problem["few"][known])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    np.testing.assert_allclose(
        ours.decision_function(problem["new"]), theirs.decision_function(problem["new"]), atol=1e-6
    )


def test_ridge_is_that_of_scikit_learn_with_a_bias_that_pays(problem):
    known = problem["few"] >= 0
    ours = ssdl.Ridge(prepare=(), ridge=0.7).fit(problem["X"], problem["few"])
    longer = np.column_stack([problem["X"][known], np.ones(known.sum())])
    signs = np.where(problem["few"][known][:, None] == np.arange(10), 1.0, -1.0)
    theirs = linear_model.Ridge(alpha=0.7, fit_intercept=False).fit(longer, signs)
    learnt = np.column_stack([ours.coef_, ours.intercept_])
    np.testing.assert_allclose(learnt, theirs.coef_, atol=1e-10)


@pytest.mark.parametrize("k", [1, 5])
def test_the_nearest_vote_as_in_scikit_learn(k, problem):
    known = problem["few"] >= 0
    ours = ssdl.Nearest(prepare=(), calibrate=False, n_neighbors=k).fit(
        problem["X"], problem["few"]
    )
    theirs = KNeighborsClassifier(k).fit(problem["X"][known], problem["few"][known])
    np.testing.assert_allclose(
        ours.predict_proba(problem["new"]), theirs.predict_proba(problem["new"]), atol=1e-12
    )
