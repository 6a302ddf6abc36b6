#!/usr/bin/env python3
"""Writes the JSON fixtures beside this file. Needs numpy only: python make_fixtures.py"""
import json
import math
import pathlib

import numpy as np

import ssdl_ga as ga

HERE = pathlib.Path(__file__).resolve().parent
OBJECTIVE_KNOBS = {"sparsity": 2.0, "manifold": 0.7, "discrimination": 0.6, "ridge": 0.9,
                   "n_neighbors": 3, "sharpness": 1.7}
FIT_KNOBS = {"n_atoms": 12, "sparsity": 0.3, "manifold": 0.5, "discrimination": 0.5, "ridge": 1.0,
             "n_neighbors": 5, "sharpness": 1.7}


def matrix(M):
    M = np.asarray(M, float)
    return {"rows": M.shape[0], "columns": M.shape[1], "data": M.flatten(order="F").tolist()}


def write(name, content):
    """Floats are written so that they read back to the same bits; NaN and infinity are refused."""
    text = json.dumps(content, allow_nan=False, ensure_ascii=False) + "\n"
    assert len(text) < 200_000, f"{name} has {len(text)} bytes"
    (HERE / name).write_text(text)
    print(f"{name}: {len(text) / 1000:.0f} kB")


def check_lists(X, query, neighbours, exclude):
    """Refuse data where rounding could change which sample is the last neighbour."""
    distance = np.sqrt(((X - query[:, None]) ** 2).sum(0))
    rest = [j for j in range(X.shape[1]) if j not in neighbours and j != exclude]
    if rest:
        assert distance[rest].min() - distance[neighbours].max() > 1e-6, "a neighbour list is a tie"


def check_pivot(X, query, neighbours):
    """Refuse Gram matrices near the border between plain and regularised weights."""
    Z = query[:, None] - X[:, neighbours]
    if np.any(Z):
        pivot = ga.smallest_pivot(Z.T @ Z) / (len(neighbours) * ga.EPSILON)
        assert not 0.1 < pivot < 1e6, f"pivot is {pivot:.2g} times the threshold"


def barycentre_case(name, X, k, queries=None):
    lists, weights, rules, V = ga.lle(X, k)
    M = np.eye(X.shape[1]) - V
    case = {"name": name, "n_neighbors": k, "samples": matrix(X), "neighbours": lists,
            "weights": [w.tolist() for w in weights], "rules": rules, "laplacian": matrix(M.T @ M)}
    for i in range(X.shape[1]):
        check_lists(X, X[:, i], lists[i], i)
        check_pivot(X, X[:, i], lists[i])
    if queries is not None:
        near = [ga.nearest(X, q, min(k, X.shape[1])) for q in queries.T]
        found = [ga.barycentre(X, q, nb) for q, nb in zip(queries.T, near)]
        for q, neighbours in zip(queries.T, near):
            check_lists(X, q, neighbours, None)
            check_pivot(X, q, neighbours)
        case["queries"] = {"samples": matrix(queries), "neighbours": near,
                           "weights": [w.tolist() for w, _ in found], "rules": [rule for _, rule in found]}
    return case


def barycentres():
    rng = np.random.default_rng(11)
    X = rng.standard_normal((5, 12))
    twin = np.c_[X, X[:, 2]]
    flat = rng.standard_normal((3, 12))
    same = np.tile([[1.0], [2.0], [-1.0]], 5)
    apart = np.c_[same[:, :4], [[9.0], [0.0], [0.5]]]
    write("barycentres.json", {"regularisation": 1e-3, "cases": [
        barycentre_case("generic", X, 4, np.c_[rng.standard_normal((5, 4)), X[:, 5]]),
        barycentre_case("twin", twin, 4),
        barycentre_case("more neighbours asked than there are", X[:, :5], 8, X[:, 5:7]),
        barycentre_case("more neighbours than features", flat, 6),
        barycentre_case("neighbours identical to the sample", same, 4),
        barycentre_case("neighbours identical to each other", apart, 4),
    ]})


