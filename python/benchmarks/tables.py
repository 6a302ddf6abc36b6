"""Rows of scikit-learn for `ssdl experiment tables`, and the data sets of scikit-learn as tables.

    python tables.py export --out DATA/sklearn
    ssdl experiment tables --data DATA --splits SPLITS
    python tables.py contenders --data DATA --splits SPLITS --out results/tables-sklearn.csv

Every contender is fitted on the draws that the program writes, and sees what a user would give it:
standardised features (a forest needs none), labels, and where it can use them unlabelled samples.
Its knobs are chosen by cross-validation on the labels, or are scikit-learn's defaults. A row that
is in the file is not computed again.
"""

import argparse
import csv
import gzip
import json
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn import datasets
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

# The columns of the rows of a comparison, in the order in which the program writes them.
COLUMNS = (
    "data split seed run method prepare knobs n_labelled n_unlabelled n_test test_accuracy "
    "unlabelled_accuracy recall fit_seconds predict_seconds peak_bytes objective iterations stop "
    "found version balanced_accuracy log_loss calibration_error"
).split()

SMALLEST = 1e-15
BINS = 15


def export(out):
    """Writes the small data sets of scikit-learn as CSV with a header and a column `label`."""
    out.mkdir(parents=True, exist_ok=True)
    for name, load in [
        ("digits", datasets.load_digits),
        ("wine", datasets.load_wine),
        ("breast-cancer", datasets.load_breast_cancer),
        ("iris", datasets.load_iris),
    ]:
        X, y = load(return_X_y=True)
        path = out / f"{name}.csv.gz"
        with gzip.open(path, "wt", newline="") as file:
            rows = csv.writer(file)
            rows.writerow([f"f{at}" for at in range(X.shape[1])] + ["label"])
            rows.writerows([*map(float, x), label] for x, label in zip(X, y, strict=True))
        print(path)


def read(folder, files, label_column):
    """Samples and labels of some CSV files, one after the other."""
    X, y = [], []
    for file in files:
        with gzip.open(folder / file, "rt", newline="") as lines:
            rows = csv.reader(lines)
            at = next(rows).index(label_column)
            for row in rows:
                y.append(row.pop(at))
                X.append([float(value) for value in row])
    return np.array(X), np.array(y)


class Contender:
    """A classifier with its knobs; `sees` says whether it learns from unlabelled samples."""

    def __init__(self, make, *, sees=False, standardise=True):
        self.make = make
        self.sees = sees
        self.standardise = standardise


def folds(y):
    smallest = np.unique(y, return_counts=True)[1].min()
    return StratifiedKFold(min(5, smallest), shuffle=True, random_state=0)


def svc(y, _):
    grid = {
        "C": [0.1, 1.0, 10.0, 100.0],
        "gamma": ["scale", 0.01, 0.1, 1.0],
    }
    return GridSearchCV(SVC(), grid, cv=folds(y), n_jobs=1)


def logistic(*_):
    return LogisticRegression(max_iter=2000)


def forest(_, seed):
    return RandomForestClassifier(500, random_state=seed, n_jobs=1)


def neighbours(y, _):
    most = int(len(y) * 0.8) - 1
    grid = {"n_neighbors": [k for k in (1, 3, 5, 7, 11) if k <= most]}
    return GridSearchCV(KNeighborsClassifier(), grid, cv=folds(y), n_jobs=1)


def spreading_near(*_):
    return LabelSpreading(kernel="knn", n_neighbors=7, max_iter=200, n_jobs=1)


def spreading_wide(*_):
    # The width follows from the samples; the default of 20 leaves every sample alone.
    return LabelSpreading(kernel="rbf", gamma=None, max_iter=200, n_jobs=1)


def narrow_gamma(X):
    """The gamma with which a kernel falls to 1/e at the seventh neighbour, on average."""
    distances = NearestNeighbors(n_neighbors=7, n_jobs=1).fit(X).kneighbors()[0]
    return 1.0 / np.mean(distances[:, -1] ** 2)


def self_training(*_):
    return SelfTrainingClassifier(LogisticRegression(max_iter=2000))


CONTENDERS = {
    "SVC": Contender(svc),
    "logistic regression": Contender(logistic),
    "random forest": Contender(forest, standardise=False),
    "k nearest neighbours": Contender(neighbours),
    "label spreading, nearest": Contender(spreading_near, sees=True),
    "label spreading, Gaussian": Contender(spreading_wide, sees=True),
    "self-training, logistic": Contender(self_training, sees=True),
}


