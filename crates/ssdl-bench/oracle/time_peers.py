"""Fits a prototype of a peer on one thread, and leaves its samples for the program to fit.

Usage: time_peers.py REFERENCE METHOD DATA FOLDER

REFERENCE has the folder peers/omp. Writes train.npy, labels.csv, test.npy and truth.csv into FOLDER and prints
JSON: the seconds of the fit and the test accuracy.
"""

import json
import pathlib
import sys
import time

import numpy as np

KNOBS = {
    ("ossdl", "usps"): dict(p=200, T=10, gamma=1.0, psi=0.05, rho=0.5, ridge=0.01, epochs=3),
    ("lcrlsdla", "usps"): dict(p=200, T=10),
    ("jdl", "usps"): dict(p=200, T=10, gamma=0.1, rho=0.5, ridge=0.1),
    ("lcksvd", "ar"): dict(p=495, T=20, iterations=10, start_iterations=10),
    ("supgraphdl", "ar"): dict(
        p=297, T=20, alpha=0.1, beta=1.0, gamma=0.01, mu=1.0, penalty=0.1, iterations=5
    ),
    ("supgraphdl-l", "ar"): dict(
        p=297, T=20, alpha=0.1, beta=1.0, gamma=0.01, mu=1.0, penalty=0.1, iterations=5, learn=2
    ),
}
KNOBS.update({(m, "mnist"): k for (m, d), k in list(KNOBS.items()) if d == "usps"})


def main():
    reference, method, name, folder = sys.argv[1:]
    sys.path.insert(0, str(pathlib.Path(reference) / "peers" / "omp"))
    import data

    prototype = __import__(method.removesuffix("-l"))
    if name == "ar":
        X, y, _, new, truth = data.faces("ar", 0, 11, 0, 3)
        scale = 2.0
    else:
        X, y, _, new, truth = data.digits(name, 0)
        scale = 5.0
    started = time.perf_counter()
    model = prototype.fit(X, y, KNOBS[method, name])
    seconds = time.perf_counter() - started
    accuracy = float((prototype.predict(model, new) == truth).mean())
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for file, samples, labels in (("train", X, y), ("test", new, truth)):
        np.save(folder / f"{file}.npy", np.ascontiguousarray(scale * samples.T))
        text = "\n".join("" if label < 0 else str(label) for label in labels)
        (folder / ("labels.csv" if file == "train" else "truth.csv")).write_text("label\n" + text + "\n")
    print(json.dumps({"seconds": seconds, "accuracy": accuracy}))


if __name__ == "__main__":
    main()
