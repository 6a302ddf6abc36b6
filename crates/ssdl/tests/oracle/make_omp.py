"""Writes omp.json: orthogonal matching pursuit by scikit-learn, K-SVD and ridge in their longest form."""

import json

import numpy as np
from sklearn.linear_model import orthogonal_mp_gram


def matrix(m):
    m = np.asarray(m, float)
    assert np.isfinite(m).all()
    return {"rows": m.shape[0], "columns": m.shape[1], "data": m.T.ravel().tolist()}


def pursuit(n, p, count, n_nonzero, shift, scales):
    """A dictionary and samples from sines, so that no generator has to be shared."""
    rows, atoms, samples = np.arange(n)[:, None], np.arange(p)[None], np.arange(count)[None]
    D = np.cos(1.3 * rows * (1 + atoms) + 0.7 * atoms)
    D /= np.linalg.norm(D, axis=0)
    X = np.sin(0.9 * (1 + rows) * (1 + samples)) + 0.1 * rows
    # scikit-learn chooses by correlation alone: atoms of length one, scaled back afterwards. A shift is
    # a second dictionary below the first.
    lengths = scales ** (atoms[0] % 3)
    stacked = np.vstack([D * lengths, np.sqrt(shift) * np.eye(p)])
    unit = np.linalg.norm(stacked, axis=0)
    stacked /= unit
    A = orthogonal_mp_gram(
        stacked.T @ stacked,
        stacked.T @ np.vstack([X, np.zeros((p, count))]),
        n_nonzero_coefs=n_nonzero,
    )
    return {
        "n_nonzero": n_nonzero,
        "shift": shift,
        "atoms": matrix(D * lengths),
        "samples": matrix(X),
        "codes": matrix(A.reshape(p, count) / unit[:, None]),
    }


def ksvd(X, D, A, exact):
    """One pass; every quantity is computed again from its definition."""
    D, A = D.copy(), A.copy()
    for k in range(D.shape[1]):
        users = np.flatnonzero(A[k])
        if not len(users):
            continue
        others = [j for j in range(D.shape[1]) if j != k]
        E = X[:, users] - D[:, others] @ A[np.ix_(others, users)]
        if exact:
            U, s, V = np.linalg.svd(E, full_matrices=False)
            sign = np.sign(U[:, 0] @ (E @ A[k, users])) or 1.0
            D[:, k], A[k, users] = sign * U[:, 0], sign * s[0] * V[0]
        else:
            d = E @ A[k, users]
            D[:, k] = d / np.linalg.norm(d)
            A[k, users] = D[:, k] @ E
    return D, A


def main():
    cases = [
        pursuit(6, 9, 5, 3, 0.0, 1.0),
        pursuit(12, 30, 17, 6, 0.0, 1.0),
        pursuit(20, 33, 9, 10, 0.4, 1.0),
        pursuit(14, 24, 8, 5, 0.2, 2.5),
        pursuit(9, 4, 6, 4, 0.0, 1.0),
    ]
    n, p, count = 7, 5, 24
    X = np.sin(0.9 * (1 + np.arange(n))[:, None] * (1 + np.arange(count))[None])
    D = np.cos(1.3 * np.arange(n)[:, None] * (1 + np.arange(p))[None])
    D /= np.linalg.norm(D, axis=0)
    A = np.cos(np.arange(p)[:, None] * 2.1 + np.arange(count)[None] * 0.8)
    A[(np.arange(p)[:, None] + np.arange(count)[None]) % 3 == 0] = 0
    passes = []
    for exact in (False, True):
        after, codes = ksvd(X, D, A, exact)
        passes.append({"exact": exact, "atoms": matrix(after), "codes": matrix(codes)})
    stored = {
        "pursuit": cases,
        "ksvd": {"samples": matrix(X), "atoms": matrix(D), "codes": matrix(A), "passes": passes},
    }
    with open("omp.json", "w") as file:
        json.dump(stored, file, allow_nan=False)
        file.write("\n")


if __name__ == "__main__":
    main()
