#!/usr/bin/env python3
"""Runs the reference transcription of SSDL-GA on published splits and prints one JSON line per seed.

    run_reference.py usps --reference DIR --data DIR --seeds 0 1

`oracle.py` and the split files come from the reference folder. Set the thread variables of the linear
algebra library before starting: they are read once, when numpy is imported.
"""
import argparse
import importlib.util
import json
import pathlib
import platform
import time

import numpy as np
import scipy
import sklearn


def load_oracle(folder, data):
    spec = importlib.util.spec_from_file_location("oracle", folder / "oracle.py")
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)
    oracle.DATA = data
    return oracle


def true_objective(oracle, model, y_labelled):
    """The objective with the squared hinge itself and memberships that fit the final scores."""
    X, A, D, Wb, knobs = (model[key] for key in ("X", "A", "D", "Wb", "knobs"))
    p, n_labelled = len(D), len(y_labelled)
    S = A @ Wb[:p] + Wb[p]
    Y = np.where(y_labelled[:, None] == np.arange(S.shape[1]), 1, -1)
    labelled = (np.maximum(0, 1 - Y * S[:n_labelled]) ** 2).sum()
    free = S[n_labelled:]
    plus, minus = np.maximum(0, 1 - free) ** 2, np.maximum(0, 1 + free) ** 2
    errors = plus + minus.sum(1, keepdims=True) - minus
    share = oracle.memberships(free, knobs["sharpness"]) ** knobs["sharpness"]
    L = oracle.lle_laplacian(X, knobs["n_neighbors"])
    return float(((X - A @ D) ** 2).sum() + knobs["sparsity"] * np.abs(A).sum()
                 + knobs["manifold"] * (A * (L @ A)).sum()
                 + knobs["discrimination"] * (labelled + (share * errors).sum())
                 + knobs["ridge"] * (Wb ** 2).sum())


def run(oracle, X, y, split, knobs):
    labelled, unlabelled, test = split["labelled"], split["unlabelled"], split["test"]
    train, new = oracle.prepare(X[labelled + unlabelled]), oracle.prepare(X[test])
    start = time.perf_counter()
    model = oracle.fit(train, y[labelled], len(labelled), int(y.max()) + 1, knobs)
    fit_seconds = time.perf_counter() - start
    p = len(model["D"])
    free = model["A"][len(labelled):] @ model["Wb"][:p] + model["Wb"][p]
    return {
        "seed": split["seed"],
        "fit_seconds": fit_seconds,
        "test_accuracy": float((oracle.decide(model, new).argmax(1) == y[test]).mean()),
        "unlabelled_accuracy": float((free.argmax(1) == y[unlabelled]).mean()),
        "last_trace": model["trace"][-1],
        "true_objective": true_objective(oracle, model, y[labelled]),
        "versions": f"Python {platform.python_version()}, numpy {np.__version__}, "
                    f"scipy {scipy.__version__}, scikit-learn {sklearn.__version__}",
    }


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("dataset", choices=["usps", "mnist"])
    ask.add_argument("--reference", type=pathlib.Path, required=True, help="folder of oracle.py and the splits")
    ask.add_argument("--data", type=pathlib.Path, required=True, help="folder of the data sets")
    ask.add_argument("--seeds", type=int, nargs="+", required=True)
    want = ask.parse_args()
    oracle = load_oracle(want.reference, want.data)
    splits = json.loads((want.reference / f"{want.dataset}.json").read_text())
    X, y = oracle.load(want.dataset)
    for split in splits["runs"]:
        if split["seed"] in want.seeds:
            print(json.dumps(run(oracle, X, y, split, splits["knobs"])), flush=True)


if __name__ == "__main__":
    main()
