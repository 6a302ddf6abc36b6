"""How many atoms: `auto` beside 200 and other rules, on the tables that scikit-learn brings.

Prints a Markdown table: per cent of the unlabelled training samples that are found, mean over the
seeds, with labels drawn from each class alike and by chance.
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


def draw(y, n_labels, alike, seed):
    """Places of the labels; None where a class has none."""
    rng, classes = np.random.default_rng(seed), np.unique(y)
    if alike:
        each = n_labels // len(classes)
        return np.concatenate([rng.permutation(np.flatnonzero(y == c))[:each] for c in classes])
    places = rng.permutation(len(y))[:n_labels]
    return places if len(np.unique(y[places])) == len(classes) else None


def found(model, X, y, n_labels, alike):
    shares = []
    for seed in SEEDS:
        places = draw(y, n_labels, alike, seed)
        if places is None:
            continue
        few = np.full(len(y), -1)
        few[places] = y[places]
        said = model().fit(X, few).transduction_
        shares.append((said == y)[few == -1].mean())
    return 100 * np.mean(shares)


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FitWarning)
    models = {
        "auto": lambda: SSDLGA(),
        "200": lambda: SSDLGA(n_atoms=200),
        "one a feature": lambda: SSDLGA(n_atoms=max(2, X.shape[1])),
        "two a feature": lambda: SSDLGA(n_atoms=2 * X.shape[1]),
        "nearest": Nearest,
    }
    print("| table, labels | " + " | ".join(models) + " |")
    print("| --- |" + " ---: |" * len(models))
    rows = []
    for name, X, y, n_labels in tables():
        for alike in (True, False):
            rows.append([found(model, X, y, n_labels, alike) for model in models.values()])
            how = "of each class alike" if alike else "by chance"
            cells = " | ".join(f"{share:.1f}" for share in rows[-1])
            print(f"| {name}, {n_labels} {how} | {cells} |", flush=True)
    print("| mean | " + " | ".join(f"{share:.1f}" for share in np.mean(rows, axis=0)) + " |")


if __name__ == "__main__":
    main()
