"""Compare the installed package with scikit-learn and SPAMS; print Markdown.

Usage: python python/benchmarks/measure.py DATA [SECTION ...]

DATA is the folder with usps/ and mnist/. What is compared runs alternately in one process, and
the median of its runs counts. `cargo xtask bench --python` installs what is needed and calls this.
"""

import json
import os
import sys
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import MiniBatchDictionaryLearning, sparse_encode
from sklearn.neighbors import NearestNeighbors
from sklearn.semi_supervised import LabelSpreading
from threadpoolctl import threadpool_limits

import ssdl
from ssdl.datasets import load_mnist, load_usps

try:
    import spams
except ImportError:
    spams = None

SPLITS = Path(__file__).parents[2] / "experiments" / "splits"
# As published, where they differ from the defaults.
KNOBS = {
    "usps": {},
    "mnist": {"sparsity": 0.5, "manifold": 1, "discrimination": 1, "ridge": 2, "sharpness": 2},
}


def alternate(works, runs):
    """Run the functions alternately: median seconds and last result of each."""
    seconds, results = {name: [] for name in works}, {}
    for _ in range(runs):
        for name, work in works.items():
            started = time.perf_counter()
            results[name] = work()
            seconds[name].append(time.perf_counter() - started)
    return {name: float(np.median(times)) for name, times in seconds.items()}, results


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def all_digits(name):
    if name == "mnist":
        return load_mnist(return_X_y=True)
    parts = [load_usps(subset, return_X_y=True) for subset in ("train", "test")]
    return tuple(np.concatenate(both) for both in zip(*parts, strict=True))


def fits():
    """What Python adds to a fit: its wall-clock time against the library's own."""
    rows = []
    for name in ("usps", "mnist"):
        X, y = all_digits(name)
        runs = json.loads((SPLITS / f"{name}.json").read_text(encoding="utf-8"))["runs"]
        for dtype in (np.float32, np.float64):
            walls, owns = [], []
            for run in runs:
                chosen = np.concatenate([run["labelled"], run["unlabelled"]])
                samples = X[chosen].astype(dtype)
                few = y[chosen].copy()
                few[len(run["labelled"]) :] = -1
                model = ssdl.SSDLGA(**KNOBS[name], random_state=run["seed"])
                both = []
                for _ in range(7):
                    started = time.perf_counter()
                    model.fit(samples, few)
                    both.append((time.perf_counter() - started, model._model.seconds))
                wall, own = np.median(both, axis=0)
                walls.append(wall)
                owns.append(own)
            wall, own = np.mean(walls), np.mean(owns)
            rows.append(
                [
                    name.upper(),
                    np.dtype(dtype).name,
                    len(runs),
                    f"{wall:.4f}",
                    f"{own:.4f}",
                    f"{100 * (wall / own - 1):.1f} %",
                ]
            )
    head = ["data", "numbers", "splits", "SSDLGA.fit, s", "library, s", "more"]
    return (
        "### A fit from Python\n\nThe published splits, one thread; `SSDLGA.fit` from call to "
        "return (checks, copy, threads) against the time measured by the library inside it: "
        "medians of seven fits, averaged over the splits.\n\n" + table(head, rows)
    )


def coding_problem():
    """USPS, atoms learnt on it, and the sparsity at which about 24 of 200 atoms are used."""
    X = unit(all_digits("usps")[0][:7291])
    atoms = ssdl.DictionaryLearner(200, sparsity=0.08, max_iter=10).fit(X).components_
    return X, atoms, 0.07


def sparse_coding():
    X, atoms, sparsity = coding_problem()
    rows = []
    for dtype in (np.float64, np.float32):
        for threads in (1, 2):
            rows += coding_rows(X.astype(dtype), atoms.astype(dtype), sparsity, threads)
    head = ["numbers", "threads", "", "signals per second", "ours is", "nonzeros", "objective"]
    return (
        "### Sparse coding\n\nThe lasso for 7,291 samples of USPS (256 features, unit length) on "
        "200 atoms learnt from them; medians of five runs. scikit-learn's coders work on the "
        "first 1,000, at their default tolerance, on one thread. The objective is that of the "
        "coded samples, relative to ours on the same samples.\n\n" + table(head, rows)
    )


