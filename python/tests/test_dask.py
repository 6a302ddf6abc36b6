"""Fits on a cluster: nearly the local fit, whoever does the work and whoever is lost meanwhile."""

import os
import pickle
import signal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

import ssdl
from ssdl import _division, _forest, _parts, _ssdl, errors
from ssdl.progress import watching

pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
from distributed import Client, LocalCluster  # noqa: E402

from ssdl.dask import DaskSSDLGA, DaskUSSDL  # noqa: E402

# One cluster at a time: they share the machine.
pytestmark = [
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
]

PARAMETERS = {"n_atoms": 40, "max_iter": 5, "tol": 0.0, "calibrate": False, "random_state": 3}
QUICK = PARAMETERS | {"max_iter": 2}


def cluster(n_workers):
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=None, processes=True
    )


@pytest.fixture(scope="module")
def client():
    with cluster(2) as workers, Client(workers) as client:
        yield client


@pytest.fixture(scope="module")
def data():
    """Digits of which one in fifteen is labelled; chunks of different sizes, one of them empty."""
    X, truth = load_digits(return_X_y=True)
    y = truth.copy()
    y[np.arange(len(y)) % 15 != 0] = -1
    return X.astype(np.float32), y, truth


def chunked(X, sizes=(400, 0, 900, 497)):
    rest = X.shape[1:]
    return da.from_array(X, chunks=(sizes, *((size,) for size in rest)))


@pytest.fixture(scope="module")
def local(data):
    X, y, _ = data
    return ssdl.SSDLGA(**PARAMETERS).fit(X, y)


@pytest.fixture(scope="module")
def distributed(client, data):
    X, y, _ = data
    return DaskSSDLGA(client, n_parts=3, **PARAMETERS).fit(chunked(X), chunked(y))


def same_model(a, b):
    a, b = a.to_local(), b.to_local()
    assert np.array_equal(a.components_, b.components_)
    assert np.array_equal(a.codes_, b.codes_)
    assert np.array_equal(a.coef_, b.coef_)


def test_a_fit_on_workers_is_nearly_the_local_one(distributed, local, data):
    _, y, truth = data
    ratio = distributed.to_local().objective_["total"] / local.objective_["total"]
    assert abs(ratio - 1) < 0.005
    unlabelled = y == -1
    here = np.mean(local.transduction_[unlabelled] == truth[unlabelled])
    there = np.mean(distributed.transduction_[unlabelled] == truth[unlabelled])
    assert abs(here - there) <= 0.003


def test_a_sample_on_the_driver_changes_nothing_but_the_model_that_is_kept(
    client, data, monkeypatch
):
    X, y, _ = data
    # All labelled samples are atoms, and they are the same on the driver.
    n_labelled = int(np.sum(y != -1))
    parameters = PARAMETERS | {"n_atoms": n_labelled, "prepare": "scale=5", "neighbours": "exact"}
    here = ssdl.SSDLGA(**parameters).fit(X, y)
    monkeypatch.setattr(_division, "ALL_UP_TO", 600)
    monkeypatch.setattr(_division, "LANDMARKS", 200)
    there = DaskSSDLGA(client, n_parts=1, **parameters).fit(chunked(X), chunked(y))
    kept = there.to_local()
    assert len(kept.transduction_) < 400 < len(there.transduction_)
    assert kept.objective_["total"] == pytest.approx(here.objective_["total"], rel=1e-5)
    assert np.mean(there.transduction_ == here.transduction_) > 0.998


def test_the_same_parts_give_the_same_bits_on_any_number_of_workers(distributed, data):
    X, y, _ = data
    with cluster(4) as workers, Client(workers) as other:
        again = DaskSSDLGA(other, n_parts=3, **PARAMETERS).fit(chunked(X), chunked(y))
        same_model(distributed, again)


def test_a_worker_that_is_killed_costs_nothing_but_time(distributed, data):
    X, y, _ = data
    with cluster(2) as workers, Client(workers) as client:
        processes = list(client.run(os.getpid).values())
        killed = []

        def kill(progress):
            if progress.iteration == 2 and not killed:
                killed.append(processes[0])
                os.kill(processes[0], signal.SIGKILL)

        with watching(kill):
            model = DaskSSDLGA(client, n_parts=3, **PARAMETERS).fit(chunked(X), chunked(y))
        assert killed and killed[0] not in client.run(os.getpid).values()
        same_model(distributed, model)


def test_a_fit_goes_on_from_its_checkpoint_after_the_driver_died(
    distributed, client, data, tmp_path
):
    X, y, _ = data
    folder = str(tmp_path / "kept")

    def estimator():
        return DaskSSDLGA(client, n_parts=3, checkpoint=folder, checkpoint_every=2, **PARAMETERS)

    class Died(Exception):
        pass

    def die(progress):
        if progress.iteration == 3:
            raise Died

    with watching(die), pytest.raises(Died):
        estimator().fit(chunked(X), chunked(y))
    assert (tmp_path / "kept" / "progress.json").exists()
    seen = []
    with watching(seen.append):
        model = estimator().fit(chunked(X), chunked(y))
    assert min(each.iteration for each in seen if each.iteration) >= 2
    same_model(distributed, model)
    assert not list((tmp_path / "kept").iterdir())