def membership():
    rng = np.random.default_rng(12)
    hand = np.array([[2.0, -1.5, -1.0, -3.0],          # zero error: one-hot for every r
                     [0.5, 0.5, -0.25, -0.25],         # a tie, exact in binary: smaller index at r = 1
                     [-2.0, -2.0, -2.0, -2.0],         # everybody refuses
                     [3.0, 3.0, 3.0, 2.0],             # everybody claims
                     [1.0, -1.0, -1.0, -0.99999],      # almost no error
                     [60.0, -40.0, 1.0, -1.0]]).T
    S = np.c_[hand, 1.2 * rng.standard_normal((4, 6))]
    cases = []
    for r in (1.0, 1.05, 1.7, 2.0, 3.0):
        P, errors, value = ga.memberships(S, r)
        assert np.allclose((P ** r * errors).sum(0), value, rtol=1e-12, atol=0)
        assert np.allclose(P.sum(0), 1, rtol=1e-14)
        cases.append({"sharpness": r, "membership": matrix(P), "value": value.tolist()})
    write("membership.json", {"scores": matrix(S), "errors": matrix(errors), "cases": cases})


def tiny_problem():
    rng = np.random.default_rng(13)
    n, p, N, C = 6, 7, 14, 3
    labels = [0, 1, 2, 0, 1, 2]
    X = rng.standard_normal((n, N)) + 2 * rng.standard_normal((n, C))[:, (labels * 3)[:N]]
    D = ga.into_ball(rng.standard_normal((n, p)))
    A = rng.standard_normal((p, N)) * (rng.random((p, N)) < 0.5)
    W, b = 0.7 * rng.standard_normal((C, p)), 0.5 * rng.standard_normal(C)
    start = W @ (A + 0.6 * rng.standard_normal((p, N))) + b[:, None]
    lists, weights, _, V = ga.lle(X, OBJECTIVE_KNOBS["n_neighbors"])
    P = ga.memberships(start[:, len(labels):], OBJECTIVE_KNOBS["sharpness"])[0]
    return dict(X=X, labels=labels, D=D, A=A, W=W, b=b, S0=start, V=V, P=P, lists=lists, weights=weights)


def classifier_gradients(t, points):
    S = t["W"] @ t["A"] + t["b"][:, None]
    slope = OBJECTIVE_KNOBS["discrimination"] * (points[0] * S - points[1])
    ridge = OBJECTIVE_KNOBS["ridge"]
    return 2 * (slope @ t["A"].T + ridge * t["W"]), 2 * (slope.sum(1) + ridge * t["b"])


def check_gradients(t, value, gradients):
    """Central differences; the quadratic makes them exact up to rounding."""
    for name, gradient in gradients.items():
        for index in np.ndindex(gradient.shape):
            sides = []
            for shift in (1e-3, -1e-3):
                moved = dict(t, **{name: t[name].copy()})
                moved[name][index] += shift
                sides.append(value(moved))
            slope = (sides[0] - sides[1]) / 2e-3
            assert abs(slope - gradient[index]) < 1e-7 * (1 + abs(slope)), (name, index)


def describe_points(t, points, loss):
    k = OBJECTIVE_KNOBS

    def smooth_value(s):
        terms = ga.common_terms(s["X"], s["V"], s["D"], s["A"], s["W"], s["b"], k)
        return math.fsum(terms.values()) - terms["sparsity"] \
            + k["discrimination"] * loss(s["W"] @ s["A"] + s["b"][:, None])

    grad_A = ga.smooth_gradient(t["A"], t["X"], t["V"], t["D"], t["W"], t["b"], points, k)
    grad_W, grad_b = classifier_gradients(t, points)
    check_gradients(t, smooth_value, {"A": grad_A, "W": grad_W, "b": grad_b})
    S = t["W"] @ t["A"] + t["b"][:, None]
    assert math.isclose(loss(S), ga.quadratic(points, S), rel_tol=1e-12)
    terms = ga.common_terms(t["X"], t["V"], t["D"], t["A"], t["W"], t["b"], k)
    return {"omega": matrix(points[0]), "g": matrix(points[1]), "constant": float(points[2].sum()),
            "terms": ga.with_discrimination(terms, loss(S), k),
            "gradient_codes": matrix(grad_A), "gradient_weights": matrix(grad_W),
            "gradient_bias": grad_b.tolist()}


