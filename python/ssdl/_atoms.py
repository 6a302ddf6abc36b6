"""What the classifiers with atoms share: codes, reconstructions, partial fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from . import _labels
from ._base import FewLabelClassifier
from ._request import sparse_rows
from ._sklearn import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from .errors import GraphError, SamplesError, ShapeError

if TYPE_CHECKING:
    from typing import Self

    from sklearn.utils import Tags

    from ._types import Labels, Real, Samples


class ReconstructsSamples(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Anything with atoms in ``components_``, from which samples are reconstructed."""

    components_: Any

    def inverse_transform(self, X: Samples) -> Real:
        """Reconstruct samples from their codes, in the space of the atoms.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_atoms)
            Codes.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_prepared_features)
            ``X @ components_``; the preparation is not undone.
        """
        check_is_fitted(self)
        atoms = self.components_
        codes = check_array(X, dtype=atoms.dtype, accept_sparse="csr")
        if codes.shape[1] != len(atoms):
            raise ShapeError(f"atoms in a code: expected {len(atoms)}, got {codes.shape[1]}")
        return np.asarray(codes @ atoms)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class DictionaryClassifier(ReconstructsSamples, FewLabelClassifier):
    """Base of the classifiers that learn atoms; see the subclasses."""

    sparse_output: bool

    def partial_fit(self, X: Samples, y: Labels, classes: Labels | None = None) -> Self:
        """Continue the last fit with more samples.

        Earlier samples are kept: the result is a fit of all of them that starts from the current
        atoms, codes and preparation. The cost of a call grows with the number of all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            More samples.
        y : array-like of shape (n_samples,)
            Their labels, as in ``fit``.
        classes : array-like, default=None
            All classes, including those that the first calls may not contain.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._validate_params()
        first = not hasattr(self, "_model")
        dtype = [np.float64, np.float32] if first else self._model.precision
        rows = self._samples(X, dtype, reset=first)
        added = _labels.as_column(y)
        check_consistent_length(rows, added)
        known = None if classes is None else _labels.as_column(classes)
        if first:
            labels = _labels.read(added, self.unlabeled, known)
            # A stream of batches often reuses its array.
            return self._learn_from(rows.copy(), labels, shared=False)
        if not hasattr(self, "_training"):
            raise SamplesError(
                "files and pickles do not hold the training samples, which partial_fit needs: "
                "fit all samples at once"
            )
        before, graph = self._unchanged_training()
        if graph is not None:
            raise GraphError(
                "the given graph covers only the samples of the last fit: fit all samples with a "
                "graph of all"
            )
        weights = self._row_weights.followed_by(len(rows), len(before))
        earlier = self._row_weights.all_rows(self._model.labels, -1)
        labels = _labels.extended(self.classes_, earlier, added, self.unlabeled, known)
        both = np.concatenate([before, rows])
        return self._learn_from(both, labels, weights, start=self._model, shared=False)

    def transform(self, X: Samples) -> Any:
        """Sparse codes of samples, each coded independently of the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        codes : ndarray or CSR array of shape (n_samples, n_atoms)
            A CSR array if ``sparse_output`` is set. For the training samples, ``codes_`` has the
            codes of the fit.
        """
        check_is_fitted(self)
        rows = self._samples(X, self._model.precision)
        codes = self._model.code(rows, self.sparse_output, self._threads(), self.device)
        return sparse_rows(codes, self._model.n_atoms) if self.sparse_output else codes

    @property
    def components_(self) -> Real:
        """Atoms, (n_atoms, n_prepared_features)."""
        return self._learnt.atoms

    @property
    def codes_(self) -> Real:
        """Sparse codes of the training samples, (n_samples, n_atoms); none of weight zero."""
        return self._learnt.codes

    @property
    def n_revived_(self) -> int:
        """Number of unused atoms that were replaced during the fit."""
        return self._learnt.revived_atoms

    @property
    def _n_features_out(self) -> int:
        return self._learnt.n_atoms
