"""The pieces of SSDL-GA in plain NumPy, written to be read and not to be fast.

Samples are columns, labelled samples first: X is n x N, D n x p, A p x N, W C x p, b C, scores C x N.
Where a sum over pairs of classes can be collapsed, this file keeps the long form on purpose, so that
the Rust code, which collapses it, is compared with the definition.
"""
import math

import numpy as np

EPSILON = np.finfo(float).eps


def nearest(X, query, k, exclude=None):
    """The k nearest columns of X, nearest first; equal distances go to the smaller index."""
    distance = ((X - query[:, None]) ** 2).sum(0)
    order = [j for j in np.argsort(distance, kind="stable") if j != exclude]
    return [int(j) for j in order[:k]]


def smallest_pivot(gram):
    """The smallest pivot of the LDL' factorisation, relative to the largest diagonal entry."""
    work, pivots = gram.copy(), []
    for i in range(len(work)):
        pivots.append(work[i, i])
        if work[i, i] <= 0:
            break
        work[i + 1:, i + 1:] -= np.outer(work[i + 1:, i], work[i, i + 1:]) / work[i, i]
    return min(pivots) / gram.diagonal().max()


def barycentre(X, query, neighbours, regularisation=1e-3):
    """Weights summing to one that best rebuild the query from its neighbours; and which rule applied."""
    k = len(neighbours)
    Z = query[:, None] - X[:, neighbours]
    gram = Z.T @ Z
    if np.trace(gram) == 0:
        return np.full(k, 1 / k), "uniform"
    rule = "plain"
    if smallest_pivot(gram) <= k * EPSILON:
        gram = gram + regularisation * np.trace(gram) * np.eye(k)
        rule = "regularised"
    weights = np.linalg.solve(gram, np.ones(k))
    return weights / weights.sum(), rule


def lle(X, k, regularisation=1e-3):
    """Neighbour lists, their weights, the rule used for each, and V with one sample per row."""
    N = X.shape[1]
    lists = [nearest(X, X[:, i], min(k, N - 1), exclude=i) for i in range(N)]
    found = [barycentre(X, X[:, i], lists[i], regularisation) for i in range(N)]
    V = np.zeros((N, N))
    for i in range(N):
        V[i, lists[i]] = found[i][0]
    return lists, [weights for weights, _ in found], [rule for _, rule in found], V


def class_errors(S):
    """e[k, j]: squared hinge of sample j summed over all classifiers if its class were k."""
    C, N = S.shape
    errors = np.zeros((C, N))
    for k in range(C):
        for j in range(N):
            errors[k, j] = math.fsum(
                max(0.0, 1 - (1 if c == k else -1) * S[c, j]) ** 2 for c in range(C))
    return errors


def memberships(S, r):
    """The columns of P on the simplex that minimise sum_k P_k^r e_k, and that minimum per column."""
    errors = class_errors(S)
    P, value = np.zeros_like(errors), np.zeros(errors.shape[1])
    for j, e in enumerate(errors.T):
        best = e.min()
        if r == 1 or best == 0:
            P[e.argmin(), j] = 1
            value[j] = best
        else:
            share = (best / e) ** (1 / (r - 1))
            P[:, j] = share / share.sum()
            value[j] = best * share.sum() ** (1 - r)
    return P, errors, value


def targets(C, k):
    return np.where(np.arange(C) == k, 1.0, -1.0)


def frozen_points(S, labels, P, r):
    """Omega and G of the quadratic  sum Omega s^2 - 2 G s + K  with the active points fixed at scores S."""
    omega, g, constant = np.zeros_like(S), np.zeros_like(S), np.zeros_like(S)
    for weight, j, y in weighted_targets(S.shape[0], labels, P, r):
        active = weight * (y * S[:, j] < 1)
        omega[:, j] += active
        g[:, j] += active * y
        constant[:, j] += active
    return omega, g, constant


def majorised_points(S, labels, P, r):
    """The same three arrays for the quadratic that touches the squared hinge at S from above."""
    omega, g, constant = np.zeros_like(S), np.zeros_like(S), np.zeros_like(S)
    for weight, j, y in weighted_targets(S.shape[0], labels, P, r):
        touch = y * np.maximum(1, y * S[:, j])
        omega[:, j] += weight
        g[:, j] += weight * touch
        constant[:, j] += weight * touch ** 2
    return omega, g, constant


