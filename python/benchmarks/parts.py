"""Measure fits on a Dask cluster of this machine against the local fit; print Markdown.

Usage: python python/benchmarks/parts.py DATA [--samples N ...] [--iterations N] [--parts N ...]
       python python/benchmarks/parts.py DATA --forest PARTS ... [--samples N ...]

DATA is the folder with mnist/. What a cluster costs and how near it comes to the local fit, and
twice the samples on twice the workers; or how many of the true neighbours a forest over parts
finds. Workers are processes with one thread each: take a quiet machine with a core for each.
"""

import argparse
import itertools
import time
import warnings

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from sklearn.exceptions import ConvergenceWarning

import ssdl
from ssdl import _forest, _parts, _ssdl
from ssdl.dask import DaskSSDLGA
from ssdl.datasets import load_mnist

LABELS = 20
CHUNK = 5000


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def problem(X, truth, count):
    """The first samples, of which the first of each class are labelled."""
    X, truth = X[:count], truth[:count]
    y = np.full(count, -1)
    for label in np.unique(truth):
        own = np.flatnonzero(truth == label)[:LABELS]
        y[own] = label
    return X, y, truth


def judged(model, transduction, data, new, seconds):
    """What a fit took and reached."""
    _, y, truth = data
    unlabelled = y == -1
    return {
        "seconds": seconds,
        "objective": model.objective_["total"],
        "unlabelled": 100 * np.mean(transduction[unlabelled] == truth[unlabelled]),
        "new": 100 * model.score(*new),
    }


def local(data, new, parameters, threads):
    started = time.perf_counter()
    model = ssdl.SSDLGA(**parameters, n_jobs=threads).fit(*data[:2])
    seconds = time.perf_counter() - started
    return judged(model, model.transduction_, data, new, seconds)


def on_workers(data, new, parameters, n_workers, n_parts):
    """The fit alone is timed; the samples lie on the workers before."""
    X, y, _ = data
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as workers,
        Client(workers) as client,
    ):
        samples = da.from_array(X, chunks=(CHUNK, -1)).persist()
        wait(samples)
        started = time.perf_counter()
        model = DaskSSDLGA(client, n_parts=n_parts, **parameters, n_jobs=1).fit(samples, y)
        seconds = time.perf_counter() - started
        return judged(model.to_local(), model.transduction_, data, new, seconds)


def row(name, found, whole):
    above = 100 * (found["objective"] / whole["objective"] - 1)
    return [
        name,
        f"{found['seconds']:.1f}",
        f"{found['seconds'] / whole['seconds']:.2f}",
        f"{above:+.2f} %",
        f"{found['unlabelled']:.2f} ({found['unlabelled'] - whole['unlabelled']:+.2f})",
        f"{found['new']:.2f} ({found['new'] - whole['new']:+.2f})",
    ]


def overhead(X, truth, new, parameters, counts, parts):
    head = ["fit", "seconds", "of local", "objective", "unlabelled right", "new right"]
    for count in counts:
        data = problem(X, truth, count)
        whole = local(data, new, parameters, 1)
        rows = [row("local, one thread", whole, whole)]
        rows.append(row("one worker, one part", on_workers(data, new, parameters, 1, 1), whole))
        rows.append(row("local, two threads", local(data, new, parameters, 2), whole))
        for n_parts in parts:
            found = on_workers(data, new, parameters, 2, n_parts)
            rows.append(row(f"two workers, {n_parts} parts", found, whole))
        print(f"\n{count:,} samples\n\n{table(head, rows)}", flush=True)


def weak_scaling(X, truth, new, parameters, count):
    rows = []
    for n_workers in (1, 2):
        data = problem(X, truth, count * n_workers)
        found = on_workers(data, new, parameters, n_workers, n_workers)
        rows.append([n_workers, f"{count * n_workers:,}", f"{found['seconds']:.1f}"])
    print(f"\n{table(['workers and parts', 'samples', 'seconds'], rows)}", flush=True)


def forest(X, count, n_parts, k=10, asked=500):
    """Recall of the search over parts, with all its steps in this process."""
    X = X[:count]
    of_part = _ssdl.part_of(X, _ssdl.part_cuts(X, n_parts, None, 1))
    X = np.ascontiguousarray(X[np.argsort(of_part, kind="stable")])
    starts = [0, *np.cumsum(np.bincount(of_part, minlength=n_parts)).tolist()]
    none = np.empty(0, np.int64)
    pieces = [
        _parts.Piece(X[start:stop], none, none)
        for start, stop in zip(starts, starts[1:], strict=False)
    ]
    some = np.arange(0, count, max(1, count // asked))
    _, true = _ssdl.part_neighbours(X, X[some], k + 1, False, 1)
    few = np.ascontiguousarray(X[:: max(1, count // 10_000)])
    rows = []
    for trees, rounds in [(0, 0), (4, 0), (4, 1), (8, 0), (8, 1)]:
        planted = [(_ssdl.part_cuts(few, n_parts, tree, 1), n_parts) for tree in range(trees)]
        _forest.ROUNDS = rounds
        started = time.process_time()
        found = _forest.search(Here(), pieces, starts, planted, (k, count > 20_000, 1))
        seconds = time.process_time() - started
        pairs = zip(true, np.concatenate(found)[some], some, strict=True)
        right = [len((set(near.tolist()) - {own}) & set(got.tolist())) for near, got, own in pairs]
        recall = sum(right) / (k * len(some))
        rows.append([f"{count:,}", n_parts, trees, rounds, f"{recall:.4f}", f"{seconds:.1f}"])
    head = ["samples", "parts", "trees", "rounds", "recall", "processor seconds"]
    print(f"\n{table(head, rows)}", flush=True)


class Here:
    """A client that does its tasks at once, in this process."""

    def submit(self, task, *arguments, **_):
        return task(*arguments)

    def gather(self, found):
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--samples", type=int, nargs="*", default=[20_000, 60_000])
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--parts", type=int, nargs="*", default=[2, 4])
    parser.add_argument(
        "--forest",
        type=int,
        nargs="*",
        default=[],
        help="measure the search over so many parts instead",
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, truth = load_mnist("train", data_home=given.data, return_X_y=True)
    X = np.ascontiguousarray(X, dtype=np.float32)
    if given.forest:
        for count, n_parts in itertools.product(given.samples, given.forest):
            forest(X, count, n_parts)
        return
    test = load_mnist("test", data_home=given.data, return_X_y=True)
    new = (np.ascontiguousarray(test[0], dtype=np.float32), test[1])
    parameters = {
        "n_atoms": 200,
        "max_iter": given.iterations,
        "tol": 0.0,
        "prepare": "scale=5",
        "calibrate": False,
        "random_state": 0,
    }
    overhead(X, truth, new, parameters, given.samples, given.parts)
    weak_scaling(X, truth, new, parameters, max(given.samples) // 2)


if __name__ == "__main__":
    main()
