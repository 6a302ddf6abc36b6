#!/usr/bin/env python3
"""Writes svm.json beside this file: scikit-learn's LinearSVC (LIBLINEAR) on a small problem of four classes.

Needs numpy, scipy and scikit-learn: python make_svm.py
"""
import warnings

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from make_fixtures import matrix, write

CLASS_SIZES = [24, 18, 12, 6]


def problem():
    """Sparse codes of overlapping classes: each class uses some atoms more than others."""
    rng = np.random.default_rng(46)
    classes = rng.permutation(np.repeat(np.arange(4), CLASS_SIZES))
    usual = rng.standard_normal((8, 4))

    def draw(classes):
        codes = usual[:, classes] + 0.9 * rng.standard_normal((8, len(classes)))
        return np.where(np.abs(codes) > 0.6, codes, 0.0)

    return draw(classes), classes, draw(rng.integers(0, 4, 15))


def primal(w, A, y, loss, box):
    short = np.maximum(0, 1 - y * (w @ A))
    return 0.5 * w @ w + box * (short ** (1 if loss == "hinge" else 2)).sum()


def lower_bound(A, y, loss, box):
    """The dual, solved by another method: whatever it stops at bounds the objective from below."""
    Z = A * y
    delta = 0.0 if loss == "hinge" else 0.5 / box
    upper = box if loss == "hinge" else None

    def value(alpha):
        w = Z @ alpha
        return 0.5 * w @ w + 0.5 * delta * alpha @ alpha - alpha.sum(), Z.T @ w + delta * alpha - 1

    found = minimize(value, np.zeros(len(y)), jac=True, method="L-BFGS-B", bounds=[(0, upper)] * len(y),
                     options={"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 1e-16, "gtol": 1e-10})
    return -found.fun


def solve(codes, classes, new_codes, loss, box):
    """LIBLINEAR to the end, its objective checked against the lower bound."""
    svm = LinearSVC(loss=loss, dual=True, tol=1e-10, max_iter=10_000_000, intercept_scaling=1, C=box,
                    random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        svm.fit(codes.T, classes)
    augmented = np.vstack([codes, np.ones(codes.shape[1])])
    objective = []
    for c in range(len(CLASS_SIZES)):
        y = np.where(classes == c, 1.0, -1.0)
        objective.append(primal(np.append(svm.coef_[c], svm.intercept_[c]), augmented, y, loss, box))
        gap = (objective[-1] - lower_bound(augmented, y, loss, box)) / objective[-1]
        assert abs(gap) < 1e-7, f"{loss}, {box}, class {c}: gap {gap:.1e}"
    return {"loss": loss.replace("_", "-"), "box_constraint": box, "weights": matrix(svm.coef_.T),
            "bias": svm.intercept_.tolist(), "objective": objective,
            "scores": matrix(svm.decision_function(codes.T).T),
            "new_scores": matrix(svm.decision_function(new_codes.T).T)}


if __name__ == "__main__":
    codes, classes, new_codes = problem()
    cases = [solve(codes, classes, new_codes, loss, box)
             for loss in ("hinge", "squared_hinge") for box in (0.1, 1.0, 10.0)]
    write("svm.json", {"n_classes": 4, "codes": matrix(codes), "classes": classes.tolist(),
                       "new_codes": matrix(new_codes), "cases": cases})