def both_points(t):
    r = OBJECTIVE_KNOBS["sharpness"]
    return (ga.frozen_points(t["S0"], t["labels"], t["P"], r),
            ga.majorised_points(t["S0"], t["labels"], t["P"], r))


def objective(t):
    k, r = OBJECTIVE_KNOBS, OBJECTIVE_KNOBS["sharpness"]
    frozen, majorised = both_points(t)
    S = t["W"] @ t["A"] + t["b"][:, None]
    terms = ga.common_terms(t["X"], t["V"], t["D"], t["A"], t["W"], t["b"], k)
    true_loss = ga.hinge(S, t["labels"], t["P"], r)
    refreshed = ga.memberships(S[:, len(t["labels"]):], r)[0]
    at_start = ga.hinge(t["S0"], t["labels"], t["P"], r)
    assert math.isclose(at_start, ga.quadratic(frozen, t["S0"]), rel_tol=1e-12)
    assert math.isclose(at_start, ga.quadratic(majorised, t["S0"]), rel_tol=1e-12)
    assert ga.quadratic(majorised, S) > true_loss
    Y = np.array([ga.targets(3, label) for label in t["labels"]]).T
    write("objective.json", {
        "knobs": k, "n_classes": 3, "n_labelled": len(t["labels"]), "labels": t["labels"],
        "samples": matrix(t["X"]), "targets": matrix(Y), "neighbours": t["lists"],
        "weights": [w.tolist() for w in t["weights"]], "dictionary": matrix(t["D"]),
        "codes": matrix(t["A"]), "classifier_weights": matrix(t["W"]), "bias": t["b"].tolist(),
        "frozen_scores": matrix(t["S0"]), "scores": matrix(S), "membership": matrix(t["P"]),
        "loss_at_frozen_scores": at_start,
        "true": {"terms": ga.with_discrimination(terms, true_loss, k)},
        "true_with_membership_refreshed": {
            "membership": matrix(refreshed),
            "terms": ga.with_discrimination(terms, ga.hinge(S, t["labels"], refreshed, r), k)},
        "frozen": describe_points(t, frozen, lambda S: ga.frozen_loss(S, t["S0"], t["labels"], t["P"], r)),
        "majorised": describe_points(t, majorised, lambda S: ga.quadratic(majorised, S)),
    })


def least_codes(t, points):
    k = OBJECTIVE_KNOBS
    A = ga.code(t["A"], t["X"], t["V"], t["D"], t["W"], t["b"], points, k)
    gradient = ga.smooth_gradient(A, t["X"], t["V"], t["D"], t["W"], t["b"], points, k)
    violation = float(ga.violation(A, gradient, k["sparsity"]))
    assert violation < 1e-11, violation
    terms = ga.common_terms(t["X"], t["V"], t["D"], A, t["W"], t["b"], k)
    loss = ga.quadratic(points, t["W"] @ A + t["b"][:, None])
    return {"codes": matrix(A), "terms": ga.with_discrimination(terms, loss, k), "violation": violation}


def least_classifier(t, W, b, loss):
    k = OBJECTIVE_KNOBS
    size = (W ** 2).sum() + (b ** 2).sum()
    return {"classifier_weights": matrix(W), "bias": b.tolist(),
            "value": k["discrimination"] * loss(W @ t["A"] + b[:, None]) + k["ridge"] * size}