def coding_rows(X, atoms, sparsity, threads):
    coder = ssdl.SparseCoder(atoms, sparsity=sparsity, sparse_output=True, n_jobs=threads).fit(
        X[:1]
    )
    few = X[:1000]
    works = {
        "ssdl": lambda: coder.transform(X),
        "scikit-learn lasso_cd": lambda: sparse_encode(
            few, atoms, algorithm="lasso_cd", alpha=sparsity / 2, n_jobs=1
        ),
        "scikit-learn lasso_lars": lambda: sparse_encode(
            few, atoms, algorithm="lasso_lars", alpha=sparsity / 2, n_jobs=1
        ),
    }
    if spams is not None:
        columns, basis = np.asfortranarray(X.T), np.asfortranarray(atoms.T)
        lars = {"lambda1": sparsity / 2, "mode": 2, "numThreads": threads}
        works["SPAMS lasso"] = lambda: spams.lasso(columns, D=basis, **lars).T
    with threadpool_limits(threads):
        seconds, codes = alternate(works, 5)
    codes = {name: some.toarray() if issparse(some) else some for name, some in codes.items()}

    def objective(some):
        residual = X[: len(some)].astype(np.float64) - some.astype(np.float64) @ atoms
        return (residual**2).sum() + sparsity * np.abs(some, dtype=np.float64).sum()

    rate = {name: len(codes[name]) / seconds[name] for name in works}
    return [
        [
            X.dtype.name,
            threads if "scikit" not in name else 1,
            name,
            f"{rate[name]:,.0f}",
            f"{rate['ssdl'] / rate[name]:.1f} times" if name != "ssdl" else "",
            f"{np.count_nonzero(codes[name]) / len(codes[name]):.1f}",
            f"{objective(codes[name]) / objective(codes['ssdl'][: len(codes[name])]) - 1:+.1e}",
        ]
        for name in works
    ]


def pursuit():
    """Orthogonal matching pursuit with ten atoms."""
    X, atoms, _ = coding_problem()
    atoms = atoms / np.linalg.norm(atoms, axis=1, keepdims=True)
    rows = []
    for dtype in (np.float64, np.float32):
        for threads in (1, 2):
            rows += pursuit_rows(X.astype(dtype), atoms.astype(dtype), threads)
    head = ["numbers", "threads", "", "signals per second", "ours is", "residual"]
    return (
        "### Orthogonal matching pursuit\n\n7,291 samples of USPS (256 features, unit length) on "
        "200 atoms learnt from them, ten atoms in each code; medians of five runs. scikit-learn "
        "works on the first 1,000, on one thread. The residual is relative to ours on the same "
        "samples; SPAMS takes the atom that lowers the residual most, another greedy rule.\n\n"
        + table(head, rows)
    )


def pursuit_rows(X, atoms, threads, count=10):
    coder = ssdl.SparseCoder(atoms, n_nonzero_coefs=count, sparse_output=True, n_jobs=threads)
    coder.fit(X[:1])
    few = X[:1000]
    works = {
        "ssdl": lambda: coder.transform(X),
        "scikit-learn omp": lambda: sparse_encode(
            few, atoms, algorithm="omp", n_nonzero_coefs=count, n_jobs=1
        ),
    }
    if spams is not None:
        columns, basis = np.asfortranarray(X.T), np.asfortranarray(atoms.T)
        works["SPAMS omp"] = lambda: spams.omp(columns, D=basis, L=count, numThreads=threads).T
    with threadpool_limits(threads):
        seconds, codes = alternate(works, 5)
    codes = {name: some.toarray() if issparse(some) else some for name, some in codes.items()}

    def residual(some):
        left = X[: len(some)].astype(np.float64) - some.astype(np.float64) @ atoms
        return (left**2).sum()

    rate = {name: len(codes[name]) / seconds[name] for name in works}
    return [
        [
            X.dtype.name,
            threads if "scikit" not in name else 1,
            name,
            f"{rate[name]:,.0f}",
            f"{rate['ssdl'] / rate[name]:.1f} times" if name != "ssdl" else "",
            f"{residual(codes[name]) / residual(codes['ssdl'][: len(codes[name])]) - 1:+.1e}",
        ]
        for name in works
    ]