def test_chunks_may_stay_where_they_lie(client, data):
    X, y, _ = data
    model = DaskSSDLGA(client, division="chunks", **QUICK).fit(chunked(X), chunked(y))
    whole = ssdl.SSDLGA(**QUICK).fit(X, y)
    ratio = model.to_local().objective_["total"] / whole.objective_["total"]
    # Parts at random: more codes travel, and each iteration gains less.
    assert abs(ratio - 1) < 0.02


class Here:
    """A client that does its tasks at once, in this process."""

    def submit(self, task, *arguments, **_):
        return task(*arguments)

    def gather(self, found):
        return found


def test_a_forest_over_parts_finds_nearly_all_neighbours(data):
    X, _, _ = data
    k, n_parts, total = 8, 12, len(data[0])
    of_part = _ssdl.part_of(X, _ssdl.part_cuts(X, n_parts, None, 1))
    order = np.argsort(of_part, kind="stable")
    starts = [0, *np.cumsum(np.bincount(of_part, minlength=n_parts)).tolist()]
    pieces = [
        _parts.Piece(X[order[start:stop]], np.empty(0, int), np.empty(0, int))
        for start, stop in zip(starts, starts[1:], strict=False)
    ]

    def recall(trees):
        some = X[::3].copy()
        forest = [(_ssdl.part_cuts(some, n_parts, tree, 1), n_parts) for tree in range(trees)]
        found = np.concatenate(_forest.search(Here(), pieces, starts, forest, (k, False, 1)))
        assert found.shape == (total, k) and (found >= 0).all() and (found < total).all()
        own = np.arange(total)[:, None]
        assert (found != own).all()
        assert all(len(set(row)) == k for row in found.tolist())
        distances = ((X[order[found]] - X[order[own]]) ** 2).sum(axis=2)
        assert (np.diff(distances, axis=1) >= 0).all()
        farthest = true[0][:, -1:]
        return np.mean(distances <= farthest), found

    true = _ssdl.part_neighbours(X[order], None, k, False, 1)
    share, found = recall(8)
    assert share > 0.99
    assert np.array_equal(found, recall(8)[1])
    # The parts alone find fewer.
    assert recall(0)[0] < share


def test_lists_of_a_forest_are_merged_and_filled():
    nothing = np.inf
    some = _parts.Lists(np.array([[1.0, 3.0], [2.0, nothing]]), np.array([[5, 7], [4, -1]]))
    more = _parts.Lists(np.array([[1.0, 1.0], [2.0, nothing]]), np.array([[5, 2], [4, -1]]))
    best = _forest.best([some, more], 3)
    assert best.places.tolist() == [[2, 5, 7], [4, -1, -1]]
    assert best.distances.tolist() == [[1.0, 1.0, 3.0], [2.0, nothing, nothing]]
    # Sample 9 has but one neighbour: the places after it follow, never itself or one twice.
    assert _forest.filled(best, 3, 8, 12).tolist() == [[2, 5, 7], [4, 10, 11]]
    assert _forest.filled(best, 3, 2, 5).tolist() == [[2, 5, 7], [4, 0, 1]]
    assert _forest.best([some], 3).places.tolist() == [[5, 7, -1], [4, -1, -1]]


def test_parts_that_a_forest_connects(client, data, monkeypatch):
    X, y, _ = data
    estimator = DaskSSDLGA(client, n_parts=4, **QUICK)
    every = estimator.fit(chunked(X), chunked(y)).to_local().objective_["total"]
    monkeypatch.setattr(_division, "EVERY_PART_UP_TO", 0)
    monkeypatch.setattr(_forest, "TREES", 2)
    some = estimator.fit(chunked(X), chunked(y)).to_local().objective_["total"]
    assert some != every and abs(some / every - 1) < 0.002
    # Asked for exact neighbours, every part searches every other.
    exact = estimator.set_params(neighbours="exact").fit(chunked(X), chunked(y)).to_local()
    assert exact.objective_["total"] == every
    # Few parts search each other faster.
    assert _division.forest(X, len(X), 3, 1) == []


def test_without_a_graph(client, data):
    X, y, truth = data
    model = DaskUSSDL(client, n_parts=2, **QUICK).fit(chunked(X), y)
    whole = ssdl.USSDL(**QUICK).fit(X, y)
    assert abs(model.to_local().objective_["total"] / whole.objective_["total"] - 1) < 0.005
    assert abs(model.score(chunked(X), truth) - whole.score(X, truth)) < 0.01


