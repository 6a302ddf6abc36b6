"""Sparse coding and dictionary learning without labels, as transformers."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _ssdl
from ._atoms import ReconstructsSamples
from ._request import (
    all_or_nothing,
    as_text,
    caller,
    reporter,
    samples,
    seed,
    sparse_rows,
    threads,
    warn_of,
)
from ._sklearn import BaseEstimator
from .errors import KnobError, ShapeError

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from ._types import DenseSamples, Samples, Seed

__all__ = ["DictionaryLearner", "SparseCoder"]

SWITCHES = ["boolean"]


class _Coder(ReconstructsSamples, BaseEstimator):
    """Base of the transformers that code samples on ``components_``."""

    components_: Any
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    sparsity: float
    n_nonzero_coefs: int | None
    sparse_output: bool
    n_jobs: int | None

    @property
    def _nonnegative(self) -> bool:
        raise NotImplementedError

    def transform(self, X: Samples) -> Any:
        """Sparse codes of samples, each coded independently of the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        codes : ndarray or CSR array of shape (n_samples, n_atoms)
            A CSR array if ``sparse_output`` is set.
        """
        check_is_fitted(self)
        rows = samples(self, X, self.components_.dtype)
        codes = _ssdl.encode(
            rows,
            self.components_,
            (float(self.sparsity), int(self.n_nonzero_coefs or 0)),
            bool(self._nonnegative),
            self.sparse_output,
            threads(self.n_jobs),
        )
        return sparse_rows(codes, len(self.components_)) if self.sparse_output else codes

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class SparseCoder(_Coder):
    r"""Sparse codes of samples on given atoms.

    .. math::

        \min_a\ \lVert x-D^\top a\rVert^2+\lambda\lVert a\rVert_1

    or, with ``n_nonzero_coefs``, the least squares that orthogonal matching pursuit finds
    with at most that many atoms.

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_features) or None, default=None
        Atoms, used as they are; None uses the samples passed to ``fit``.
    sparsity : float, default=0.3
        Weight of the l1 norm; twice scikit-learn's `alpha`. Letter: λ.
    n_nonzero_coefs : int or None, default=None
        Maximum number of atoms in a code, found by orthogonal matching pursuit instead of
        the l1 norm; None uses `sparsity`. Letter: T.
    nonnegative : bool, default=False
        Whether codes are non-negative.
    sparse_output : bool, default=False
        Whether to return codes as a CSR array.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The atoms.
    n_features_in_ : int
        Number of features of a sample.

    See Also
    --------
    DictionaryLearner : Learns the atoms as well.

    Examples
    --------
    >>> import numpy as np
    >>> from ssdl import SparseCoder
    >>> atoms = np.eye(3)
    >>> SparseCoder(atoms, sparsity=0.2).fit_transform([[1.0, 0.0, 0.05]])
    array([[0.9, 0. , 0. ]])
    """

    _parameter_constraints = {
        "dictionary": ["array-like", None],
        "sparsity": [Interval(Real, 0, None, closed="left")],
        "n_nonzero_coefs": [Interval(Integral, 1, None, closed="left"), None],
        "nonnegative": SWITCHES,
        "sparse_output": SWITCHES,
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        dictionary: DenseSamples | None = None,
        *,
        sparsity: float = 0.3,
        n_nonzero_coefs: int | None = None,
        nonnegative: bool = False,
        sparse_output: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.dictionary = dictionary
        self.sparsity = sparsity
        self.n_nonzero_coefs = n_nonzero_coefs
        self.nonnegative = nonnegative
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs

    def fit(self, X: Samples, y: object = None) -> Self:
        """Store the atoms.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; they become the atoms if `dictionary` is None.
        y : Ignored

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._validate_params()
        if self.n_nonzero_coefs is not None and self.nonnegative:
            raise KnobError("nonnegative is True; allowed: False where n_nonzero_coefs is set")
        with all_or_nothing(self):
            rows = samples(self, X, [np.float64, np.float32], reset=True)
            if self.dictionary is None:
                self.components_ = rows.copy()
                return self
            atoms = check_array(self.dictionary, dtype=rows.dtype, order="C", copy=True)
            expected, got = rows.shape[1], atoms.shape[1]
            if got != expected:
                raise ShapeError(f"features of an atom: expected {expected}, got {got}")
            self.components_ = atoms
        return self

    @property
    def _nonnegative(self) -> bool:
        return self.nonnegative


