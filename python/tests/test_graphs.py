"""Graphs as SciPy arrays, compared with scikit-learn and formulas; and graphs given by the user."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

import ssdl
from conftest import small
from ssdl import errors, graphs

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

WITH_GRAPH = [ssdl.SSDLGA, ssdl.GraphSC, ssdl.LabelSpreading]
OF_AFFINITIES = {
    "heat": graphs.heat_graph,
    "threshold": graphs.threshold_graph,
    "learnt": graphs.learnt_graph,
}


@pytest.fixture(scope="module")
def cloud():
    """200 points in 20 dimensions: more dimensions than neighbours."""
    return np.random.default_rng(0).standard_normal((200, 20))


@pytest.fixture(scope="module")
def samples(digits):
    """The digits at length 5, so that nothing is left to prepare."""
    return 5 * digits["X"] / np.linalg.norm(digits["X"], axis=1, keepdims=True)


def as_they_are(each, **parameters):
    return small(each, prepare=(), **parameters)


def distances(X):
    return np.linalg.norm(X[:, None] - X[None], axis=-1)


def joined(lists):
    """Pairs of which one is a neighbour of the other."""
    near = np.zeros((len(lists), len(lists)), dtype=bool)
    np.put_along_axis(near, lists, True, axis=1)
    return near | near.T


@pytest.mark.parametrize("k", [1, 8, 199])
def test_neighbours_are_those_of_scikit_learn(k, cloud):
    search = NearestNeighbors(n_neighbors=k).fit(cloud)
    within = graphs.nearest_neighbors(cloud, k)
    assert within.dtype == np.int64
    np.testing.assert_array_equal(within, search.kneighbors(return_distance=False))
    others = np.random.default_rng(1).standard_normal((30, 20))
    between = graphs.nearest_neighbors(cloud, k, Y=others)
    np.testing.assert_array_equal(between, search.kneighbors(others, return_distance=False))


def test_a_sample_is_its_own_neighbour_only_in_another_array(cloud):
    twins = np.vstack([cloud[:20], cloud[:20]])
    nearest = graphs.nearest_neighbors(twins, 1).ravel()
    np.testing.assert_array_equal(nearest, np.r_[20:40, 0:20])
    np.testing.assert_array_equal(graphs.nearest_neighbors(cloud, 1, Y=cloud).ravel(), np.r_[:200])


def test_there_are_at_most_as_many_neighbours_as_samples(cloud):
    assert graphs.nearest_neighbors(cloud[:4], 10).shape == (4, 3)
    assert graphs.nearest_neighbors(cloud[:4], 10, Y=cloud).shape == (200, 4)
    assert graphs.nearest_neighbors(cloud[:1], 3).shape == (1, 0)


@pytest.mark.parametrize(
    "build", [graphs.nearest_neighbors, graphs.lle_graph, *OF_AFFINITIES.values()]
)
def test_threads_and_precision_do_not_change_who_is_joined(build, cloud, same_bits):
    one, two, single = build(cloud), build(cloud, n_jobs=2), build(cloud.astype(np.float32))
    if not sparse.issparse(one):
        same_bits(one, two)
        same_bits(one, single)
        return
    same_bits(one.toarray(), two.toarray())
    assert single.dtype == np.float32
    np.testing.assert_allclose(single.toarray(), one.toarray(), atol=2e-3)


def test_mixtures_are_those_of_scikit_learn(cloud):
    weights = graphs.lle_graph(cloud, 8)
    expected = barycenter_kneighbors_graph(cloud, 8, reg=1e-12)
    np.testing.assert_allclose(weights.toarray(), expected.toarray(), atol=1e-8)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)


def test_mixtures_of_more_neighbours_than_features_are_regularised(cloud):
    plane = cloud[:, :2]
    weights = graphs.lle_graph(plane, 8)
    expected = barycenter_kneighbors_graph(plane, 8, reg=1e-3)
    np.testing.assert_allclose(weights.toarray(), expected.toarray(), atol=1e-8)


def test_a_twin_is_nearly_all_of_a_mixture(cloud):
    weights = graphs.lle_graph(np.vstack([cloud, cloud[:1]]), 8).toarray()
    assert weights[0, 200] > 0.95
    assert weights[200, 0] > 0.95


def test_neighbours_found_elsewhere_give_the_same_mixtures(cloud, same_bits):
    own = graphs.lle_graph(cloud, 6)
    lists = NearestNeighbors(n_neighbors=6).fit(cloud).kneighbors(return_distance=False)
    same_bits(graphs.lle_graph(cloud, neighbors=lists).toarray(), own.toarray())
    same_bits(graphs.lle_graph(cloud, neighbors=lists.tolist()).toarray(), own.toarray())
    turned = graphs.lle_graph(cloud, neighbors=lists[:, ::-1])
    np.testing.assert_allclose(turned.toarray(), own.toarray(), atol=1e-10)


@pytest.mark.parametrize("width", [2.0, "1x", "0.5x"])
def test_heat_falls_with_the_distance_of_neighbours(width, cloud):
    apart = distances(cloud)
    mean = apart[np.triu_indices(200, 1)].mean()
    sigma = float(width[:-1]) * mean if isinstance(width, str) else width
    near = joined(graphs.nearest_neighbors(cloud, 8))
    expected = np.where(near, np.exp(-(apart**2) / (2 * sigma**2)), 0)
    weights = graphs.heat_graph(cloud, 8, width=width)
    np.testing.assert_allclose(weights.toarray(), expected, atol=1e-12)


def test_a_threshold_joins_the_share_of_pairs_that_is_nearest(cloud):
    apart = distances(cloud)
    pairs = apart[np.triu_indices(200, 1)]
    radius = np.sort(pairs)[int(0.05 * len(pairs))]
    expected = np.where(apart < radius, np.exp(-(apart**2) / (2 * pairs.mean() ** 2)), 0)
    np.fill_diagonal(expected, 0)
    weights = graphs.threshold_graph(cloud, 0.05)
    np.testing.assert_allclose(weights.toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("build", OF_AFFINITIES.values(), ids=OF_AFFINITIES)
def test_affinities_are_symmetric_and_at_least_zero(build, cloud, same_bits):
    weights = build(cloud)
    assert weights.shape == (200, 200)
    assert weights.nnz > 0
    same_bits(weights.toarray(), weights.T.toarray())
    assert weights.data.min() > 0
    assert not weights.diagonal().any()


def test_a_smoother_learnt_graph_has_more_edges(cloud):
    few, many = (graphs.learnt_graph(cloud, smoothness).nnz for smoothness in (1.0, 50.0))
    assert few < many


@pytest.mark.parametrize(
    "build", [graphs.lle_graph, *OF_AFFINITIES.values()], ids=["lle", *OF_AFFINITIES]
)
def test_a_laplacian_is_what_the_objective_says(build, cloud):
    weights = build(cloud)
    matrix = graphs.laplacian(weights).toarray()
    dense = weights.toarray()
    if build is graphs.lle_graph:
        expected = (np.eye(200) - dense).T @ (np.eye(200) - dense)
    else:
        expected = np.diag(dense.sum(axis=1)) - dense
    np.testing.assert_allclose(matrix, expected, atol=1e-10)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    assert np.linalg.eigvalsh(matrix).min() > -1e-10
    np.testing.assert_allclose(matrix @ np.ones(200), 0, atol=1e-10)


def test_a_laplacian_omits_isolated_samples():
    alone = sparse.csr_array(np.array([[0, 0.7, 0.3], [0, 0, 0], [1.0, 0, 0]]))
    expected = np.array([[2, -0.7, -1.3], [-0.7, 0.49, 0.21], [-1.3, 0.21, 1.09]])
    np.testing.assert_allclose(graphs.laplacian(alone).toarray(), expected)
    assert not graphs.laplacian(sparse.csr_array((3, 3))).nnz


def test_weights_on_the_diagonal_do_not_change_a_laplacian(cloud):
    weights = graphs.heat_graph(cloud)
    heavier = weights + sparse.csr_array(sparse.eye(200))
    np.testing.assert_allclose(
        graphs.laplacian(heavier).toarray(), graphs.laplacian(weights).toarray(), atol=1e-14
    )


def test_symmetric_weights_below_zero_may_be_mixtures():
    weights = np.array([[0, 1.5, -0.5], [1.5, 0, -0.5], [-0.5, -0.5, 0]])
    with pytest.raises(errors.GraphError, match="negative"):
        graphs.laplacian(weights)
    weights[2] = [-0.5, -0.5, 2]
    matrix = graphs.laplacian(weights).toarray()
    assert np.linalg.eigvalsh(matrix).min() > -1e-12


@pytest.mark.parametrize("each", [ssdl.SSDLGA, ssdl.GraphSC])
@pytest.mark.parametrize("name", OF_AFFINITIES)
def test_a_fit_with_its_own_graph_given_is_the_same(name, each, samples, digits):
    weights = OF_AFFINITIES[name](samples)
    own = as_they_are(each, graph=name, percentile=0.02).fit(samples, digits["few"])
    brought = as_they_are(each).fit(samples, digits["few"], graph=weights)
    np.testing.assert_allclose(brought.codes_, own.codes_, atol=1e-9)
    np.testing.assert_array_equal(brought.transduction_, own.transduction_)


@pytest.mark.parametrize("each", [ssdl.SSDLGA, ssdl.GraphSC])
def test_a_fit_with_its_own_neighbours_given_is_the_same(each, samples, digits, same_bits):
    own = as_they_are(each).fit(samples, digits["few"])
    lists = graphs.nearest_neighbors(samples, 8)
    brought = as_they_are(each).fit(samples, digits["few"], graph=lists)
    same_bits(brought.codes_, own.codes_)
    same_bits(brought.predict_proba(digits["new"]), own.predict_proba(digits["new"]))
    mixed = as_they_are(each).fit(samples, digits["few"], graph=graphs.lle_graph(samples))
    np.testing.assert_allclose(mixed.codes_, own.codes_, atol=1e-9)
    np.testing.assert_allclose(
        mixed.predict_proba(digits["new"]), own.predict_proba(digits["new"]), atol=1e-9
    )


def test_labels_spread_over_given_affinities(samples, digits):
    own = ssdl.LabelSpreading(prepare=()).fit(samples, digits["few"])
    weights = graphs.heat_graph(samples, 5, width="0.2x")
    brought = ssdl.LabelSpreading(prepare=()).fit(samples, digits["few"], graph=weights)
    np.testing.assert_allclose(brought.label_distributions_, own.label_distributions_, atol=1e-12)
    with pytest.raises(errors.GraphError, match="give affinities"):
        ssdl.LabelSpreading(prepare=()).fit(samples, digits["few"], graph=graphs.lle_graph(samples))


def test_the_fit_uses_the_given_graph(samples, digits):
    # Joined by their true classes, the samples can hardly be misclassified.
    same = sparse.csr_array((digits["y"][:, None] == digits["y"]).astype(float))
    for each in WITH_GRAPH:
        told = as_they_are(each).fit(samples, digits["few"], graph=same)
        plain = as_they_are(each).fit(samples, digits["few"])
        right = [np.mean(model.transduction_ == digits["y"]) for model in (told, plain)]
        assert right[0] > right[1]


@pytest.mark.parametrize("each", WITH_GRAPH)
@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_neighbours_in_one_direction_are_refused_with_the_remedy(each, mode, samples, digits):
    one_way = kneighbors_graph(samples, 8, mode=mode)
    with pytest.raises(errors.GraphError, match=r"W\.maximum\(W\.T\)"):
        as_they_are(each).fit(samples, digits["few"], graph=one_way)
    with pytest.raises(errors.GraphError, match=r"W\.maximum\(W\.T\)"):
        graphs.laplacian(one_way)
    model = as_they_are(each).fit(samples, digits["few"], graph=one_way.maximum(one_way.T))
    assert model.score(digits["new"], digits["truth"]) > 0.6


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array, np.array])
def test_weights_may_have_any_sparse_format(make, samples, digits, same_bits):
    weights = graphs.heat_graph(samples)
    first = as_they_are(ssdl.SSDLGA).fit(samples, digits["few"], graph=weights)
    other = make(weights.toarray())
    again = as_they_are(ssdl.SSDLGA).fit(samples, digits["few"], graph=other)
    same_bits(again.codes_, first.codes_)


def test_ones_and_zeros_are_weights_whatever_their_type(samples, digits, same_bits):
    near = joined(graphs.nearest_neighbors(samples, 5))
    of_floats, of_ints, of_bools = (
        as_they_are(ssdl.SSDLGA).fit(samples, digits["few"], graph=near.astype(kind)).codes_
        for kind in (float, int, bool)
    )
    same_bits(of_floats, of_ints)
    same_bits(of_floats, of_bools)


def test_stored_zeros_and_duplicate_weights_are_summed(samples, digits, same_bits):
    weights = graphs.heat_graph(samples).tocoo()
    rows, columns = weights.row, weights.col
    parts = sparse.coo_array(
        (
            np.r_[weights.data / 2, weights.data / 2, [0.0]],
            (np.r_[rows, rows, [0]], np.r_[columns, columns, [299]]),
        ),
        shape=(300, 300),
    )
    whole, summed = (
        as_they_are(ssdl.SSDLGA).fit(samples, digits["few"], graph=each).codes_
        for each in (weights, parts)
    )
    same_bits(whole, summed)
    assert parts.nnz == 2 * weights.nnz + 1


def spoilt(weights, value):
    weights = weights.copy()
    weights.data[0] = value
    return weights


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (lambda W, lists: W[:299, :299], errors.ShapeError, "expected 300, got 299"),
        (lambda W, lists: W[:299], errors.GraphError, "299 x 300"),
        (lambda W, lists: spoilt(W, np.nan), errors.GraphError, "not finite"),
        (lambda W, lists: spoilt(W, np.inf), errors.GraphError, "not finite"),
        (lambda W, lists: -W, errors.GraphError, "negative"),
        (lambda W, lists: lists[:299], errors.ShapeError, "expected 300, got 299"),
        (lambda W, lists: lists.astype(float), errors.GraphError, "300 x 8"),
        (lambda W, lists: lists[:, 0], errors.GraphError, "shape"),
        (lambda W, lists: lists.astype(float)[:, 0], errors.GraphError, "whole numbers"),
        (lambda W, lists: lists * 0, errors.GraphError, "neighbour 0 of sample 0"),
        (lambda W, lists: lists + 300, errors.GraphError, "must be another of the 300"),
        (lambda W, lists: lists - 300, errors.GraphError, "counted from 0"),
        (lambda W, lists: "heat", errors.GraphError, "give it to the constructor"),
    ],
    ids=[
        "fewer samples",
        "not square",
        "nan",
        "infinite",
        "negative",
        "fewer lists",
        "lists of floats",
        "one neighbour list",
        "one list of floats",
        "own neighbour",
        "unknown neighbour",
        "negative neighbour",
        "a word",
    ],
)
@pytest.mark.parametrize("each", [ssdl.SSDLGA, ssdl.LabelSpreading])
def test_impossible_graphs_are_refused(each, spoil, error, words, samples, digits):
    weights, lists = graphs.heat_graph(samples), graphs.nearest_neighbors(samples)
    with pytest.raises(error, match=words):
        as_they_are(each).fit(samples, digits["few"], graph=spoil(weights, lists))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda X: graphs.nearest_neighbors(X, 2.5), errors.GraphError, "2.5"),
        (lambda X: graphs.nearest_neighbors(X, 0), errors.GraphError, "1 or more"),
        (lambda X: graphs.nearest_neighbors(X, Y=X[:, 1:]), errors.ShapeError, "20, got 19"),
        (lambda X: graphs.nearest_neighbors(X * np.nan), ValueError, "NaN"),
        (lambda X: graphs.lle_graph(X, -1), errors.GraphError, "-1"),
        (lambda X: graphs.lle_graph(X, neighbors=[[1], [0]]), errors.ShapeError, "200, got 2"),
        (
            lambda X: graphs.lle_graph(X, neighbors=np.full((200, 1), 0.5)),
            errors.GraphError,
            "whole",
        ),
        (lambda X: graphs.lle_graph(X, neighbors=np.arange(200)), errors.GraphError, "shape"),
        (lambda X: graphs.heat_graph(X, width="wide"), errors.KnobError, "width"),
        (lambda X: graphs.heat_graph(X, width=-1), errors.KnobError, "width"),
        (lambda X: graphs.threshold_graph(X, 1.0), errors.KnobError, "percentile"),
        (lambda X: graphs.learnt_graph(X, 0), errors.KnobError, "smoothness"),
        (lambda X: graphs.laplacian(X), errors.GraphError, "200 x 20"),
        (lambda X: graphs.laplacian(None), errors.GraphError, "sparse matrix"),
    ],
)
def test_graphs_are_not_built_from_nonsense(call, error, words, cloud):
    with pytest.raises(error, match=words):
        call(cloud)


@pytest.mark.parametrize("each", [ssdl.USSDL, ssdl.LinearSVM, ssdl.SelfTraining])
def test_classes_without_a_graph_take_none(each, samples, digits):
    with pytest.raises(TypeError, match="graph"):
        as_they_are(each).fit(samples, digits["few"], graph=graphs.heat_graph(samples))