def probabilities(model, X_labelled, y_labelled, X):
    """Probabilities in the order of the classes; those of an SVC by Platt's scaling."""
    if isinstance(model, GridSearchCV) and isinstance(model.best_estimator_, SVC):
        best = SVC(**model.best_params_)
        scaled = CalibratedClassifierCV(best, cv=folds(y_labelled), ensemble=False)
        shares = scaled.fit(X_labelled, y_labelled).predict_proba(X)
    else:
        shares = model.predict_proba(X)
    # Label spreading knows nothing of a sample that no label reaches.
    lost = ~np.isfinite(shares).all(axis=1) | (shares.sum(axis=1) <= 0)
    shares[lost] = 1.0 / shares.shape[1]
    return shares


def measure(predicted, shares, truth):
    """The measures of crates/ssdl-experiments/src/measures.rs; classes are 0, 1, ...

    The confidence of a prediction is the probability of the predicted class."""
    right = predicted == truth
    recall = [right[truth == c].mean() for c in range(shares.shape[1]) if (truth == c).any()]
    at = np.arange(len(truth))
    likelihood = np.clip(shares[at, truth], SMALLEST, 1.0)
    confidence = shares[at, predicted]
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [abs(right[bins == b].sum() - confidence[bins == b].sum()) for b in range(BINS)]
    return {
        "test_accuracy": round(100 * right.mean(), 4),
        "balanced_accuracy": round(100 * float(np.mean(recall)), 4),
        "log_loss": round(float(-np.log(likelihood).mean()), 6),
        "calibration_error": round(sum(gaps) / len(truth), 6),
    }


def fit(contender, X, y, draw):
    """One row: what a contender gives on a draw."""
    labelled, unlabelled, test = (np.array(draw[part], int) for part in PARTS)
    seen = np.concatenate([labelled, unlabelled])
    if contender.standardise:
        # As a user would, who has the unlabelled samples, too.
        X = StandardScaler().fit(X[seen]).transform(X)
    given = np.concatenate([y[labelled], np.full(len(unlabelled), -1)])
    started = time.perf_counter()
    model = contender.make(y[labelled], draw["seed"])
    if isinstance(model, LabelSpreading) and model.gamma is None:
        model.gamma = narrow_gamma(X[seen])
    if contender.sees:
        model.fit(X[seen], given)
    else:
        model.fit(X[labelled], y[labelled])
    fitted = time.perf_counter()
    predicted = model.predict(X[test])
    done = time.perf_counter()
    if isinstance(model, LabelSpreading):
        hidden = model.transduction_[len(labelled) :]
    else:
        hidden = model.predict(X[unlabelled])
    shares = probabilities(model, X[labelled], y[labelled], X[test])
    found = getattr(model, "best_params_", {})
    return measure(predicted, shares, y[test]) | {
        "unlabelled_accuracy": round(100 * (hidden == y[unlabelled]).mean(), 4),
        "fit_seconds": round(fitted - started, 4),
        "predict_seconds": round(done - fitted, 4),
        "found": " ".join(f"{name}={value}" for name, value in found.items()),
        "prepare": "standardise" if contender.standardise else "",
        **{f"n_{part}": len(draw[part]) for part in PARTS},
    }


PARTS = ("labelled", "unlabelled", "test")


def contenders(data, splits, out, only):
    """Appends the rows that the file lacks."""
    known = set()
    if out.exists():
        with out.open(newline="") as file:
            known = {tuple(row[key] for key in KEY) for row in csv.DictReader(file)}
    out.parent.mkdir(parents=True, exist_ok=True)
    is_new = not out.exists()
    with out.open("a", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        if is_new:
            rows.writeheader()
        for path in sorted(splits.glob("*.json")):
            lists = json.loads(path.read_text())
            X, names = read(data, lists["files"], lists["label_column"])
            y = np.unique(names, return_inverse=True)[1]
            for draw in lists["runs"]:
                for name in only or CONTENDERS:
                    about = {"data": lists["data"], "split": lists["split"], "run": name}
                    about |= {"seed": draw["seed"], "method": "scikit-learn"}
                    if tuple(str(about[key]) for key in KEY) in known:
                        continue
                    found = fit(CONTENDERS[name], X, y, draw)
                    constant = {"objective": 0.0, "iterations": 0, "version": sklearn.__version__}
                    rows.writerow(about | found | constant)
                file.flush()
            print(f"{lists['data']}, {lists['split']}", flush=True)


KEY = ("data", "split", "seed", "run")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("export", help=export.__doc__)
    one.add_argument("--out", type=Path, required=True, help="folder for the files")
    other = commands.add_parser("contenders", help="compute the rows of scikit-learn")
    other.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    other.add_argument("--splits", type=Path, required=True, help="folder of `--splits`")
    other.add_argument("--out", type=Path, default=Path("results/tables-sklearn.csv"))
    other.add_argument("--only", action="append", choices=CONTENDERS, help="only this contender")
    arguments = parser.parse_args()
    if arguments.command == "export":
        export(arguments.out)
    else:
        warnings.filterwarnings("ignore")
        contenders(arguments.data, arguments.splits, arguments.out, arguments.only)


if __name__ == "__main__":
    main()
