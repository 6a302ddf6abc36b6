"""Compare strategies of queries on one model: ours, random choice, and those of scikit-activeml.

Usage: python python/benchmarks/queries.py [SEEDS]

Two labels per class to begin with, then four questions of ten labels each; accuracy on new samples
after the last. Needs `pip install scikit-activeml`, and MNIST and USPS where `ssdl.datasets` finds
them. Prints a table in Markdown.
"""

import sys
import warnings

import numpy as np
from sklearn.base import clone

import ssdl
from ssdl import _query, datasets

OURS = _query.NAMES
THEIRS = ("their margin", "their coreset", "their typiclust")
MODEL = ssdl.Ridge()
ROUNDS, SIZE = 4, 10


def loaded():
    """Samples to learn from and new ones of three data sets; gradients for the larger images."""
    X, y = datasets.load_digits(return_X_y=True)
    yield "digits", (8, 8), ("scale=5",), X[:1000], y[:1000], X[1000:], y[1000:]
    steps = ("deskew", "gradients=9/4/2", "power=0.5", "scale=5")
    for name, load, shape in (
        ("USPS", datasets.load_usps, (16, 16)),
        ("MNIST", datasets.load_mnist, (28, 28)),
    ):
        X, y = load(return_X_y=True)
        new, truth = load("test", return_X_y=True)
        yield name, shape, steps, X[:1500], y[:1500], new[:2000], truth[:2000]


def chosen(strategy, model, few, seed):
    """Rows to label next."""
    open_rows = np.flatnonzero(few < 0)
    if strategy == "at random":
        return np.random.RandomState(seed).choice(open_rows, SIZE, replace=False)
    if strategy in OURS:
        return model.query(SIZE, strategy=strategy)
    return theirs(strategy, model, few, seed)


def theirs(strategy, model, few, seed):
    """The same question, asked of scikit-activeml with the same probabilities and samples."""
    from skactiveml import pool

    # NaN is their marker; prepared samples are what the model sees.
    y = np.where(few < 0, np.nan, few.astype(float))
    X = model._model.codes
    if strategy == "their margin":
        shares = model.label_distributions_
        utility = pool.uncertainty_scores(shares, method="margin_sampling")
        utility[few >= 0] = -np.inf
        return np.argsort(-utility, kind="stable")[:SIZE]
    kinds = {"their coreset": pool.CoreSet, "their typiclust": pool.TypiClust}
    sampler = kinds[strategy](random_state=seed)
    return sampler.query(X=X, y=y, batch_size=SIZE)


def accuracy(strategy, data, seed):
    _, shape, steps, X, y, new, truth = data
    model = clone(MODEL).set_params(prepare=steps, image_shape=shape)
    few = datasets.hide_labels(y, 2, random_state=seed)
    model.fit(X, few)
    for number in range(ROUNDS):
        rows = chosen(strategy, model, few, 100 * seed + number)
        few[rows] = y[rows]
        model.add_labels(rows, y[rows])
    return model.score(new, truth)


def main():
    warnings.simplefilter("ignore")
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    sets = list(loaded())
    print("| strategy | " + " | ".join(data[0] for data in sets) + " |")
    print("|---|" + "---:|" * len(sets))
    for strategy in ("at random", *OURS, *THEIRS):
        cells = []
        for data in sets:
            found = 100 * np.array([accuracy(strategy, data, seed) for seed in seeds])
            cells.append(f"{found.mean():.1f} ± {found.std(ddof=1):.1f}")
        print(f"| {strategy} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