def test_predictions_are_lazy_and_those_of_the_local_estimator(distributed, data):
    X, _, truth = data
    new, here = chunked(X), distributed.to_local()
    predicted = distributed.predict(new)
    assert hasattr(predicted, "dask") and predicted.chunks == (new.chunks[0],)
    assert np.array_equal(predicted.compute(), here.predict(X))
    assert np.array_equal(distributed.predict_proba(new).compute(), here.predict_proba(X))
    codes = distributed.transform(new)
    assert codes.shape == (len(X), 40)
    assert np.array_equal(codes.compute(), here.transform(X))
    assert np.array_equal(distributed.predict(X[:9]), here.predict(X[:9]))
    assert distributed.score(new, chunked(truth)) == pytest.approx(here.score(X, truth))
    picked = distributed.query(5, new)
    assert len(set(picked.tolist())) == 5 and picked.max() < len(X)


def test_data_frames(client, data):
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    X, y, _ = data
    names = [f"pixel {at}" for at in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names)
    some = frames.from_pandas(frame, npartitions=3)
    labels = frames.from_pandas(pandas.Series(y).where(y >= 0), npartitions=3)
    model = DaskSSDLGA(client, n_parts=2, **QUICK).fit(some, labels)
    assert list(model.to_local().feature_names_in_) == names
    assert np.array_equal(model.predict(some).compute(), model.to_local().predict(frame))


def test_the_model_file_is_the_ordinary_one(distributed, data, tmp_path):
    X, _, _ = data
    distributed.to_local().save(tmp_path / "model.ssdl")
    loaded = ssdl.load(tmp_path / "model.ssdl")
    assert np.array_equal(loaded.predict(X[:50]), distributed.to_local().predict(X[:50]))
    copied = pickle.loads(pickle.dumps(distributed))
    assert np.array_equal(copied.predict(X[:50]), loaded.predict(X[:50]))


def test_labels_that_only_some_chunks_have(client, data):
    X, _, truth = data
    y = np.full(len(truth), None, dtype=object)
    names = np.array([f"digit {value}" for value in truth], dtype=object)
    y[:300:4] = names[:300:4]
    y[:400][truth[:400] == 9] = None
    # The last chunk alone has labels of one class; the chunk before it has none.
    last = 1300 + np.flatnonzero(truth[1300:] == 9)[:5]
    y[last] = names[last]
    model = DaskSSDLGA(client, n_parts=2, **QUICK).fit(chunked(X), chunked(y))
    assert model.classes_.tolist() == [f"digit {at}" for at in range(10)]
    assert set(model.predict(chunked(X)).compute()) <= set(model.classes_)


def test_what_is_wrong_is_named_with_its_place(client, data):
    X, y, _ = data
    estimator = DaskSSDLGA(client, n_parts=2, **PARAMETERS)
    hole = X.copy()
    hole[412, 7] = np.nan
    with pytest.raises(errors.NotFiniteError, match="chunk 2, row 12, column 7"):
        estimator.fit(chunked(hole), y)
    parts = [dask.delayed(X[:900]), dask.delayed(X[900:, :60])]
    blocks = [
        da.from_delayed(part, shape=(size, 64), dtype=X.dtype)
        for part, size in zip(parts, (900, 897), strict=True)
    ]
    with pytest.raises(errors.ShapeError, match="chunk 1 has 60 features.* 64"):
        estimator.fit(da.concatenate(blocks), y)
    with pytest.raises(errors.LabelsError, match="1797 samples, but there are 5 labels"):
        estimator.fit(chunked(X), y[:5])
    with pytest.raises(errors.LabelsError, match="no sample is labelled"):
        estimator.fit(chunked(X), np.full(len(X), np.nan))
    with pytest.raises(errors.SsdlError, match="local estimator"):
        estimator.fit(X, y)
    with pytest.raises(errors.KnobError, match="`graph`"):
        DaskSSDLGA(client, graph="heat", **PARAMETERS).fit(chunked(X), y)
    with pytest.raises(errors.KnobError, match="division"):
        DaskSSDLGA(client, division="none", **PARAMETERS).fit(chunked(X), y)


def test_workers_of_another_version_are_refused(client, data):
    X, y, _ = data

    def pretend(version):
        import ssdl._public

        ssdl._public.__version__, before = version, ssdl._public.__version__
        return before

    worker = next(iter(client.scheduler_info()["workers"]))
    before = client.run(pretend, "0.0.1", workers=[worker])[worker]
    try:
        with pytest.raises(errors.SsdlError, match=r"has ssdl 0\.0\.1, this process"):
            DaskSSDLGA(client, **PARAMETERS).fit(chunked(X), y)
    finally:
        client.run(pretend, before, workers=[worker])


def test_parameters_are_those_of_the_local_estimator():
    estimator = DaskSSDLGA(n_parts=4, n_atoms=50)
    assert {**estimator.get_params()}.keys() >= ssdl.SSDLGA().get_params().keys()
    copied = clone(estimator)
    assert copied.get_params()["n_atoms"] == 50 and copied.n_parts == 4
    with pytest.raises(TypeError, match="'atoms'"):
        DaskSSDLGA(atoms=3)