def weighted_targets(C, labels, P, r):
    """Every (weight, sample, target vector): one per labelled sample, C per unlabelled sample."""
    for i, label in enumerate(labels):
        yield 1.0, i, targets(C, label)
    for j in range(P.shape[1]):
        for k in range(C):
            yield P[k, j] ** r, len(labels) + j, targets(C, k)


def hinge(S, labels, P, r):
    return math.fsum(weight * (np.maximum(0, 1 - y * S[:, j]) ** 2).sum()
                     for weight, j, y in weighted_targets(S.shape[0], labels, P, r))


def frozen_loss(S, S0, labels, P, r):
    """The loss with the points that were active at S0, summed over pairs of classes."""
    return math.fsum(weight * ((y * S0[:, j] < 1) * (S[:, j] - y) ** 2).sum()
                     for weight, j, y in weighted_targets(S.shape[0], labels, P, r))


def quadratic(points, S):
    omega, g, constant = points
    return (omega * S * S - 2 * g * S + constant).sum()


def graph_term(A, V):
    return math.fsum(((A[:, i] - A @ V[i]) ** 2).sum() for i in range(A.shape[1]))


def common_terms(X, V, D, A, W, b, knobs):
    """The four terms that the frozen and the true objective share, weighted."""
    return {
        "reconstruction": ((X - D @ A) ** 2).sum(),
        "sparsity": knobs["sparsity"] * np.abs(A).sum(),
        "manifold": knobs["manifold"] * graph_term(A, V),
        "ridge": knobs["ridge"] * ((W ** 2).sum() + (b ** 2).sum()),
    }


def with_discrimination(terms, loss, knobs):
    terms = dict(terms, discrimination=knobs["discrimination"] * loss)
    return dict(terms, total=math.fsum(terms.values()))


def soft(U, threshold):
    return np.sign(U) * np.maximum(np.abs(U) - threshold, 0)


def smooth_gradient(A, X, V, D, W, b, points, knobs):
    """Gradient in A of everything but the sparsity term."""
    omega, g, _ = points
    M = np.eye(A.shape[1]) - V
    S = W @ A + b[:, None]
    return 2 * (D.T @ (D @ A - X) + knobs["manifold"] * A @ (M.T @ M)
                + knobs["discrimination"] * W.T @ (omega * S - g))


def violation(A, gradient, sparsity):
    """How far the codes are from the optimality conditions of the lasso."""
    at_zero = np.maximum(np.abs(gradient) - sparsity, 0)
    return np.where(A == 0, at_zero, np.abs(gradient + sparsity * np.sign(A))).max()


def accelerate(start, advance, tolerance, limit):
    """Accelerated proximal gradient with restarts; `advance` is one proximal step from a point."""
    x, z, t = start, start, 1.0
    for _ in range(limit):
        new = advance(z)
        if ((z - new) * (new - x)).sum() > 0:
            t = 1.0
        t_new = (1 + math.sqrt(1 + 4 * t * t)) / 2
        z = new + (t - 1) / t_new * (new - x)
        moved = np.abs(new - x).max()
        x, t = new, t_new
        if moved <= tolerance and np.abs(advance(x) - x).max() <= tolerance:
            break
    return x


def code(A, X, V, D, W, b, points, knobs, tolerance=1e-15, limit=200_000):
    """argmin over A of the objective with fixed quadratic points."""
    M = np.eye(A.shape[1]) - V
    step = 2 * (np.linalg.eigvalsh(D.T @ D)[-1] + knobs["manifold"] * np.linalg.eigvalsh(M.T @ M)[-1]
                + knobs["discrimination"] * points[0].max() * np.linalg.eigvalsh(W @ W.T)[-1])

    def advance(Z):
        return soft(Z - smooth_gradient(Z, X, V, D, W, b, points, knobs) / step, knobs["sparsity"] / step)

    return accelerate(A, advance, tolerance, limit)


