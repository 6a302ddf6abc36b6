"""What all estimators share: checks of the input, the call of the library, what was learnt.

The classes themselves are written from the register of methods, into ``_methods.py``.
"""

import inspect
import os
import warnings
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.metrics import accuracy_score
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _labels, _ssdl
from .errors import FitWarning, ShapeError

COMMON_CONSTRAINTS = {
    "prepare": [list, tuple, str],
    "image_shape": [list, tuple, None],
    "unlabeled": "no_validation",
    "memory_limit": [Interval(Integral, 1, None, closed="left"), None],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


class FewLabelClassifier(ClassifierMixin, BaseEstimator):
    """Base of all classifiers; see the subclasses."""

    # Name in the register, and the name of each knob there by the name of its parameter.
    _method: str
    _knobs: dict

    def fit(self, X, y):
        """Learn from a few labelled and many unlabelled samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, float32 or float64; the model keeps the number type.
        y : array-like of shape (n_samples,)
            Labels: numbers or text. None, NaN, NA and ``unlabeled`` (-1) mean "no label".

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._validate_params()
        X = self._samples(X, [np.float64, np.float32], reset=True)
        labels = _labels.read(y, self.unlabeled)
        check_consistent_length(X, labels.indices)
        model, notices = _ssdl.fit(X, labels.indices, self._request(labels), self._report())
        for notice in notices:
            warnings.warn(notice, FitWarning, stacklevel=2)
        self._model = model
        self.classes_ = labels.classes
        if model.reached_limit:
            warnings.warn(
                f"{type(self).__name__} stopped at its limit of iterations ({model.iterations}) "
                "before it settled; raise the limit or the tolerance",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X):
        """Classes of samples, each judged independently of the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, raw: the model prepares them as it did the training samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes. For the training samples, ``transduction_`` has what the fit itself found.
        """
        classes = self._said(X)[0]
        return self.classes_[classes]

    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; rows sum to one.
        """
        return self._said(X)[2]

    def decision_function(self, X):
        """Scores of the classes: the highest wins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            With two classes, the score of the second less that of the first.
        """
        scores = self._said(X)[1]
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def score(self, X, y, sample_weight=None):
        """Accuracy on the samples that have a label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels; unlabelled samples do not count.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts.

        Returns
        -------
        accuracy : float
            NaN, with a warning, if no sample has a label.
        """
        check_is_fitted(self)
        known, values = _labels.is_labelled(y, self.unlabeled, self.classes_)
        check_consistent_length(values, sample_weight)
        said = self.predict(X)
        check_consistent_length(values, said)
        if not known.any():
            warnings.warn("no sample has a label", UndefinedMetricWarning, stacklevel=2)
            return float("nan")
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        truth = _labels.tidy(values[known])
        return accuracy_score(truth, said[known], sample_weight=weights)

    def save(self, path):
        """Write the model to a file, which the program ``ssdl`` and ``ssdl.load`` read.

        Parameters
        ----------
        path : str or path-like
            The file; one that exists is replaced once the new one is whole.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    @property
    def transduction_(self):
        """Classes that the fit found for the training samples, labelled ones included."""
        classes = self._learnt.transduction(self._threads())[0]
        return self.classes_[classes]

    @property
    def label_distributions_(self):
        """Shares of the classes in each training sample, (n_samples, n_classes)."""
        return self._learnt.transduction(self._threads())[2]

    @property
    def n_iter_(self):
        """Outer iterations of the fit."""
        return self._learnt.iterations

    @property
    def objective_(self):
        """The objective at the end: its terms by name, and their ``total``."""
        return self._learnt.objective

    @property
    def termination_condition_(self):
        """Why the fit stopped."""
        return self._learnt.stop

    @property
    def coef_(self):
        """Weights of the linear classifier, (n_classes, n_atoms or n_prepared_features)."""
        return self._classifier("coef_")[0]

    @property
    def intercept_(self):
        """Bias of the linear classifier, (n_classes,)."""
        return self._classifier("intercept_")[1]

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    @property
    def _learnt(self):
        check_is_fitted(self)
        return self._model

    def _classifier(self, name):
        linear = self._learnt.classifier
        if linear is None:
            raise AttributeError(f"{type(self).__name__} has no {name}: training samples vote")
        return linear

    def _said(self, X):
        check_is_fitted(self)
        rows = self._samples(X, self._model.precision)
        return self._model.predict(rows, self._threads())

    def _samples(self, X, dtype, reset=False):
        rows = validate_data(self, X, dtype=dtype, order="C", reset=reset)
        # A view into a record or a byte buffer may lie askew.
        return np.require(rows, requirements=["C", "A"])

    def _threads(self):
        return effective_n_jobs(self.n_jobs)

    def _request(self, labels):
        """What the library is asked, apart from the samples."""
        return {
            "method": self._method,
            "knobs": [(knob, _text(getattr(self, name))) for name, knob in self._knobs.items()],
            "classes": labels.names,
            "prepare": [self.prepare] if isinstance(self.prepare, str) else list(self.prepare),
            "image": None if self.image_shape is None else _shape(self.image_shape),
            "seed": self._seed(),
            "threads": self._threads(),
            "memory_limit": None if self.memory_limit is None else int(self.memory_limit),
        }

    def _seed(self):
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _report(self):
        """What is called after every step; nothing unless asked for."""
        if not self.verbose:
            return None
        name, every_step = type(self).__name__, self.verbose > 1

        def report(iteration, limit, step, objective):
            # The one step that every iteration of every method with atoms has.
            if every_step or iteration == 0 or step == "dictionary":
                value = "" if objective is None else f", objective {objective:.6g}"
                print(f"[{name}] iteration {iteration} of at most {limit}: {step}{value}")

        return report

    @classmethod
    def _of_model(cls, model):
        """The estimator that would have been fitted to this model."""
        defaults = {
            name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()
        }
        found = dict(model.knobs)
        parameters = {
            name: _value(found[knob], type(defaults[name]))
            for name, knob in cls._knobs.items()
            if knob in found
        }
        estimator = cls(
            **parameters,
            prepare=tuple(model.prepare),
            image_shape=None if model.image is None else tuple(model.image),
            random_state=model.seed,
        )
        estimator._model = model
        estimator.classes_ = _labels.from_names(model.classes)
        estimator.n_features_in_ = model.n_features
        return estimator


class DictionaryClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FewLabelClassifier):
    """Base of the classifiers that learn atoms; see the subclasses."""

    def transform(self, X):
        """Sparse codes of samples, each coded independently of the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_atoms)
            For the training samples, ``codes_`` has those of the fit itself.
        """
        check_is_fitted(self)
        rows = self._samples(X, self._model.precision)
        return self._model.code(rows, self._threads())

    def inverse_transform(self, X):
        """Samples as their codes write them, in the space of prepared samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_atoms)
            Codes.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_prepared_features)
            ``X @ components_``; the preparation is not undone.
        """
        check_is_fitted(self)
        codes = check_array(X, dtype=self._model.precision)
        if codes.shape[1] != self._model.n_atoms:
            raise ShapeError(
                f"atoms in a code: expected {self._model.n_atoms}, got {codes.shape[1]}"
            )
        return codes @ self.components_

    @property
    def components_(self):
        """Atoms, (n_atoms, n_prepared_features)."""
        return self._learnt.atoms

    @property
    def codes_(self):
        """Sparse codes of the training samples, (n_samples, n_atoms)."""
        return self._learnt.codes

    @property
    def _n_features_out(self):
        return self._learnt.n_atoms

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _text(value):
    """A parameter as the library reads it."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, Integral):
        return str(int(value))
    if np.ndim(value) == 1:
        return ",".join(_text(part) for part in value)
    return repr(float(value))


def _value(text, kind):
    """A parameter as Python writes it, from the library's text and the type of its default."""
    if kind is bool:
        return text == "true"
    if kind is tuple:
        return tuple(float(part) for part in text.split(","))
    return kind(text)


def _shape(pair):
    height, width = pair
    return int(height), int(width)
