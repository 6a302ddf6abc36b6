"""How many atoms: `auto` compared with 200 and other rules, on the tables of scikit-learn.

Prints a Markdown table: accuracy on the unlabelled training samples in per cent, mean over the
seeds, with balanced labels and with labels drawn at random.
"""

import warnings

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from ssdl import SSDLGA, Nearest
from ssdl.errors import FitWarning

SEEDS = range(5)


def tables():
    for name, load, n_labels in [
        ("wine", load_wine, 30),
        ("iris", load_iris, 15),
        ("breast cancer", load_breast_cancer, 30),
        ("digits", load_digits, 100),
    ]:
        X, y = load(return_X_y=True)
        yield name, X if name == "digits" else StandardScaler().fit_transform(X), y, n_labels
    X, y = make_classification(
        800, 20, n_informative=8, n_redundant=4, n_classes=4, class_sep=1.5, random_state=0
    )
    yield "made, 20 features", StandardScaler().fit_transform(X), y, 60


def draw(y, n_labels, balanced, seed):
    """Rows that get a label; None if a class has none."""
    rng, classes = np.random.default_rng(seed), np.unique(y)
    if balanced:
        each = n_labels // len(classes)
        return np.concatenate([rng.permutation(np.flatnonzero(y == c))[:each] for c in classes])
    rows = rng.permutation(len(y))[:n_labels]
    return rows if len(np.unique(y[rows])) == len(classes) else None


def accuracy(model, X, y, n_labels, balanced):
    scores = []
    for seed in SEEDS:
        labelled = draw(y, n_labels, balanced, seed)
        if labelled is None:
            continue
        few = np.full(len(y), -1)
        few[labelled] = y[labelled]
        predicted = model().fit(X, few).transduction_
        scores.append((predicted == y)[few == -1].mean())
    return 100 * np.mean(scores)


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FitWarning)
    models = {
        "auto": lambda: SSDLGA(),
        "200": lambda: SSDLGA(n_atoms=200),
        "one per feature": lambda: SSDLGA(n_atoms=max(2, X.shape[1])),
        "two per feature": lambda: SSDLGA(n_atoms=2 * X.shape[1]),
        "nearest": Nearest,
    }
    print("| table, labels | " + " | ".join(models) + " |")
    print("| --- |" + " ---: |" * len(models))
    rows = []
    for name, X, y, n_labels in tables():
        for balanced in (True, False):
            rows.append([accuracy(model, X, y, n_labels, balanced) for model in models.values()])
            how = "balanced" if balanced else "at random"
            cells = " | ".join(f"{score:.1f}" for score in rows[-1])
            print(f"| {name}, {n_labels} {how} | {cells} |", flush=True)
    print("| mean | " + " | ".join(f"{score:.1f}" for score in np.mean(rows, axis=0)) + " |")


if __name__ == "__main__":
    main()