def minimum(t):
    k, r = OBJECTIVE_KNOBS, OBJECTIVE_KNOBS["sharpness"]
    rho = k["ridge"] / k["discrimination"]
    frozen, majorised = both_points(t)
    W, b = ga.solve_margin(t["A"], t["W"], t["b"], t["labels"], t["P"], r, rho)
    again = ga.frozen_points(W @ t["A"] + b[:, None], t["labels"], t["P"], r)
    slopes = classifier_gradients(dict(t, W=W, b=b), again)
    assert max(np.abs(slope).max() for slope in slopes) < 1e-12
    D = ga.update_atoms(t["D"], t["X"], t["A"])
    S, R = t["A"] @ t["A"].T, t["X"] @ t["A"].T
    stay = np.abs(ga.into_ball(D - 1e-2 * (D @ S - R)) - D).max()
    assert np.linalg.eigvalsh(S)[0] > 1e-3 and stay < 1e-12
    write("minimum.json", {
        "codes": {"frozen": least_codes(t, frozen), "majorised": least_codes(t, majorised)},
        "classifier": {
            "frozen": least_classifier(t, *ga.solve_classifier(t["A"], frozen, rho),
                                       lambda S: ga.quadratic(frozen, S)),
            "majorised": least_classifier(t, *ga.solve_classifier(t["A"], majorised, rho),
                                          lambda S: ga.quadratic(majorised, S)),
            "true": least_classifier(t, W, b, lambda S: ga.hinge(S, t["labels"], t["P"], r))},
        "dictionary": {"atoms": matrix(D), "value": float(((t["X"] - D @ t["A"]) ** 2).sum()),
                       "atoms_on_the_sphere": int((np.linalg.norm(D, axis=0) > 1 - 1e-9).sum())},
    })


def draw(rng, count):
    """Three bent, overlapping clouds on a curved surface of two dimensions, lifted to R^8 with noise."""
    classes = np.arange(count) % 3
    angle = 2 * math.pi * classes / 3 + 0.7 * rng.standard_normal(count)
    radius = 1 + 0.35 * rng.standard_normal(count)
    plane = np.array([radius * np.cos(angle), radius * np.sin(angle), 0.5 * radius ** 2, np.ones(count)])
    return plane, classes


def small_fit():
    rng = np.random.default_rng(36)
    lift = rng.standard_normal((8, 4))

    def samples(count):
        plane, classes = draw(rng, count)
        X = lift @ plane + 0.15 * rng.standard_normal((8, count))
        return 5 * X / np.linalg.norm(X, axis=0), classes

    X, classes = samples(60)
    X_new, classes_new = samples(20)
    labels = classes[:15].tolist()
    model = ga.fit(X, labels, 3, FIT_KNOBS, n_iterations=10)
    S = model["W"] @ model["A"] + model["b"][:, None]
    S_new = ga.scores_of_new(X, model, X_new, FIT_KNOBS)
    P = ga.memberships(S[:, 15:], FIT_KNOBS["sharpness"])[0]
    terms = ga.with_discrimination(
        ga.common_terms(X, model["V"], model["D"], model["A"], model["W"], model["b"], FIT_KNOBS),
        ga.hinge(S, labels, P, FIT_KNOBS["sharpness"]), FIT_KNOBS)
    for scores in (S[:, 15:], S_new):
        top = np.sort(scores, axis=0)
        assert (top[-1] - top[-2]).min() > 1e-4, "a label is a toss-up"
    assert model["nearest_switch"] > 1e-4, "an active point hangs on rounding"
    found, found_new = S[:, 15:].argmax(0), S_new.argmax(0)
    print(f"small fit: unlabelled {np.mean(found == classes[15:]):.3f}, new {np.mean(found_new == classes_new):.3f},"
          f" nearest switch {model['nearest_switch']:.1e}, non-zero {np.mean(model['A'] != 0):.2f},"
          f" smallest eigenvalue of AA' {np.linalg.eigvalsh(model['A'] @ model['A'].T)[0]:.1e}")
    write("small_fit.json", {
        "knobs": FIT_KNOBS, "n_classes": 3, "n_labelled": 15, "n_iterations": 10, "labels": labels,
        "samples": matrix(X), "truth": classes.tolist(), "new_samples": matrix(X_new),
        "new_truth": classes_new.tolist(), "frozen_objective_by_iteration": model["trace"],
        "true_terms": terms, "dictionary": matrix(model["D"]), "codes": matrix(model["A"]),
        "classifier_weights": matrix(model["W"]), "bias": model["b"].tolist(), "scores": matrix(S),
        "unlabelled_classes": found.tolist(), "new_scores": matrix(S_new), "new_classes": found_new.tolist()})


if __name__ == "__main__":
    barycentres()
    membership()
    problem = tiny_problem()
    objective(problem)
    minimum(problem)
    small_fit()
