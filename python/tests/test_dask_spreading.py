"""Label spreading on a cluster: the local fit, wherever the samples lie and whoever is lost."""

import os
import pickle
import signal

import numpy as np
import pytest

import ssdl
from ssdl import errors

pytest.importorskip("distributed")
from distributed import Client  # noqa: E402

from ssdl._crew import DaskCrew  # noqa: E402
from ssdl.dask import DaskLabelSpreading  # noqa: E402
from test_dask import chunked as in_chunks  # noqa: E402
from test_dask import client as client  # noqa: E402
from test_dask import cluster  # noqa: E402
from test_dask import data as every  # noqa: E402, F401

pytestmark = [
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
]

# Nearer neighbours and fewer digits: fewer rounds of tasks.
PARAMETERS = {"calibrate": False, "random_state": 3, "tol": 1e-4, "spreading": 0.5}
SIZES = (300, 0, 350, 250)


@pytest.fixture(scope="module")
def data(every):  # noqa: F811
    """Half of the digits: a round of tasks takes longer than what it computes."""
    X, _, truth = every
    y = truth[:900].copy()
    y[np.arange(900) % 12 != 0] = -1
    return X[:900], y, truth[:900]


def chunked(values):
    return in_chunks(values, SIZES)


@pytest.fixture(scope="module")
def spread(client, data):
    X, y, _ = data
    return DaskLabelSpreading(client, n_parts=3, **PARAMETERS).fit(chunked(X), chunked(y))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"kernel": "neighbours", "clamp": True},
        {"balance": 0.5, "class_weight": "balanced"},
    ],
)
def test_labels_spread_over_parts_as_over_all_samples(client, data, parameters):
    X, y, truth = data
    here = ssdl.LabelSpreading(**PARAMETERS, **parameters).fit(X, y)
    there = DaskLabelSpreading(client, n_parts=3, **PARAMETERS, **parameters)
    there.fit(chunked(X), chunked(y))
    found = there.to_local()
    # The same graph but for neighbours at the same distance, and the same system within rounding.
    shares = np.abs(found.label_distributions_ - here.label_distributions_).max(axis=1)
    assert np.mean(shares > 0.005) < 0.01
    unlabelled = y == -1
    right = np.mean(here.transduction_[unlabelled] == truth[unlabelled])
    assert abs(np.mean(there.transduction_[unlabelled] == truth[unlabelled]) - right) <= 0.003
    assert abs(there.score(chunked(X), truth) - here.score(X, truth)) <= 0.003
    assert found.objective_["total"] == pytest.approx(here.objective_["total"], rel=1e-3)
    assert np.array_equal(there.transduction_, found.transduction_)


def test_a_killed_worker_and_other_workers_give_the_same_bits(spread, data, monkeypatch):
    X, y, _ = data
    with cluster(3) as workers, Client(workers) as other:
        processes = list(other.run(os.getpid).values())
        take, steps = DaskCrew.step, []

        def kill(crew, *arguments):
            steps.append(arguments)
            if len(steps) == 12:
                os.kill(processes[0], signal.SIGKILL)
            return take(crew, *arguments)

        monkeypatch.setattr(DaskCrew, "step", kill)
        again = DaskLabelSpreading(other, n_parts=3, **PARAMETERS).fit(chunked(X), chunked(y))
        assert len(steps) > 20 and processes[0] not in other.run(os.getpid).values()
    both = (again.to_local().label_distributions_, spread.to_local().label_distributions_)
    assert np.array_equal(*both)


def test_predictions_are_lazy_and_those_of_the_local_estimator(spread, data, tmp_path):
    X, _, truth = data
    new, here = chunked(X), spread.to_local()
    predicted = spread.predict(new)
    assert hasattr(predicted, "dask") and np.array_equal(predicted.compute(), here.predict(X))
    assert np.array_equal(spread.predict_proba(new).compute(), here.predict_proba(X))
    assert spread.score(new, chunked(truth)) == pytest.approx(here.score(X, truth))
    assert not hasattr(spread, "transform")
    here.save(tmp_path / "model.ssdl")
    loaded = ssdl.load(tmp_path / "model.ssdl")
    assert isinstance(loaded, ssdl.LabelSpreading)
    assert np.array_equal(loaded.predict(X[:50]), here.predict(X[:50]))
    copied = pickle.loads(pickle.dumps(spread))
    assert np.array_equal(copied.predict(X[:50]), here.predict(X[:50]))


def test_a_sample_stands_for_all_where_the_driver_cannot_hold_them(client, data, monkeypatch):
    from ssdl import _division

    X, y, truth = data
    monkeypatch.setattr(_division, "ALL_UP_TO", 600)
    monkeypatch.setattr(_division, "LANDMARKS", 400)
    model = DaskLabelSpreading(client, n_parts=2, **PARAMETERS).fit(chunked(X), chunked(y))
    assert len(model.to_local().transduction_) < 600 < len(model.transduction_)
    here = ssdl.LabelSpreading(**PARAMETERS).fit(X, y)
    right = np.mean(here.transduction_ == truth)
    assert abs(np.mean(model.transduction_ == truth) - right) < 0.02
    assert model.score(chunked(X), truth) > right - 0.1


def test_chunks_without_labels_and_samples_that_no_label_reaches(client, data):
    X, y, _ = data
    apart = X.copy()
    apart[650:] += 1000
    some = np.where(np.arange(len(y)) < 650, y, -1)
    model = DaskLabelSpreading(client, division="chunks", **PARAMETERS)
    with pytest.warns(errors.FitWarning, match=r"no label reaches \d+ of 900") as there:
        model.fit(chunked(apart), chunked(some))
    with pytest.warns(errors.FitWarning, match="no label reaches") as alone:
        here = ssdl.LabelSpreading(**PARAMETERS).fit(apart, some)
    assert [str(each.message) for each in there] == [str(each.message) for each in alone]
    assert np.array_equal(model.transduction_[650:], here.transduction_[650:])


def test_checkpoints_are_refused(client, data, tmp_path):
    X, y, _ = data
    estimator = DaskLabelSpreading(client, checkpoint=str(tmp_path), **PARAMETERS)
    with pytest.raises(errors.KnobError, match="checkpoint"):
        estimator.fit(chunked(X), chunked(y))
