"""What a search found, by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.stats import rankdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The parameters of a candidate.
Candidate: TypeAlias = dict[str, Any]


def table(
    candidates: list[Candidate],
    scores: dict[str, NDArray[np.float64]],
    seconds: NDArray[np.float64],
) -> dict[str, Any]:
    """Results by column, as in GridSearchCV; scores by name, (n_candidates, n_splits)."""
    found: dict[str, Any] = {
        "mean_fit_time": seconds.mean(axis=1),
        "std_fit_time": seconds.std(axis=1),
    }
    for index, values in enumerate(candidates):
        for name, value in values.items():
            empty = np.ma.MaskedArray(np.empty(len(candidates), dtype=object), mask=True)
            found.setdefault(f"param_{name}", empty)[index] = value
    found["params"] = candidates
    for name, by_fold in scores.items():
        found |= _columns(name, by_fold)
    return found


def _columns(name: str, by_fold: NDArray[np.float64]) -> dict[str, Any]:
    means = by_fold.mean(axis=1)
    if np.isnan(means).all():
        raise ValueError(f"every candidate scored nan; use another metric than {name}")
    found: dict[str, Any] = {
        f"split{index}_test_{name}": column for index, column in enumerate(by_fold.T)
    }
    found[f"mean_test_{name}"], found[f"std_test_{name}"] = means, by_fold.std(axis=1)
    # Sums in another order differ in their last digits, but still count as ties.
    ranked = np.where(np.isnan(means), -np.inf, np.round(means, 12))
    found[f"rank_test_{name}"] = rankdata(-ranked, method="min").astype(np.int32)
    return found