class DictionaryLearner(_Coder):
    r"""Atoms learnt from samples without labels, all at once or batch by batch.

    .. math::

        \min_{\lVert d_k\rVert\le\alpha,\ A}\ \lVert X-AD\rVert_F^2+\lambda\lVert A\rVert_1

    or, with ``n_nonzero_coefs``, with at most that many atoms in each code and no l1 norm.

    Parameters
    ----------
    n_atoms : int, default=100
        Number of atoms; at most the number of nonzero samples.
    sparsity : float, default=0.3
        Weight of the l1 norm of the codes; twice scikit-learn's `alpha`. Letter: λ.
    n_nonzero_coefs : int or None, default=None
        Maximum number of atoms in a code, found by orthogonal matching pursuit instead of
        the l1 norm; None uses `sparsity`. Letter: T.
    update : {'block', 'ksvd', 'exact-ksvd'}, default='block'
        How atoms are updated: from sums over the samples, batch by batch, or by K-SVD, each atom
        with its coefficients and all samples at once. K-SVD needs ``n_nonzero_coefs``.
    nonnegative_codes : bool, default=False
        Whether codes are non-negative.
    nonnegative_atoms : bool, default=False
        Whether atoms are non-negative.
    atom_norm : float, default=1.0
        Maximum length of an atom. Letter: α.
    batch_size : int, default=512
        Number of samples after which the atoms are updated.
    max_iter : int, default=50
        Maximum number of passes over all samples.
    tol : float, default=0.001
        Relative change of the objective in a pass below which the fit has converged.
    sparse_output : bool, default=False
        Whether to return codes as a CSR array.
    random_state : int, RandomState instance or None, default=0
        Seed of the first atoms and of the batches.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every pass, 2 for every batch.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The atoms.
    objective_ : dict
        Reconstruction, sparsity and their total, over all samples (after ``partial_fit``: over
        the last batch).
    n_iter_ : int
        Number of passes, or of batches of ``partial_fit``.
    termination_condition_ : str
        Why the fit stopped.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    n_features_in_ : int
        Number of features of a sample.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import DictionaryLearner
    >>> X, _ = load_digits(return_X_y=True)
    >>> codes = DictionaryLearner(n_atoms=30, sparsity=20).fit_transform(X)
    >>> codes.shape
    (1797, 30)
    """

    _parameter_constraints = {
        "n_atoms": [Interval(Integral, 1, None, closed="left")],
        "sparsity": [Interval(Real, 0, None, closed="left")],
        "n_nonzero_coefs": [Interval(Integral, 1, None, closed="left"), None],
        "update": [StrOptions({"block", "ksvd", "exact-ksvd"})],
        "nonnegative_codes": SWITCHES,
        "nonnegative_atoms": SWITCHES,
        "atom_norm": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "sparse_output": SWITCHES,
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    # The knobs by the name of the parameter.
    _knobs = {
        "n_atoms": "n_atoms",
        "sparsity": "sparsity",
        "n_nonzero_coefs": "n_nonzero",
        "update": "update",
        "nonnegative_codes": "nonnegative_codes",
        "nonnegative_atoms": "nonnegative_atoms",
        "atom_norm": "atom_norm",
        "batch_size": "batch_size",
        "max_iter": "max_iterations",
        "tol": "tolerance",
    }

    def __init__(
        self,
        n_atoms: int = 100,
        *,
        sparsity: float = 0.3,
        n_nonzero_coefs: int | None = None,
        update: Literal["block", "ksvd", "exact-ksvd"] = "block",
        nonnegative_codes: bool = False,
        nonnegative_atoms: bool = False,
        atom_norm: float = 1.0,
        batch_size: int = 512,
        max_iter: int = 50,
        tol: float = 0.001,
        sparse_output: bool = False,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.sparsity = sparsity
        self.n_nonzero_coefs = n_nonzero_coefs
        self.update = update
        self.nonnegative_codes = nonnegative_codes
        self.nonnegative_atoms = nonnegative_atoms
        self.atom_norm = atom_norm
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.sparse_output = sparse_output
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Samples, y: object = None) -> Self:
        """Learn atoms in passes over all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : Ignored

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._validate_params()
        with all_or_nothing(self):
            rows = samples(self, X, [np.float64, np.float32], reset=True)
            learnt = self._learn(rows, stream=False)
        if learnt["stop"] != "converged":
            warnings.warn(
                f"DictionaryLearner stopped at its limit of passes ({learnt['iterations']}) "
                "before it converged; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=caller(),
            )
        return self

    def partial_fit(self, X: Samples, y: object = None) -> Self:
        """Continue learning from a batch of samples, which need not be kept.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The batch. Older batches count less and less, as their codes belong to older atoms.
        y : Ignored

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._validate_params()
        first = not hasattr(self, "components_")
        dtype = [np.float64, np.float32] if first else self.components_.dtype
        with all_or_nothing(self):
            rows = samples(self, X, dtype, reset=first)
            self._learn(rows, stream=True, before=None if first else self._seen)
        return self

    def _learn(
        self, rows: NDArray[Any], stream: bool, before: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        learning = {
            "knobs": [
                (knob, as_text(value))
                for name, knob in self._knobs.items()
                if (value := getattr(self, name)) is not None
            ],
            "seed": seed(self.random_state),
            "threads": threads(self.n_jobs),
            "stream": stream,
            "before": before,
        }
        report = reporter("DictionaryLearner", self.verbose, "dictionary")
        learnt, notices = _ssdl.learn_atoms(rows, learning, report)
        warn_of(notices)
        # What the next batch needs; kept as arrays, so that it is pickled with the rest.
        self._seen = learnt
        self.components_ = learnt["atoms"]
        self.n_iter_ = learnt["iterations"]
        self.n_revived_ = learnt["revived"]
        self.termination_condition_ = learnt["stop"]
        terms = {name: learnt[name] for name in ("reconstruction", "sparsity")}
        self.objective_ = terms | {"total": sum(terms.values())}
        return learnt

    @property
    def _nonnegative(self) -> bool:
        return self.nonnegative_codes
