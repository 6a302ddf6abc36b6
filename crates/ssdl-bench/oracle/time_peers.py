"""Fits a prototype of a peer on one thread, and leaves its samples for the program to fit.

Usage: time_peers.py PROTOTYPES METHOD DATA FOLDER

PROTOTYPES has the folders omp and block. Writes train.npy, labels.csv, test.npy and truth.csv into FOLDER and prints
JSON: the seconds of the fit and the test accuracy. The prototypes work on samples of length one; the program gets
longer ones, for which the defaults of its knobs are.
"""

import json
import pathlib
import sys
import time

import numpy as np

OMP = {
    ("ossdl", "digits"): dict(p=200, T=10, gamma=1.0, psi=0.05, rho=0.5, ridge=0.01, epochs=3),
    ("lcrlsdla", "digits"): dict(p=200, T=10),
    ("jdl", "digits"): dict(p=200, T=10, gamma=0.1, rho=0.5, ridge=0.1),
    ("lcksvd", "ar"): dict(p=495, T=20, iterations=10, start_iterations=10),
    ("supgraphdl", "ar"): dict(
        p=297, T=20, alpha=0.1, beta=1.0, gamma=0.01, mu=1.0, penalty=0.1, iterations=5
    ),
    ("supgraphdl-l", "ar"): dict(
        p=297, T=20, alpha=0.1, beta=1.0, gamma=0.01, mu=1.0, penalty=0.1, iterations=5, learn=2
    ),
}
BLOCK = {
    "s2d2": dict(n_atoms=20, lam=0.1, eta=0.01, omega=1.0),
    "ssdlp": dict(n_atoms=20, gamma=0.01, k=8, alpha=0.8, temperature=1.0, power=2.0),
    "ssrd": dict(n_atoms=200, lam=0.1, q=1.0, q1=1.0, code_lam=0.1, rule="hard"),
    "sspdl": dict(n_atoms=200, lam1=0.05, lam2=0.05, beta=0.5, kappa=0.3, rule="hard"),
    "pssdl": dict(n_atoms=200, lam=0.1, beta=0.5, k=8, scale_updates=1),
}


def fitted(prototypes, method, name):
    """Samples, labels, new samples, their classes, the length that ours have, and a call that fits and predicts."""
    family = "block" if method in BLOCK else "omp"
    sys.path.insert(0, str(prototypes / family))
    prototype = __import__(method.removesuffix("-l"))
    if family == "block":
        import common

        knobs = BLOCK[method]
        if method == "ssdlp":
            knobs["lam"] = {"usps": 0.05, "mnist": 0.1}[name]
        X, y, new, truth, _ = common.problem(name, 0)
        return X, y, new, truth, 5.0, prototype, lambda: prototype.fit(X, y, **knobs)
    import data

    if name == "ar":
        X, y, _, new, truth = data.faces("ar", 0, 11, 0, 3)
        return X, y, new, truth, 2.0, prototype, lambda: prototype.fit(X, y, OMP[method, name])
    X, y, _, new, truth = data.digits(name, 0)
    return X, y, new, truth, 5.0, prototype, lambda: prototype.fit(X, y, OMP[method, "digits"])


def main():
    prototypes, method, name, folder = sys.argv[1:]
    X, y, new, truth, length, prototype, fit = fitted(pathlib.Path(prototypes), method, name)
    started = time.perf_counter()
    model = fit()
    seconds = time.perf_counter() - started
    accuracy = float((prototype.predict(model, new) == truth).mean())
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for file, samples, labels in (("train", X, y), ("test", new, truth)):
        np.save(folder / f"{file}.npy", np.ascontiguousarray(length * samples.T))
        text = "\n".join("" if label < 0 else str(label) for label in labels)
        (folder / ("labels.csv" if file == "train" else "truth.csv")).write_text("label\n" + text + "\n")
    print(json.dumps({"seconds": seconds, "accuracy": accuracy}))


if __name__ == "__main__":
    main()
