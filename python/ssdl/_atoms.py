"""What the classifiers with atoms share: codes, reconstructions, learning on."""

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from . import _labels
from ._base import FewLabelClassifier
from ._request import sparse_rows
from .errors import GraphError, SamplesError, ShapeError


class WritesSamples(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Whatever has atoms in ``components_`` to write samples with."""

    def inverse_transform(self, X):
        """Samples as their codes write them, in the space that the atoms live in.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_atoms)
            Codes.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_prepared_features)
            ``X @ components_``; a preparation is not undone.
        """
        check_is_fitted(self)
        atoms = self.components_
        codes = check_array(X, dtype=atoms.dtype, accept_sparse="csr")
        if codes.shape[1] != len(atoms):
            raise ShapeError(f"atoms in a code: expected {len(atoms)}, got {codes.shape[1]}")
        return np.asarray(codes @ atoms)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class DictionaryClassifier(WritesSamples, FewLabelClassifier):
    """Base of the classifiers that learn atoms; see the subclasses."""

    def partial_fit(self, X, y, classes=None):
        """Learn on from more samples, from where the last fit ended.

        The samples before are kept and learnt from, too: the result is a fit of all of them, which
        atoms, codes and preparation enter as they are. The cost of a call grows with all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Further samples.
        y : array-like of shape (n_samples,)
            Their labels, as in ``fit``.
        classes : array-like, default=None
            All classes there will be, of which the first calls may not show each one.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._validate_params()
        first = not hasattr(self, "_model")
        dtype = [np.float64, np.float32] if first else self._model.precision
        rows = self._samples(X, dtype, reset=first)
        further = _labels.as_column(y)
        check_consistent_length(rows, further)
        known = None if classes is None else _labels.as_column(classes)
        if first:
            labels = _labels.read(further, self.unlabeled, known)
            return self._learn_from(rows, labels)
        if not hasattr(self, "_training"):
            raise SamplesError(
                "files and pickles leave the training samples out, which are learnt from again: "
                "fit all samples at once"
            )
        before, graph = self._training
        if graph is not None:
            raise GraphError(
                "the graph that was given knows only the samples it was given with: fit all "
                "samples with a graph of all"
            )
        labels = _labels.followed(self.classes_, self._model.labels, further, self.unlabeled, known)
        return self._learn_from(np.concatenate([before, rows]), labels, start=self._model)

    def transform(self, X):
        """Sparse codes of samples, each coded independently of the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        codes : ndarray or CSR array of shape (n_samples, n_atoms)
            As ``sparse_output`` says. For the training samples, ``codes_`` has those of the fit.
        """
        check_is_fitted(self)
        rows = self._samples(X, self._model.precision)
        codes = self._model.code(rows, self.sparse_output, self._threads())
        return sparse_rows(codes, self._model.n_atoms) if self.sparse_output else codes

    @property
    def components_(self):
        """Atoms, (n_atoms, n_prepared_features)."""
        return self._learnt.atoms

    @property
    def codes_(self):
        """Sparse codes of the training samples, (n_samples, n_atoms)."""
        return self._learnt.codes

    @property
    def n_revived_(self):
        """Atoms that nobody used, replaced during the fit."""
        return self._learnt.revived_atoms

    @property
    def _n_features_out(self):
        return self._learnt.n_atoms
