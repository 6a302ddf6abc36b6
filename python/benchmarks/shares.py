"""What class shares do to accuracy: made-up tables on which votes of a linear classifier mislead.

    python python/benchmarks/shares.py [DRAWS]

Prints the mean accuracy of SSDL-GA in per cent on new samples, with the class shares that it
estimates, with even ones, and with those of the labels; logistic regression beside it.
"""

import sys
import warnings

import numpy as np
from sklearn.datasets import make_blobs, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ssdl import SSDLGA


def line(random):
    """Three clouds in a line: least squares never vote for the one in the middle."""
    y = np.arange(1500) % 3
    X = random.normal(size=(1500, 5))
    X[:, ::2] += 2 * y[:, None]
    X[:, 1::2] -= y[:, None]
    return X, y


def uneven(random):
    """Four clouds of 900, 200, 60 and 40 samples."""
    centres = np.array([[0] * 5, [2, 2, 0, 0, 0], [0, 2, 2, 0, 0], [-2, 0, 0, 2, 0]])
    return make_blobs([900, 200, 60, 40], 5, centers=centres, random_state=2)


def rare(random):
    """One sample in twenty is of the second class."""
    return make_classification(
        1500, 10, n_informative=5, weights=[0.95], class_sep=1.2, flip_y=0, random_state=3
    )


def labels(y, random, number):
    """So many of each class; or 60 of all samples, two of each class among them."""
    few = np.full(len(y), -1)
    classes = np.unique(y)
    if number is not None:
        for each in classes:
            chosen = random.choice(np.flatnonzero(y == each), number, replace=False)
            few[chosen] = each
        return few
    while min((few == each).sum() for each in classes) < 2:
        few[:] = -1
        chosen = random.choice(len(y), 60, replace=False)
        few[chosen] = y[chosen]
    return few


def main(draws):
    warnings.simplefilter("ignore")
    print("| samples | labels | estimated | even | as labelled | logistic regression |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for make, number in [(line, 5), (line, 20), (uneven, None), (rare, None)]:
        X, y = make(np.random.default_rng(0))
        found = []
        for seed in range(draws):
            random = np.random.default_rng(100 + seed)
            order = random.permutation(len(y))
            new, old = order[: len(y) // 3], order[len(y) // 3 :]
            few = labels(y[old], random, number)
            ours = [
                SSDLGA(prior=prior, calibrate=False) for prior in ("estimated", "even", "labelled")
            ]
            scores = [each.fit(X[old], few).score(X[new], y[new]) for each in ours]
            known = few >= 0
            other = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
            scores.append(other.fit(X[old][known], few[known]).score(X[new], y[new]))
            found.append(scores)
        which = f"{number} a class" if number else "60 at random"
        cells = " | ".join(f"{100 * mean:.1f}" for mean in np.mean(found, axis=0))
        print(f"| {make.__name__} | {which} | {cells} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
