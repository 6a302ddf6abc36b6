#!/usr/bin/env python3
"""Writes label_spreading.json beside this file: scikit-learn's LabelSpreading and LabelPropagation on our graphs.

scikit-learn's own graphs are others (directed neighbours, all pairs), so ours are handed to it as a kernel.
Needs numpy, scipy and scikit-learn: python make_label_spreading.py
"""
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from make_fixtures import matrix, write

N_NEIGHBORS, WIDTH = 5, 0.8


def problem():
    """Three bent clouds that touch, four labels each but for the last class, which has two."""
    rng = np.random.default_rng(15)
    angle = rng.uniform(0, np.pi, (3, 27))
    centre = np.array([[0, 0], [1.6, 0.4], [0.6, 1.9]])

    def cloud(c, at):
        return centre[c][:, None] + np.stack([np.cos(at + c), np.sin(at + c)]) + 0.15 * rng.standard_normal((2, len(at)))

    samples = np.hstack([cloud(c, angle[c, :20]) for c in range(3)])
    new = np.hstack([cloud(c, angle[c, 20:]) for c in range(3)])
    labels = np.full(60, -1)
    labels[[0, 1, 2, 3]], labels[[20, 21, 22, 23]], labels[[40, 41]] = 0, 1, 2
    return samples, labels, new


def squared(A, B):
    return ((A[:, :, None] - B[:, None, :]) ** 2).sum(0)


def weights(squared_distances, near, kernel):
    heat = np.exp(-squared_distances / (2 * WIDTH ** 2)) if kernel == "heat" else 1.0
    return np.where(near, heat, 0.0)


def graph(samples, new, kernel):
    """Weights among the samples, and between them and new ones: neighbours counted from either side."""
    within, between = squared(samples, samples), squared(samples, new)
    np.fill_diagonal(within, np.inf)
    order = np.argsort(within, axis=1)
    radius = np.take_along_axis(within, order, 1)[:, N_NEIGHBORS - 1]
    gap = np.take_along_axis(within, order, 1)[:, N_NEIGHBORS] - radius
    assert gap.min() > 1e-6, "a neighbour list is a tie"
    near = within <= radius[:, None]
    ranks = np.argsort(np.argsort(between, axis=0), axis=0)
    assert np.abs(between - radius[:, None]).min() > 1e-6, "a new sample lies on a radius"
    joined = (ranks < N_NEIGHBORS) | (between < radius[:, None])
    return weights(within, near | near.T, kernel), weights(between, joined, kernel)


def solve(samples, labels, new, kernel, spreading):
    among, towards = graph(samples, new, kernel)

    def ours(rows, columns):
        return among if columns is None or len(columns) == len(rows) else towards

    if spreading is None:
        model = LabelPropagation(kernel=ours, max_iter=1_000_000, tol=1e-13)
    else:
        model = LabelSpreading(kernel=ours, alpha=spreading, max_iter=1_000_000, tol=1e-13)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.fit(samples.T, labels)
    shares, new_shares = model.label_distributions_, model.predict_proba(new.T)
    # Where the iteration stopped must be the fixed point, which a dense solve gives.
    degrees = among.sum(1)
    if spreading is None:
        free = labels < 0
        known = np.eye(3)[labels[~free]]
        system = np.diag(degrees[free]) - among[np.ix_(free, free)]
        exact = np.linalg.solve(system, among[np.ix_(free, ~free)] @ known)
        assert np.abs(shares[free] - exact / exact.sum(1, keepdims=True)).max() < 1e-9
    else:
        given = np.zeros((len(labels), 3))
        given[labels >= 0, labels[labels >= 0]] = 1
        exact = np.linalg.solve(np.eye(len(labels)) - spreading * among / np.sqrt(np.outer(degrees, degrees)), given)
        assert np.abs(shares - exact / exact.sum(1, keepdims=True)).max() < 1e-9
    return {"kernel": kernel, "spreading": spreading, "shares": matrix(shares.T), "new_shares": matrix(new_shares.T)}


if __name__ == "__main__":
    samples, labels, new = problem()
    cases = [solve(samples, labels, new, kernel, spreading)
             for kernel in ("heat", "neighbours") for spreading in (0.05, 0.2, 0.8, 0.99, None)]
    write("label_spreading.json", {"n_neighbors": N_NEIGHBORS, "width": WIDTH, "samples": matrix(samples),
                                   "labels": labels.tolist(), "new_samples": matrix(new), "cases": cases})
