"""How much memory a call takes, as measured by the operating system in a separate process."""

import subprocess
import sys

import numpy as np
import pytest

import ssdl

resource = pytest.importorskip("resource")
# One after another: each takes several hundred megabytes.
pytestmark = pytest.mark.xdist_group("memory")

# A warm-up call comes first; samples are 200 MB, in C order.
SCRIPT = """
import resource, sys, warnings
import numpy as np
from ssdl import *

def peak():
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most

def predict_all(X):
    for model in models:
        (model.predict if hasattr(model, "predict") else model.transform)(X)

warnings.simplefilter("ignore")
some = np.random.default_rng(0).standard_normal((200, 500))
labels = np.resize([0, 1, -1, -1], 200)
models = [model.fit(some, labels) for model in [{models}]]
predict_all(some)
samples = np.tile(some, (250, 1))
few = np.concatenate([labels, np.full(len(samples) - 200, -1)])
before = peak()
{call}
print((peak() - before) / samples.nbytes)
"""


def rise(models, call):
    """Rise of the peak, as a fraction of the bytes of the samples."""
    script = SCRIPT.format(models=models, call=call)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def test_samples_are_predicted_part_by_part():
    models = "Ridge(prepare=()), LinearSVM(), USSDL(n_atoms=20, max_iter=2)"
    coder = "SparseCoder(some, sparsity=40, sparse_output=True)"
    # About 0.1: parts of 8 MB, and the predictions. Dense codes alone would take 0.4.
    assert rise(f"{models}, {coder}", "predict_all(samples)") < 0.25


@pytest.mark.parametrize("model", ["Ridge(prepare=())", "LinearSVM()"])
def test_a_fit_copies_the_samples_once(model):
    # About 1.0: the model keeps the prepared samples. One more copy on the way would make it 2.
    assert rise(model, "models[0].fit(samples, few)") < 1.4


@pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning")
def test_samples_may_stay_on_the_disk(tmp_path, digits, same_bits):
    path = tmp_path / "samples.npy"
    np.save(path, digits["X"])
    written = path.read_bytes()
    mapped = np.load(path, mmap_mode="r")
    mapped_model, model = (ssdl.LinearSVM().fit(X, digits["few"]) for X in (mapped, digits["X"]))
    same_bits(mapped_model.predict_proba(mapped), model.predict_proba(digits["X"]))
    for call in (ssdl.Preparation().fit_transform, ssdl.graphs.nearest_neighbors):
        same_bits(call(mapped), call(digits["X"]))
    assert path.read_bytes() == written