def into_ball(D):
    return D / np.maximum(1, np.linalg.norm(D, axis=0))


def update_atoms(D, X, A, tolerance=1e-15, limit=200_000):
    """argmin ||X - DA||^2 over atoms of norm at most one."""
    S, R = A @ A.T, X @ A.T
    step = 2 * np.linalg.eigvalsh(S)[-1]
    return accelerate(D, lambda Z: into_ball(Z - 2 * (Z @ S - R) / step), tolerance, limit)


def solve_classifier(A, points, rho):
    """W and b that minimise the quadratic loss plus the ridge, class by class."""
    A1 = np.vstack([A, np.ones(A.shape[1])])
    rows = [np.linalg.solve((A1 * w) @ A1.T + rho * np.eye(len(A1)), A1 @ g)
            for w, g in zip(points[0], points[1])]
    return np.array(rows)[:, :-1], np.array(rows)[:, -1]


def solve_margin(A, W, b, labels, P, r, rho, limit=100_000):
    """The squared-hinge minimiser: majorise, solve, repeat until nothing moves."""
    for _ in range(limit):
        points = majorised_points(W @ A + b[:, None], labels, P, r)
        W_new, b_new = solve_classifier(A, points, rho)
        moved = max(np.abs(W_new - W).max(), np.abs(b_new - b).max())
        W, b = W_new, b_new
        if moved <= 1e-15:
            break
    return W, b


def lasso(X, D, sparsity, pull=None, strength=0.0, tolerance=1e-14, limit=200_000):
    """argmin ||x - Da||^2 + strength ||a - pull||^2 + sparsity |a|_1, every column by itself."""
    H = D.T @ D + strength * np.eye(D.shape[1])
    r = D.T @ X + (strength * pull if pull is not None else 0)
    step = 2 * np.linalg.eigvalsh(H)[-1]
    start = np.zeros((D.shape[1], X.shape[1]))
    return accelerate(start, lambda Z: soft(Z - 2 * (H @ Z - r) / step, sparsity / step), tolerance, limit)


def fit(X, labels, n_classes, knobs, n_iterations):
    """Algorithm 1 with every inner problem solved to the end and points frozen per outer iteration."""
    r, rho = knobs["sharpness"], knobs["ridge"] / knobs["discrimination"]
    N_l = len(labels)
    V = lle(X, knobs["n_neighbors"])[3]
    D = into_ball(X[:, :knobs["n_atoms"]])
    A = lasso(X, D, knobs["sparsity"])
    Y = np.array([targets(n_classes, label) for label in labels]).T
    W, b = solve_classifier(A[:, :N_l], (np.ones_like(Y), Y, np.ones_like(Y)), rho)
    trace, nearest_switch = [], np.inf
    for _ in range(n_iterations):
        S0 = W @ A + b[:, None]
        nearest_switch = min(nearest_switch, np.abs(np.abs(S0) - 1).min())
        P = memberships(S0[:, N_l:], r)[0]
        points = frozen_points(S0, labels, P, r)
        A = code(A, X, V, D, W, b, points, knobs, tolerance=1e-14)
        D = update_atoms(D, X, A, tolerance=1e-14)
        W, b = solve_classifier(A, points, rho)
        loss = quadratic(points, W @ A + b[:, None])
        trace.append(with_discrimination(common_terms(X, V, D, A, W, b, knobs), loss, knobs)["total"])
    return dict(V=V, D=D, A=A, W=W, b=b, trace=trace, nearest_switch=nearest_switch)


def scores_of_new(X, model, X_new, knobs):
    """Attach new samples to the training graph, code them, and score them."""
    pull = np.zeros((model["A"].shape[0], X_new.shape[1]))
    for j in range(X_new.shape[1]):
        neighbours = nearest(X, X_new[:, j], min(knobs["n_neighbors"], X.shape[1]))
        pull[:, j] = model["A"][:, neighbours] @ barycentre(X, X_new[:, j], neighbours)[0]
    codes = lasso(X_new, model["D"], knobs["sparsity"], pull, knobs["manifold"])
    return model["W"] @ codes + model["b"][:, None]
