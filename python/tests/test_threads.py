"""The interpreter is free while the library works, hears Ctrl-C, and may be forked."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ssdl
from conftest import small

pytestmark = [
    # They look at the clock, so they do not disturb each other.
    pytest.mark.xdist_group("clock"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.fixture(scope="module")
def long():
    """A fit that takes far longer than a second."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((6000, 200))
    y = np.full(6000, -1)
    y[:200] = np.arange(200) % 10
    return X, y


def slow(**parameters):
    return ssdl.SSDLGA(
        n_atoms=400, sparsity=0.01, max_iter=1000, tol=0, coder_tolerance=0, **parameters
    )


@pytest.fixture
def listening():
    """Ctrl-C is heard, even where the tests were started with it ignored: in a script with `&`, or
    by a tool. Python then installs no handler."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


needs_signals = pytest.mark.skipif(
    sys.platform == "win32", reason="signals are sent differently there"
)


@needs_signals
@pytest.mark.parametrize("delay", [0.3, 2.0])
def test_ctrl_c_ends_a_fit_at_once(delay, long, digits, listening):
    asked = []

    def interrupt():
        asked.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    model = slow()
    timer = threading.Timer(delay, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*long)
    # Well below a second, with room for a busy machine.
    assert time.monotonic() - asked[0] < 4.0
    assert not hasattr(model, "classes_")
    # Nothing is left in a state that another fit would mind.
    assert small(ssdl.SSDLGA).fit(digits["X"], digits["few"]).n_iter_ >= 1


# Many parts, of which each takes a moment, and all together far longer than is waited for.
CODING = """
import os, signal, threading, time
import numpy as np
import ssdl

signal.signal(signal.SIGINT, signal.default_int_handler)
X = ssdl.datasets.load_digits().data
atoms = X[:200] / np.linalg.norm(X[:200], axis=1, keepdims=True)
coder = ssdl.SparseCoder(atoms, sparsity=2.0, sparse_output=True).fit(atoms)
many = np.tile(X, (300, 1))
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    coder.transform(many)
except KeyboardInterrupt:
    print("interrupted")
deadline = time.monotonic() + 15
while time.monotonic() < deadline:
    before = time.process_time()
    time.sleep(0.3)
    if time.process_time() - before < 0.1:
        print("idle")
        break
"""


@needs_signals
def test_ctrl_c_ends_coding_with_the_part_at_hand():
    # In a process of its own: a fit that was stopped above may still be ending its step.
    words = [sys.executable, "-c", CODING]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100)
    assert done.stdout.split() == ["interrupted", "idle"], done.stderr


# The signal comes while the fit runs, which takes longer than a look for signals.
IGNORING = """
import os, signal, threading
import ssdl

signal.signal(signal.SIGINT, signal.SIG_IGN)
X, y = ssdl.datasets.load_digits(return_X_y=True)
y[100:] = -1
sent = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
sent.start()
model = ssdl.SSDLGA(n_atoms=100, max_iter=4, tol=0).fit(X, y)
sent.join()
print(model.n_iter_)
"""


@needs_signals
def test_a_fit_goes_on_where_ctrl_c_is_ignored():
    words = [sys.executable, "-W", "ignore", "-c", IGNORING]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100)
    assert done.stdout.split() == ["4"], done.stderr


def test_an_exception_while_reporting_ends_the_fit(long, monkeypatch):
    class Enough(Exception):
        pass

    def report(*_):
        raise Enough

    model = slow(verbose=1)
    monkeypatch.setattr(type(model), "_report", lambda self: report)
    with pytest.raises(Enough):
        model.fit(*long)


def test_other_threads_run_during_a_fit(long):
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    watcher = threading.Thread(target=tick)
    watcher.start()
    started = time.monotonic()
    ssdl.SSDLGA(n_atoms=100, max_iter=2).fit(*long)
    ended = time.monotonic()
    done.set()
    watcher.join()
    during = sum(started < at < ended for at in ticks)
    # A fit that held the interpreter would leave it to the other thread hardly once.
    assert during >= 5 or ended - started < 0.2


def test_fits_run_side_by_side(digits, same_bits):
    def codes(_):
        return small(ssdl.SSDLGA).fit(digits["X"], digits["few"]).codes_

    with ThreadPoolExecutor(4) as pool:
        first, *rest = pool.map(codes, range(4))
    for other in rest:
        same_bits(first, other)


def _load_and_predict(path, X, queue):
    queue.put(ssdl.load(path).predict_proba(X))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_goes_on_working(digits, same_bits, tmp_path):
    # So many numbers that checks, files and copies use several threads, too.
    X, few = np.tile(digits["X"], (6, 1)), np.full(1800, -1)
    few[:300] = digits["few"]
    model = small(ssdl.SSDLGA, max_iter=2, calibrate=False, n_jobs=2).fit(X, few)
    model.save(tmp_path / "model.ssdl")
    model = ssdl.load(tmp_path / "model.ssdl")
    expected = model.predict_proba(digits["new"])
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(
        target=_load_and_predict, args=(tmp_path / "model.ssdl", digits["new"], queue)
    )
    child.start()
    same_bits(queue.get(timeout=60), expected)
    child.join(timeout=60)
    assert child.exitcode == 0
