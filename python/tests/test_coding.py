"""Sparse codes and dictionaries without labels, compared with scikit-learn's."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import DictionaryLearning, MiniBatchDictionaryLearning, sparse_encode
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils._param_validation import InvalidParameterError

from ssdl import DictionaryLearner, SparseCoder, errors

SPARSITY = 0.3


@pytest.fixture(scope="module")
def samples(digits):
    """The digits at length 5, as the classifiers see them."""
    return 5 * digits["X"] / np.linalg.norm(digits["X"], axis=1, keepdims=True)


@pytest.fixture(scope="module")
def atoms(samples):
    return samples[200:260] / 5


def costs(samples, atoms, codes, sparsity=SPARSITY):
    """The objective of each sample, by the formula of the documentation."""
    missed = samples - codes @ atoms
    return (missed**2).sum(axis=1) + sparsity * np.abs(codes).sum(axis=1)


@pytest.mark.parametrize("sparsity", [0.05, 0.3, 2.0])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_codes_are_those_of_scikit_learn_at_half_the_weight(sparsity, nonnegative, samples, atoms):
    codes = SparseCoder(atoms, sparsity=sparsity, nonnegative=nonnegative).fit_transform(samples)
    # Its mean of squares runs over the features; older versions give `sparse_encode` no tolerance.
    tight = {"fit_intercept": False, "positive": nonnegative, "tol": 1e-12, "max_iter": 100_000}
    lasso = Lasso(alpha=sparsity / 2 / samples.shape[1], **tight).fit(atoms.T, samples.T)
    np.testing.assert_allclose(codes, lasso.coef_, atol=1e-3 * sparsity)
    encoded = sparse_encode(
        samples,
        atoms,
        algorithm="lasso_cd",
        alpha=sparsity / 2,
        positive=nonnegative,
        max_iter=100_000,
    )
    for theirs in (lasso.coef_, encoded):
        here, there = (costs(samples, atoms, each, sparsity) for each in (codes, theirs))
        assert here.sum() <= there.sum() * (1 + 1e-9)
        assert np.all(here <= there * (1 + 1e-7))
    assert codes.min() >= 0 or not nonnegative


def test_codes_are_those_of_least_angle_regression(samples, atoms):
    codes = SparseCoder(atoms, sparsity=SPARSITY).fit_transform(samples)
    expected = sparse_encode(samples, atoms, algorithm="lasso_lars", alpha=SPARSITY / 2)
    np.testing.assert_allclose(codes, expected, atol=1e-3 * SPARSITY)


def test_a_small_weight_is_enough_among_atoms_that_depend_on_one_another(samples, atoms):
    assert np.linalg.matrix_rank(atoms) < len(atoms)
    some = samples[:20]
    codes = SparseCoder(atoms, sparsity=1e-3).fit_transform(some)
    expected = sparse_encode(some, atoms, algorithm="lasso_lars", alpha=5e-4, max_iter=5000)
    ours, theirs = (costs(some, atoms, each, 1e-3).sum() for each in (codes, expected))
    assert ours <= 1.001 * theirs


@pytest.mark.parametrize("nonnegative", [False, True])
def test_codes_are_optimal(nonnegative, samples, atoms):
    coder = SparseCoder(atoms, sparsity=SPARSITY, nonnegative=nonnegative)
    codes = coder.fit_transform(samples)
    pull = 2 * (samples - codes @ atoms) @ atoms.T
    used = codes != 0
    assert np.abs(pull[used] - SPARSITY * np.sign(codes[used])).max() <= 1e-3 * SPARSITY
    idle = pull[~used] if nonnegative else np.abs(pull[~used])
    assert idle.max() <= SPARSITY * (1 + 1e-3)


def test_sparse_codes_are_the_dense_ones(samples, atoms, same_bits):
    dense = SparseCoder(atoms).fit_transform(samples)
    few = SparseCoder(atoms, sparse_output=True).fit_transform(samples)
    assert sparse.issparse(few)
    assert few.nnz == np.count_nonzero(dense)
    same_bits(few.toarray(), dense)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_sample_alone_is_coded_as_among_others(nonnegative, samples, atoms, same_bits):
    coder = SparseCoder(atoms, nonnegative=nonnegative).fit(samples)
    together = coder.transform(samples)
    for one in (0, 7, 299):
        same_bits(coder.transform(samples[one : one + 1]), together[one : one + 1])


def test_the_number_of_threads_does_not_change_a_code(samples, atoms, same_bits):
    one, two = (SparseCoder(atoms, n_jobs=n).fit_transform(samples) for n in (1, 2))
    same_bits(one, two)


def test_single_precision_stays_single_in_codes(samples, atoms):
    coder = SparseCoder(atoms).fit(samples.astype(np.float32))
    codes = coder.transform(samples)
    assert coder.components_.dtype == codes.dtype == np.float32
    assert coder.inverse_transform(codes).dtype == np.float32
    np.testing.assert_allclose(codes, SparseCoder(atoms).fit_transform(samples), atol=1e-3)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_samples_have_the_codes_of_dense_ones(make, samples, atoms, same_bits):
    same_bits(
        SparseCoder(atoms).fit_transform(make(samples)), SparseCoder(atoms).fit_transform(samples)
    )


def test_without_a_dictionary_the_samples_are_the_atoms(samples, same_bits):
    coder = SparseCoder().fit(samples[:50])
    same_bits(coder.components_, samples[:50])
    assert not np.shares_memory(coder.components_, samples)


def test_atoms_and_samples_of_zeros_are_not_used(samples, atoms, same_bits):
    gaps = atoms.copy()
    gaps[[3, 10]] = 0
    rest = np.delete(np.arange(60), [3, 10])
    codes = SparseCoder(gaps).fit_transform(samples)
    assert not codes[:, [3, 10]].any()
    alone = SparseCoder(gaps[rest]).fit_transform(samples)
    np.testing.assert_allclose(codes[:, rest], alone, atol=1e-3)
    assert not SparseCoder(np.zeros((4, 64))).fit_transform(samples).any()
    assert not SparseCoder(atoms).fit_transform(np.zeros((3, 64))).any()


def test_without_sparsity_codes_are_least_squares():
    generator = np.random.default_rng(0)
    atoms, samples = generator.standard_normal((20, 30)), generator.standard_normal((50, 30))
    expected = np.linalg.lstsq(atoms.T, samples.T)[0].T
    codes = SparseCoder(atoms, sparsity=0).fit_transform(samples)
    np.testing.assert_allclose(codes, expected, atol=1e-9)


def test_codes_are_zero_above_the_largest_correlation(samples, atoms):
    strongest = 2 * np.abs(samples @ atoms.T).max()
    assert not SparseCoder(atoms, sparsity=1e6).fit_transform(samples).any()
    assert not SparseCoder(atoms, sparsity=1.001 * strongest).fit_transform(samples).any()
    assert SparseCoder(atoms, sparsity=0.999 * strongest).fit_transform(samples).any()


def test_codes_are_turned_back_into_samples(samples, atoms):
    coder = SparseCoder(atoms, sparsity=0.05).fit(samples)
    codes = coder.transform(samples)
    np.testing.assert_allclose(coder.inverse_transform(codes), codes @ atoms)
    written = coder.inverse_transform(sparse.csr_array(codes))
    assert isinstance(written, np.ndarray)
    np.testing.assert_allclose(written, codes @ atoms)
    with pytest.raises(errors.ShapeError, match="expected 60, got 59"):
        coder.inverse_transform(codes[:, 1:])


@pytest.mark.parametrize(
    ("coder", "name"),
    [(SparseCoder(), "sparsecoder"), (DictionaryLearner(5), "dictionarylearner")],
    ids=["coder", "learner"],
)
def test_codes_come_in_frames_with_names(coder, name, samples):
    frame = coder.set_output(transform="pandas").fit(samples[:5]).transform(samples[5:9])
    names = [f"{name}{i}" for i in range(5)]
    assert frame.columns.tolist() == coder.get_feature_names_out().tolist() == names


@pytest.mark.parametrize(
    "parameters",
    [
        {"sparsity": -0.1},
        {"sparsity": "much"},
        {"nonnegative": "yes"},
        {"sparse_output": 2},
        {"n_jobs": 1.5},
        {"dictionary": 3},
    ],
    ids=str,
)
def test_a_coder_refuses_what_it_cannot_use(parameters, samples):
    with pytest.raises(InvalidParameterError, match=next(iter(parameters))):
        SparseCoder(**parameters).fit(samples)


def test_atoms_must_fit_the_samples(samples):
    with pytest.raises(errors.ShapeError, match="expected 64, got 63"):
        SparseCoder(np.ones((2, 63))).fit(samples)
    with pytest.raises(ValueError, match="NaN"):
        SparseCoder(np.full((2, 64), np.nan)).fit(samples)
    with pytest.raises(NotFittedError):
        SparseCoder(np.eye(64)).transform(samples)


def learner(**parameters):
    return DictionaryLearner(
        **{"n_atoms": 30, "sparsity": 1.0, "tol": 1e-5, "max_iter": 300} | parameters
    )


def objective(samples, atoms, sparsity=1.0):
    """The objective of all samples, with exact codes on the atoms, for any learner."""
    codes = SparseCoder(atoms, sparsity=sparsity).fit_transform(samples)
    return costs(samples, atoms, codes, sparsity).sum()


def test_the_attributes_describe_what_was_learnt(samples):
    model = learner().fit(samples)
    terms = model.objective_
    assert terms["total"] == pytest.approx(terms["reconstruction"] + terms["sparsity"])
    # The codes of the last pass were made for the atoms just before the last step.
    assert terms["total"] == pytest.approx(objective(samples, model.components_), rel=1e-3)
    assert model.components_.shape == (30, 64)
    assert model.termination_condition_ == "converged"
    assert model.n_iter_ > 1
    assert model.n_revived_ >= 0
    assert model.n_features_in_ == 64


@pytest.mark.parametrize("sparsity", [0.3, 2.0])
@pytest.mark.parametrize("theirs", [DictionaryLearning, MiniBatchDictionaryLearning])
def test_atoms_are_as_good_as_those_of_scikit_learn(theirs, sparsity, samples):
    some = samples[:150]
    other = theirs(20, alpha=sparsity / 2, fit_algorithm="cd", max_iter=40, random_state=0)
    ours = learner(n_atoms=20, sparsity=sparsity).fit(some)
    best = objective(some, other.fit(some).components_, sparsity)
    assert objective(some, ours.components_, sparsity) <= 1.01 * best


@pytest.mark.parametrize("atom_norm", [0.5, 1.0, 3.0])
def test_atoms_stay_within_their_length(atom_norm, samples):
    lengths = np.linalg.norm(learner(atom_norm=atom_norm).fit(samples).components_, axis=1)
    assert lengths.max() <= atom_norm * (1 + 1e-12)
    # The penalty on codes makes every atom as long as allowed.
    assert lengths.min() >= atom_norm * (1 - 1e-6)


@pytest.mark.parametrize("codes", [False, True])
@pytest.mark.parametrize("atoms", [False, True])
def test_nothing_is_negative_that_must_not_be(codes, atoms, samples):
    # Samples minus their mean have negative entries, which tempt the learner.
    centred = samples - samples.mean(axis=0)
    model = learner(nonnegative_codes=codes, nonnegative_atoms=atoms, tol=1e-3).fit(centred)
    assert (model.components_.min() >= 0) == atoms
    assert (model.transform(centred).min() >= 0) == codes
    model.partial_fit(centred[:100])
    assert (model.components_.min() >= 0) == atoms


def test_the_same_seed_learns_the_same_atoms(samples, same_bits):
    def atoms(**parameters):
        return learner(batch_size=100, tol=1e-3, **parameters).fit(samples).components_

    same_bits(atoms(random_state=3), atoms(random_state=3))
    same_bits(atoms(n_jobs=1), atoms(n_jobs=2))
    same_bits(
        atoms(random_state=np.random.RandomState(3)), atoms(random_state=np.random.RandomState(3))
    )
    assert not np.array_equal(atoms(random_state=3), atoms(random_state=4))


def test_single_precision_stays_single_in_atoms(samples):
    single = learner(tol=1e-3).fit(samples.astype(np.float32))
    assert single.components_.dtype == single.transform(samples).dtype == np.float32
    double = learner(tol=1e-3).fit(samples)
    ours, theirs = (objective(samples, each.components_) for each in (single, double))
    assert ours == pytest.approx(theirs, rel=0.01)


def test_sparse_samples_teach_the_same_atoms(samples, same_bits):
    dense, few = (learner(tol=1e-3).fit(each) for each in (samples, sparse.csr_array(samples)))
    same_bits(dense.components_, few.components_)


def stream(model, samples, passes, size=50):
    generator = np.random.default_rng(0)
    for _ in range(passes):
        for batch in np.split(generator.permutation(len(samples)), len(samples) // size):
            model.partial_fit(samples[batch])
    return model


def test_batches_learn_nearly_what_all_samples_teach(samples):
    whole = objective(samples, learner().fit(samples).components_)
    model = stream(learner(), samples, passes=6)
    assert model.n_iter_ == 36
    assert objective(samples, model.components_) <= 1.03 * whole
    once = stream(learner(), samples, passes=1)
    assert objective(samples, once.components_) <= 1.10 * whole


def test_a_stream_continues_unchanged_after_a_pickle(samples, same_bits):
    through = stream(learner(), samples[:150], passes=1)
    packed = pickle.loads(pickle.dumps(through))
    for model in (through, packed):
        stream(model, samples[150:], passes=1)
    same_bits(through.components_, packed.components_)
    assert through.objective_ == packed.objective_
    assert through.n_iter_ == packed.n_iter_ == 6


def test_a_stream_continues_after_a_fit(samples):
    model = learner().fit(samples[:200])
    before = objective(samples, model.components_)
    model.partial_fit(samples[200:210])
    assert objective(samples, model.components_) <= 1.02 * before


def test_a_batch_with_other_features_is_refused(samples, same_bits):
    model = learner().partial_fit(samples[:100])
    before = model.components_.copy()
    with pytest.raises(ValueError, match="63 features"):
        model.partial_fit(samples[100:, 1:])
    same_bits(model.components_, before)
    model.partial_fit(samples[100:])


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_samples_of_zeros_teach_nothing(way, samples):
    with pytest.raises(errors.SamplesError, match="every sample is zero"):
        getattr(learner(), way)(np.zeros((5, 64)))


def test_too_few_samples_give_fewer_atoms_unless_more_may_come(samples):
    few = np.vstack([np.zeros((5, 64)), samples[:2]])
    with pytest.warns(errors.FitWarning, match="2 atoms instead of 30"):
        assert len(learner().fit(few).components_) == 2
    model = learner().partial_fit(few)
    assert len(model.components_) == 30
    assert objective(samples, stream(model, samples, passes=6).components_) <= 1.05 * objective(
        samples, learner().fit(samples).components_
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_atoms": 0},
        {"n_atoms": 2.5},
        {"sparsity": -1},
        {"nonnegative_codes": "yes"},
        {"nonnegative_atoms": 1.0},
        {"atom_norm": 0},
        {"batch_size": 0},
        {"max_iter": 0},
        {"tol": -1},
        {"random_state": "today"},
    ],
    ids=str,
)
@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_a_learner_refuses_what_it_cannot_use(way, parameters, samples):
    with pytest.raises(InvalidParameterError, match=next(iter(parameters))):
        getattr(DictionaryLearner(**parameters), way)(samples)


def test_a_learner_that_did_not_converge_warns(samples):
    with pytest.warns(ConvergenceWarning, match="limit of passes"):
        learner(max_iter=2, tol=0).fit(samples)


def test_progress_of_a_learner_is_printed_if_asked_for(samples, capsys):
    learner(verbose=1, tol=1e-2).fit(samples)
    assert "[DictionaryLearner] iteration 1 of at most 300" in capsys.readouterr().out


def test_codes_of_learnt_atoms_feed_another_classifier(digits, samples):
    line = make_pipeline(learner(tol=1e-3), LogisticRegression(max_iter=500))
    line.fit(samples, digits["y"])
    new = 5 * digits["new"] / np.linalg.norm(digits["new"], axis=1, keepdims=True)
    assert line.score(new, digits["truth"]) > 0.8


@pytest.mark.parametrize("count", [1, 5, 12])
def test_pursuit_gives_the_codes_of_scikit_learn(count, samples, atoms):
    codes = SparseCoder(atoms, n_nonzero_coefs=count).fit_transform(samples)
    unit = atoms / np.linalg.norm(atoms, axis=1, keepdims=True)
    expected = sparse_encode(samples, unit, algorithm="omp", n_nonzero_coefs=count)
    expected = expected / np.linalg.norm(atoms, axis=1)
    same = ((codes != 0) == (expected != 0)).all(axis=1)
    assert same.mean() > 0.99
    np.testing.assert_allclose(codes[same], expected[same], atol=1e-8)
    assert (codes != 0).sum(axis=1).max() <= count


@pytest.mark.parametrize("update", ["block", "ksvd", "exact-ksvd"])
def test_atoms_are_learnt_with_few_atoms_a_code(update, samples):
    few = {"n_atoms": 40, "n_nonzero_coefs": 4, "update": update}
    with pytest.warns(ConvergenceWarning):
        first = DictionaryLearner(max_iter=1, **few).fit(samples)
    last = DictionaryLearner(max_iter=100, tol=1e-3, **few).fit(samples)
    assert last.objective_["sparsity"] == 0
    assert last.objective_["total"] < 0.9 * first.objective_["total"]
    codes = last.transform(samples)
    assert (codes != 0).sum(axis=1).max() <= 4


def test_parameters_of_pursuit_that_do_not_go_together_are_refused(samples, atoms):
    with pytest.raises(errors.KnobError, match="nonnegative"):
        SparseCoder(atoms, n_nonzero_coefs=3, nonnegative=True).fit(samples)
    with pytest.raises(errors.KnobError, match="n_nonzero"):
        DictionaryLearner(update="ksvd").fit(samples)
    with pytest.raises(errors.KnobError, match="stream"):
        DictionaryLearner(update="ksvd", n_nonzero_coefs=3).partial_fit(samples)
    for wrong in ({"n_nonzero_coefs": 0}, {"update": "svd"}):
        with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
            DictionaryLearner(**wrong).fit(samples)
