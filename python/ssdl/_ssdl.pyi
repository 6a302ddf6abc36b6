"""The compiled module; `ssdl` makes estimators of it and alone calls it."""

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.floating[Any]]
Prediction = tuple[NDArray[np.int64], Real, Real]
SparseRows = tuple[NDArray[np.int64], NDArray[np.int64], Real]
Report = Callable[[int, int, str, float | None], Any] | None

class LabelServer:
    address: str
    def __init__(
        self,
        rows: NDArray[np.float64],
        labels: str | PathLike[str],
        classes: list[str],
        image: tuple[int, int] | None,
        feature_names: list[str] | None,
        model: str | PathLike[str] | None,
        seed: int,
        threads: int,
    ) -> None: ...
    def labels(self) -> tuple[list[str | None], list[int]]: ...
    def stop(self) -> None: ...

class Model:
    method: str
    knobs: list[tuple[str, str]]
    classes: list[str]
    labels: NDArray[np.int64]
    prepare: list[str]
    n_features: int
    feature_names: list[str] | None
    label_type: str | None
    image: list[int] | None
    is_calibrated: bool
    compared: list[tuple[str, float | None, float | None, float]]
    precision: str
    atoms: Real
    n_atoms: int
    codes: Real
    classifier: tuple[Real, Real] | None
    seed: int
    iterations: int
    seconds: float
    stop: str
    reached_limit: bool
    revived_atoms: int
    objective: dict[str, float]
    trace: dict[str, Any]

    @staticmethod
    def load(path: str | PathLike[str]) -> Model: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def predict(self, samples: Real, threads: int, device: str) -> Prediction: ...
    def code(self, samples: Real, sparse: bool, threads: int, device: str) -> Any: ...
    def query(self, n: int, samples: Real | None, threads: int) -> NDArray[np.int64]: ...
    def transduction(self, threads: int) -> Prediction: ...

class Part:
    n_samples: int
    def __init__(
        self,
        samples: Real,
        labels: NDArray[np.int64],
        graph: tuple[str, bytes, list[bytes]] | None,
        first: int,
        kept: tuple[list[int], list[int]],
        weights: NDArray[np.float64] | None,
    ) -> None: ...
    @staticmethod
    def from_bytes(precision: str, bytes: bytes) -> Part: ...
    def needs(self, start: int, stop: int) -> list[int]: ...
    def sending(self, needed: list[list[int]]) -> Part: ...
    def outgoing(self, state: bytes, to: int) -> bytes: ...
    def step(
        self, state: bytes, incoming: list[bytes], message: bytes, n_threads: int
    ) -> tuple[bytes | None, bytes]: ...
    def scores(self, state: bytes) -> Real: ...

def part_cuts(samples: Real, n_parts: int, tree: int | None, n_threads: int) -> bytes: ...
def part_of(samples: Real, cuts: bytes) -> NDArray[np.int64]: ...
def part_neighbours(
    block: Real, queries: Real | None, n_neighbours: int, approximate: bool, n_threads: int
) -> tuple[Real, NDArray[np.int64]]: ...
def part_listed(
    table: Real, queries: Real, lists: NDArray[np.int64], n_neighbours: int, n_threads: int
) -> tuple[Real, NDArray[np.int64]]: ...
def part_rows(
    kind: str,
    table: Real,
    queries: Real,
    lists: NDArray[np.int64],
    places: NDArray[np.int64],
    first: int,
    total: int,
    n_threads: int,
) -> bytes: ...
def part_touching(kind: str, rows: bytes, precision: str, start: int, stop: int) -> bytes: ...
def prepare_chosen(
    samples: Real,
    labels: NDArray[np.int64],
    classes: list[str],
    steps: list[str],
    image: tuple[int, int] | None,
    seed: int,
    n_threads: int,
) -> dict[str, Any]: ...
def fit(
    samples: Real, labels: NDArray[np.int64], request: dict[str, Any], report: Report
) -> tuple[Model, list[str]]: ...
def encode(
    samples: Real,
    atoms: Real,
    penalty: tuple[float, int],
    nonnegative: bool,
    sparse: bool,
    n_threads: int,
) -> Any: ...
def learn_atoms(
    samples: Real, learning: dict[str, Any], report: Report
) -> tuple[dict[str, Any], list[str]]: ...
def neighbours(
    samples: Real, others: Real | None, n_neighbours: int, n_threads: int
) -> tuple[NDArray[np.int64], int]: ...
def graph(
    samples: Real,
    knobs: list[tuple[str, str]],
    lists: NDArray[np.int64] | None,
    n_threads: int,
) -> tuple[str, SparseRows]: ...
def representatives(samples: Real, n: int, n_threads: int) -> NDArray[np.int64]: ...
def prepare_fit(
    samples: Real, steps: list[str], image: tuple[int, int] | None, seed: int, n_threads: int
) -> dict[str, Any]: ...
def prepare_apply(samples: Real, prepared: dict[str, Any], n_threads: int) -> Real: ...
def explain(model: Model, asked: Real | list[int], threads: int) -> list[dict[str, Any]]: ...
def report(
    model: Model,
    path: str | PathLike[str],
    words: tuple[str, str],
    others: tuple[Real, list[str | None]] | None,
    threads: int,
) -> None: ...
def program(words: list[str]) -> int: ...
def fetch(name: str, folder: str | PathLike[str]) -> list[str]: ...
def digits() -> dict[str, Any]: ...
def read(
    path: str | PathLike[str],
    label: str | int | None,
    image: tuple[int, int] | None,
    array: str | None,
    max_unpacked: int | None = None,
    ignored: list[str | int] = ...,
) -> dict[str, Any]: ...
def read_labels(path: str | PathLike[str]) -> list[str | None]: ...
def methods() -> list[dict[str, Any]]: ...
def learner_knobs() -> list[dict[str, Any]]: ...
def preparation_steps() -> list[tuple[str, str]]: ...
def default_preparation() -> list[str]: ...