def dictionary_learning():
    """Seconds to reach what scikit-learn's minibatches reach."""
    X, sparsity = unit(all_digits("usps")[0][:7291]), 0.084

    def objective(atoms):
        codes = ssdl.SparseCoder(atoms, sparsity=sparsity).fit(X[:1]).transform(X)
        return ((X - codes @ atoms) ** 2).sum() + sparsity * np.abs(codes).sum()

    ours = []
    for passes in (1, 2, 3, 5, 8, 12, 20, 30):
        learner = ssdl.DictionaryLearner(200, sparsity=sparsity, max_iter=passes, tol=0)
        seconds, learnt = alternate({"": lambda learner=learner: learner.fit(X)}, 3)
        ours.append((seconds[""], objective(learnt[""].components_), passes))
    rows = []
    for passes in (1, 3, 10):
        theirs = MiniBatchDictionaryLearning(
            200, alpha=sparsity / 2, max_iter=passes, tol=0, max_no_improvement=None, random_state=0
        )
        with threadpool_limits(1):
            seconds, learnt = alternate({"": lambda theirs=theirs: theirs.fit(X)}, 1)
        reached = objective(learnt[""].components_)
        enough = [run for run in ours if run[1] <= reached]
        best = min(enough) if enough else None
        rows.append(
            [
                passes,
                f"{seconds['']:.2f}",
                f"{reached:.2f}",
                f"{best[0]:.2f}" if best else "-",
                f"{best[1]:.2f}" if best else f"not reached: {ours[-1][1]:.2f}",
                best[2] if best else "-",
                f"{seconds[''] / best[0]:.1f}" if best else "-",
            ]
        )
    head = ["passes", "scikit-learn, s", "objective", "ours, s", "objective", "passes", "ratio"]
    return (
        "### Dictionary learning\n\n200 atoms for 7,291 samples of USPS, one thread. "
        "`MiniBatchDictionaryLearning` makes the given number of passes; ours is the fastest of "
        "our runs (1 to 30 passes) whose objective is no higher, measured for both by exact codes "
        "on the final atoms.\n\n" + table(head, rows)
    )


def spreading():
    rows = []
    X, y = load_mnist(return_X_y=True)
    for n in (5_000, 10_000, 20_000):
        samples = unit(X[:n])
        few = ssdl.datasets.hide_labels(y[:n], 20)
        estimators = {
            "same": ssdl.LabelSpreading(kernel="neighbours", n_neighbors=7, prepare=()),
            "heat": ssdl.LabelSpreading(n_neighbors=7, prepare=()),
            "theirs": LabelSpreading(kernel="knn", n_neighbors=7, max_iter=100),
        }
        works = {
            name: lambda each=each, s=samples, f=few: each.fit(s, f)
            for name, each in estimators.items()
        }
        with threadpool_limits(1):
            seconds, models = alternate(works, 3)
        right = {name: np.mean(model.transduction_ == y[:n]) for name, model in models.items()}
        rows.append(
            [
                f"{n:,}",
                *(f"{seconds[name]:.2f}" for name in ("same", "theirs")),
                f"{seconds['theirs'] / seconds['same']:.1f}",
                f"{seconds['heat']:.2f}",
                *(f"{100 * right[name]:.1f}" for name in ("same", "theirs", "heat")),
            ]
        )
    head = ["samples", "ours, s", "scikit-learn, s", "ratio", "ours by default, s"]
    head += ["right % ours", "scikit-learn", "ours by default"]
    return (
        "### Label spreading\n\nMNIST, 20 labels per class, 7 neighbours with equal weights, one "
        "thread, double precision, neighbour search included; by default ours weights them by a "
        "heat kernel, whose width needs the mean distance.\n\n" + table(head, rows)
    )


