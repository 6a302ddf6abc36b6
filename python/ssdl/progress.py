"""Following a fit while it runs: a function of your own, or a progress bar.

Both follow every fit inside a ``with`` statement, in the thread that entered it, also those of
pipelines and searches; not those in other processes, such as the workers of ``n_jobs``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Progress", "bar", "watching"]


@dataclass(frozen=True)
class Progress:
    """A finished step of a fit.

    Parameters
    ----------
    estimator : str
        The name of the class.
    iteration : int
        The iteration, from 1; 0 before the first.
    limit : int
        The maximum number of iterations; most fits converge before.
    step : str
        The step: memberships, codes, dictionary or classifier.
    objective : float or None
        The objective after the step, where it was computed.
    """

    estimator: str
    iteration: int
    limit: int
    step: str
    objective: float | None


Callback: TypeAlias = Callable[[Progress], Any]
_watchers: ContextVar[tuple[Callback, ...]] = ContextVar("ssdl_progress", default=())


def watchers() -> tuple[Callback, ...]:
    """Who follows fits now."""
    return _watchers.get()


@contextmanager
def watching(callback: Callback) -> Iterator[None]:
    """Call a function after every step of every fit.

    An exception that it raises stops the fit, leaves the estimator as it was, and is raised.

    Parameters
    ----------
    callback : callable
        Takes a ``Progress``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import USSDL
    >>> from ssdl.progress import watching
    >>> X, y = load_digits(return_X_y=True)
    >>> seen = []
    >>> with watching(seen.append):
    ...     model = USSDL(n_atoms=20, max_iter=30).fit(X[:200], y[:200])
    >>> max(each.iteration for each in seen) == model.n_iter_
    True
    """
    token = _watchers.set((*_watchers.get(), callback))
    try:
        yield
    finally:
        _watchers.reset(token)


@contextmanager
def bar() -> Iterator[None]:
    """A progress bar for every fit: of tqdm if it is installed, in notebooks too, else a line.

    A bar that does not reach its end is good news: the fit converged before its limit.
    """
    shown = _Bar()
    try:
        with watching(shown):
            yield
    finally:
        shown.close()


class _Bar:
    """One bar at a time, a new one for each fit."""

    def __init__(self) -> None:
        self.bar: Any = None
        self.last = 0

    def __call__(self, progress: Progress) -> None:
        if self.bar is None or progress.iteration < self.last:
            self.close()
            self.bar = _new(progress.estimator, progress.limit)
        self.bar.update(progress.iteration - self.last)
        self.last = progress.iteration
        if progress.objective is not None:
            self.bar.set_postfix_str(f"objective {progress.objective:.6g}")

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        self.bar, self.last = None, 0


def _new(name: str, limit: int) -> Any:
    try:
        tqdm = importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        return _Line(name, limit)
    return tqdm(total=limit, desc=name, unit="iteration", leave=True)


class _Line:
    """The part of tqdm that the bar needs, on one line of standard error."""

    def __init__(self, name: str, limit: int) -> None:
        self.name, self.limit, self.done, self.words = name, limit, 0, ""

    def update(self, more: int) -> None:
        self.done += more
        self._show()

    def set_postfix_str(self, words: str) -> None:
        self.words = f", {words}"
        self._show()

    def _show(self) -> None:
        line = f"{self.name}: {self.done} of at most {self.limit} iterations{self.words}"
        print(f"\r{line:78}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr, flush=True)