def neighbours():
    rows = []
    X, _ = load_mnist(return_X_y=True)
    for n, dtype in ((5_000, np.float64), (20_000, np.float64), (20_000, np.float32)):
        samples = unit(X[:n]).astype(dtype)
        works = {
            "ours": lambda s=samples: ssdl.graphs.nearest_neighbors(s, 8),
            "theirs": lambda s=samples: (
                NearestNeighbors(n_neighbors=8, algorithm="brute")
                .fit(s)
                .kneighbors(return_distance=False)
            ),
        }
        with threadpool_limits(1):
            seconds, found = alternate(works, 3)
        same = np.mean(np.sort(found["ours"]) == np.sort(found["theirs"]))
        rows.append(
            [
                f"{n:,}",
                np.dtype(dtype).name,
                f"{seconds['ours']:.2f}",
                f"{seconds['theirs']:.2f}",
                f"{seconds['theirs'] / seconds['ours']:.1f}",
                f"{100 * same:.3f} %",
            ]
        )
    head = ["samples", "numbers", "ours, s", "scikit-learn, s", "ratio", "same neighbours"]
    return (
        "### Nearest neighbours\n\nThe 8 nearest of each sample of MNIST (784 features), one "
        "thread, brute force in both.\n\n" + table(head, rows)
    )


def asking():
    """Accuracy with labels chosen by query, of the least certain, and at random."""
    X, y = load_usps(return_X_y=True)
    new, truth = load_usps("test", return_X_y=True)
    ways = {
        "`query`": lambda model, random, n: model.query(n),
        "least certain": lambda model, random, n: least_certain(model, n),
        "random": lambda model, random, n: random.choice(unlabelled(model), n, replace=False),
    }
    rounds, runs = 6, {name: [] for name in ways}
    for seed in range(4):
        pool = np.random.RandomState(seed).permutation(len(X))[:1000]
        samples, known = X[pool].astype(np.float32), y[pool]
        few = ssdl.datasets.hide_labels(known, 2, random_state=seed)
        for name, way in ways.items():
            model, random = ssdl.SSDLGA().fit(samples, few), np.random.RandomState(seed)
            scores = [model.score(new, truth)]
            for _ in range(rounds):
                chosen = way(model, random, 10)
                scores.append(model.add_labels(chosen, known[chosen]).score(new, truth))
            runs[name].append(scores)
    rows = [
        [name, *(f"{100 * mean:.1f}" for mean in np.mean(scores, axis=0))]
        for name, scores in runs.items()
    ]
    return (
        "### Which samples to label next\n\nUSPS: SSDL-GA on 1,000 samples, two labels per class "
        "and then ten more at a time; accuracy in per cent on the 2,007 test samples, mean of four "
        "draws.\n\n" + table(["labels chosen by", *map(str, range(20, 21 + 10 * rounds, 10))], rows)
    )


def unlabelled(model):
    return np.flatnonzero(model._model.labels < 0)


def least_certain(model, n):
    shares = np.sort(model.label_distributions_[unlabelled(model)], axis=1)
    return unlabelled(model)[np.argsort(shares[:, -1] - shares[:, -2])[:n]]


def versions():
    names = ["ssdl", "numpy", "scipy", "scikit-learn", "spams-bin"]

    def of(name):
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            return f"{name} not installed"

    return "Python " + sys.version.split()[0] + ", " + ", ".join(map(of, names)) + "."


SECTIONS = {
    "fits": fits,
    "coding": sparse_coding,
    "pursuit": pursuit,
    "dictionary": dictionary_learning,
    "spreading": spreading,
    "neighbours": neighbours,
    "asking": asking,
}


def main():
    data, *wanted = sys.argv[1:] or [None]
    if data is None or set(wanted) - set(SECTIONS):
        raise SystemExit(f"{__doc__}\nSections: {', '.join(SECTIONS)}")
    os.environ["SSDL_DATA"] = data
    warnings.simplefilter("ignore")
    print("## The Python package\n\n" + versions() + "\n", flush=True)
    for name in wanted or SECTIONS:
        print(SECTIONS[name]() + "\n", flush=True)


if __name__ == "__main__":
    main()
