"""The methods as classes, generated from the register by python/generate.py."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

from sklearn.utils._param_validation import Interval, StrOptions

from ._atoms import DictionaryClassifier
from ._base import COMMON_CONSTRAINTS, FewLabelClassifier, TakesGraph

if TYPE_CHECKING:
    from ._types import ClassWeight, Device, ImageShape, Numbers, PathLike, Seed, Steps

__all__ = [
    "SSDLGA",
    "AutoSSDL",
    "USSDL",
    "GraphSC",
    "S2D2",
    "SSDLP",
    "SSRD",
    "SSPDL",
    "PSSDL",
    "SRC",
    "SRCByClass",
    "JDL",
    "OSSDL",
    "LCRLSDLA",
    "KSVD",
    "LCKSVD",
    "SupGraphDL",
    "LinearSVM",
    "Ridge",
    "Nearest",
    "Forest",
    "LabelSpreading",
    "SelfTraining",
]


class SSDLGA(TakesGraph, DictionaryClassifier):  # type: ignore[misc]
    r"""Semi-supervised dictionary learning with graph regularisation and active points.

    Atoms, sparse codes and a linear classifier are learnt together from labelled and unlabelled
    samples. An LLE graph keeps the shape of the data in the codes, unlabelled samples vote with
    class memberships, and the classifier is fitted on active points only. New samples are coded
    with the same graph.

    .. math::

        \min_{D\in\mathcal C,A,W,b,P}\ \lVert X-DA\rVert_F^2+\lambda\lVert A\rVert_1
        +\beta\sum_i\Bigl\lVert a_i-\sum_{j\in\mathrm{knn}(i)}\hat\lambda_{ij}a_j\Bigr\rVert^2
        +\gamma\sum_j\sum_kP_{kj}^r\,e_k(W^\top a_j+b)+\mu(\lVert W\rVert^2+\lVert b\rVert^2)

    Parameters
    ----------
    n_atoms : int or "auto", default='auto'
        Number of atoms, at most one per sample; `auto`: one per feature or, if more, 10 per
        class, up to 200. Letter: p. Allowed: auto, or a whole number, 1 or more.
    sparsity : float, default=0.3
        Weight of the l1 norm of the codes; twice scikit-learn's `alpha`. Letter: λ. Allowed: a
        number, 0 or more.
    manifold : float, default=0.5
        Weight of the graph term. Letter: β. Allowed: a number, 0 or more.
    discrimination : float, default=0.5
        Weight of the classifier's loss on the codes. Letter: γ. Allowed: a number, 0 or more.

    Other Parameters
    ----------------
    *About the graph:*

    halve_new : bool, default=False
        Whether a `heat` or `threshold` graph pulls half as much on new samples, as in the paper.
    denoise : int, default=0
        Iterations before the graph is built from reconstructions; 0 builds it from the samples.
        Allowed: a whole number, 0 or more.
    kept_samples : {"auto", "all", "half", "landmarks"}, default='auto'
        Training samples in the model, to tie new ones to; `auto`: all up to 20,000, beyond
        10,000 in half precision.
    graph : {"lle", "heat", "threshold", "learnt", "expressive"}, default='lle'
        Graph between the samples.
    n_neighbors : int, default=8
        Neighbours per sample in an `lle` or `heat` graph; at most the number of samples less
        one. Letter: k. Allowed: a whole number, 1 or more.
    neighbours : {"auto", "exact", "approximate"}, default='auto'
        Search for neighbours: `auto` is exact up to 20,000 samples, approximate beyond.
    width : float or str, default='1x'
        Width of the kernel of a `heat` or `threshold` graph; `0.5x` is half the mean distance.
        Letter: σ. Allowed: a number above 0.
    percentile : float, default=0.02
        Share of all pairs of samples that a `threshold` graph joins. Letter: ζ. Allowed: a
        number between 0 and 1.
    smoothness : float, default=5.0
        How evenly a `learnt` graph spreads its weights; scales with squared distances. Letter:
        β_L. Allowed: a number above 0.
    self_sparsity : float, default=7.5
        Weight of the l1 norm with which an `expressive` graph writes samples with others; scales
        with squared lengths. Letter: κ. Allowed: a number above 0.
    normalise_trace : bool, default=False
        Whether to scale the graph so that its trace is the number of samples.

    *About the method:*

    ridge : float or "auto", default='auto'
        Weight of the classifier's squared norm; `auto`: by leaving labels out, at least twice
        `discrimination`. Letter: μ. Allowed: auto, or a number above 0.
    sharpness : float, default=1.7
        How undecided memberships may be: 1 picks a single class, larger values spread the vote.
        Letter: r. Allowed: a number, 1 or more.
    voting : {"measured", "paper"}, default='measured'
        How unlabelled samples vote: `measured`, by the next three knobs, or `paper`, all of them
        fully.
    unlabelled_weight : float or "auto", default='auto'
        Weight of an unlabelled sample in the loss, a label's being 1; `auto`: less where they
        are many or err. Letter: u. Allowed: auto, or a number, 0 or more.
    balance : float, default=1.0
        How far class shares of votes and labels are moved towards `prior`: 0 leaves them, 1
        makes them equal. Allowed: a number from 0 to 1.
    prior : str, or array-like of float, default='estimated'
        Expected class shares of unlabelled samples: `estimated`, `recounted`, `even`,
        `labelled`, or a number per class. Allowed: estimated, recounted, even, labelled, or a
        number above 0 per class, such as 0.3,0.7.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    active_points : {"majorised", "frozen"}, default='majorised'
        How the loss is approximated: `majorised`, which never rises, or `frozen`, as in the
        paper.
    atom_norm : float, default=1.0
        Largest length of an atom. Letter: α. Allowed: a number above 0.
    max_iter : int, default=15
        Maximum number of outer iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0015
        Relative change of the objective at which the fit has converged, once almost no label
        changes. Allowed: a number, 0 or more.
    coder : {"coordinate", "fista", "batches"}, default='coordinate'
        Solver of the coding step.
    coder_steps : int, default=0
        Sweeps, iterations or epochs of the coder per outer iteration; 0 means its own default.
        Allowed: a whole number, 0 or more.
    coder_tolerance : float, default=0.01
        Optimality gap, relative to `sparsity`, at which the coder stops. Allowed: a number, 0 or
        more.
    batch_size : int, default=256
        Samples per batch, if the coder is `batches`. Allowed: a whole number, 1 or more.
    dictionary_update : {"block", "fista", "dual"}, default='block'
        Solver of the dictionary step.
    revive : bool, default=True
        Whether unused atoms are replaced by badly reconstructed samples.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    AutoSSDL : Weighted mean of several methods, by how well they predict hidden labels.
    USSDL : Adaptively unified semi-supervised dictionary learning with active points.
    GraphSC : Graph-regularised sparse coding with a linear SVM on the codes.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Tran, Ngolè Mboula, Starck, Prost (2020): https://arxiv.org/abs/2009.05964

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import SSDLGA
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = SSDLGA(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "ssdl-ga"
    _doc_link_template = "https://arxiv.org/abs/2009.05964"
    _knobs = {
        "n_atoms": "n_atoms",
        "sparsity": "sparsity",
        "manifold": "manifold",
        "halve_new": "halve_new",
        "denoise": "denoise",
        "kept_samples": "kept_samples",
        "graph": "graph",
        "n_neighbors": "n_neighbors",
        "neighbours": "neighbours",
        "width": "width",
        "percentile": "percentile",
        "smoothness": "smoothness",
        "self_sparsity": "self_sparsity",
        "normalise_trace": "normalise_trace",
        "discrimination": "discrimination",
        "ridge": "ridge",
        "sharpness": "sharpness",
        "voting": "voting",
        "unlabelled_weight": "unlabelled_weight",
        "balance": "balance",
        "prior": "prior",
        "active_points": "active_points",
        "atom_norm": "atom_norm",
        "max_iter": "max_iterations",
        "tol": "tolerance",
        "coder": "coder",
        "coder_steps": "coder_steps",
        "coder_tolerance": "coder_tolerance",
        "batch_size": "batch_size",
        "dictionary_update": "dictionary_update",
        "revive": "revive",
    }
    _parameter_constraints = {
        "n_atoms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "sparsity": [Interval(Real, 0.0, None, closed="left")],
        "manifold": [Interval(Real, 0.0, None, closed="left")],
        "halve_new": ["boolean"],
        "denoise": [Interval(Integral, 0, None, closed="left")],
        "kept_samples": [StrOptions({"auto", "all", "half", "landmarks"})],
        "graph": [StrOptions({"lle", "heat", "threshold", "learnt", "expressive"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "neighbours": [StrOptions({"auto", "exact", "approximate"})],
        "width": [Interval(Real, 0.0, None, closed="neither"), str],
        "percentile": [Interval(Real, 0.0, 1.0, closed="neither")],
        "smoothness": [Interval(Real, 0.0, None, closed="neither")],
        "self_sparsity": [Interval(Real, 0.0, None, closed="neither")],
        "normalise_trace": ["boolean"],
        "discrimination": [Interval(Real, 0.0, None, closed="left")],
        "ridge": [StrOptions({"auto"}), Interval(Real, 0.0, None, closed="neither")],
        "sharpness": [Interval(Real, 1.0, None, closed="left")],
        "voting": [StrOptions({"measured", "paper"})],
        "unlabelled_weight": [StrOptions({"auto"}), Interval(Real, 0.0, None, closed="left")],
        "balance": [Interval(Real, 0.0, 1.0, closed="both")],
        "prior": [StrOptions({"estimated", "recounted", "even", "labelled"}), "array-like"],
        "active_points": [StrOptions({"majorised", "frozen"})],
        "atom_norm": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "coder": [StrOptions({"coordinate", "fista", "batches"})],
        "coder_steps": [Interval(Integral, 0, None, closed="left")],
        "coder_tolerance": [Interval(Real, 0.0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "dictionary_update": [StrOptions({"block", "fista", "dual"})],
        "revive": ["boolean"],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int | Literal["auto"] = "auto",
        sparsity: float = 0.3,
        manifold: float = 0.5,
        halve_new: bool = False,
        denoise: int = 0,
        kept_samples: Literal["auto", "all", "half", "landmarks"] = "auto",
        graph: Literal["lle", "heat", "threshold", "learnt", "expressive"] = "lle",
        n_neighbors: int = 8,
        neighbours: Literal["auto", "exact", "approximate"] = "auto",
        width: float | str = "1x",
        percentile: float = 0.02,
        smoothness: float = 5.0,
        self_sparsity: float = 7.5,
        normalise_trace: bool = False,
        discrimination: float = 0.5,
        ridge: float | Literal["auto"] = "auto",
        sharpness: float = 1.7,
        voting: Literal["measured", "paper"] = "measured",
        unlabelled_weight: float | Literal["auto"] = "auto",
        balance: float = 1.0,
        prior: Literal["estimated", "recounted", "even", "labelled"] | Numbers = "estimated",
        active_points: Literal["majorised", "frozen"] = "majorised",
        atom_norm: float = 1.0,
        max_iter: int = 15,
        tol: float = 0.0015,
        coder: Literal["coordinate", "fista", "batches"] = "coordinate",
        coder_steps: int = 0,
        coder_tolerance: float = 0.01,
        batch_size: int = 256,
        dictionary_update: Literal["block", "fista", "dual"] = "block",
        revive: bool = True,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.sparsity = sparsity
        self.manifold = manifold
        self.halve_new = halve_new
        self.denoise = denoise
        self.kept_samples = kept_samples
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.neighbours = neighbours
        self.width = width
        self.percentile = percentile
        self.smoothness = smoothness
        self.self_sparsity = self_sparsity
        self.normalise_trace = normalise_trace
        self.discrimination = discrimination
        self.ridge = ridge
        self.sharpness = sharpness
        self.voting = voting
        self.unlabelled_weight = unlabelled_weight
        self.balance = balance
        self.prior = prior
        self.active_points = active_points
        self.atom_norm = atom_norm
        self.max_iter = max_iter
        self.tol = tol
        self.coder = coder
        self.coder_steps = coder_steps
        self.coder_tolerance = coder_tolerance
        self.batch_size = batch_size
        self.dictionary_update = dictionary_update
        self.revive = revive
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class AutoSSDL(TakesGraph, FewLabelClassifier):  # type: ignore[misc]
    r"""Weighted mean of several methods, by how well they predict hidden labels.

    SSDL-GA, logistic regression, label spreading, a random forest and least squares with a
    Gaussian kernel are fitted with labels hidden in turn. Their calibrated probabilities for the
    hidden samples give each a weight, and those with a weight decide together. The best first
    choice for samples of which nothing is known; one to three times the time of a calibrated fit
    of SSDL-GA.

    .. math::

        \max_{w\ge0,\,\sum_mw_m=1}\ \sum_{i\text{ hidden}}\log\sum_mw_m\,p_m(y_i\mid x_i)

    Parameters
    ----------
    parts : int, default=3
        Parts of the labels that are hidden in turn, from two labels per class on. Allowed: a
        whole number, 2 or more.

    Other Parameters
    ----------------
    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the run:*

    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    SSDLGA : Semi-supervised dictionary learning with graph regularisation and active points.
    USSDL : Adaptively unified semi-supervised dictionary learning with active points.
    GraphSC : Graph-regularised sparse coding with a linear SVM on the codes.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    stacked generalisation, Wolpert (1992): https://doi.org/10.1016/S0893-6080(05)80023-1

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import AutoSSDL
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = AutoSSDL().fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "auto"
    _doc_link_template = "https://doi.org/10.1016/S0893-6080(05)80023-1"
    _knobs = {
        "parts": "parts",
    }
    _parameter_constraints = {
        "parts": [Interval(Integral, 2, None, closed="left")],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        parts: int = 3,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.parts = parts
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class USSDL(DictionaryClassifier):
    r"""Adaptively unified semi-supervised dictionary learning with active points.

    SSDL-GA with the graph weight at zero: samples are coded one by one, so it is faster and
    keeps no training samples in the model, but it does not use the shape of the data.

    .. math::

        \min_{D\in\mathcal C,A,W,b,P}\ \lVert X-DA\rVert_F^2+\lambda\lVert A\rVert_1
        +\gamma\sum_j\sum_kP_{kj}^r\,e_k(W^\top a_j+b)+\mu(\lVert W\rVert^2+\lVert b\rVert^2)

    Parameters
    ----------
    n_atoms : int or "auto", default='auto'
        Number of atoms, at most one per sample; `auto`: one per feature or, if more, 10 per
        class, up to 200. Letter: p. Allowed: auto, or a whole number, 1 or more.
    sparsity : float, default=0.3
        Weight of the l1 norm of the codes; twice scikit-learn's `alpha`. Letter: λ. Allowed: a
        number, 0 or more.
    discrimination : float, default=0.5
        Weight of the classifier's loss on the codes. Letter: γ. Allowed: a number, 0 or more.
    ridge : float or "auto", default='auto'
        Weight of the classifier's squared norm; `auto`: by leaving labels out, at least twice
        `discrimination`. Letter: μ. Allowed: auto, or a number above 0.

    Other Parameters
    ----------------
    *About the method:*

    sharpness : float, default=1.7
        How undecided memberships may be: 1 picks a single class, larger values spread the vote.
        Letter: r. Allowed: a number, 1 or more.
    voting : {"measured", "paper"}, default='measured'
        How unlabelled samples vote: `measured`, by the next three knobs, or `paper`, all of them
        fully.
    unlabelled_weight : float or "auto", default='auto'
        Weight of an unlabelled sample in the loss, a label's being 1; `auto`: less where they
        are many or err. Letter: u. Allowed: auto, or a number, 0 or more.
    balance : float, default=1.0
        How far class shares of votes and labels are moved towards `prior`: 0 leaves them, 1
        makes them equal. Allowed: a number from 0 to 1.
    prior : str, or array-like of float, default='estimated'
        Expected class shares of unlabelled samples: `estimated`, `recounted`, `even`,
        `labelled`, or a number per class. Allowed: estimated, recounted, even, labelled, or a
        number above 0 per class, such as 0.3,0.7.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    active_points : {"majorised", "frozen"}, default='majorised'
        How the loss is approximated: `majorised`, which never rises, or `frozen`, as in the
        paper.
    atom_norm : float, default=1.0
        Largest length of an atom. Letter: α. Allowed: a number above 0.
    max_iter : int, default=15
        Maximum number of outer iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0015
        Relative change of the objective at which the fit has converged, once almost no label
        changes. Allowed: a number, 0 or more.
    coder : {"coordinate", "fista", "batches"}, default='coordinate'
        Solver of the coding step.
    coder_steps : int, default=0
        Sweeps, iterations or epochs of the coder per outer iteration; 0 means its own default.
        Allowed: a whole number, 0 or more.
    coder_tolerance : float, default=0.01
        Optimality gap, relative to `sparsity`, at which the coder stops. Allowed: a number, 0 or
        more.
    batch_size : int, default=256
        Samples per batch, if the coder is `batches`. Allowed: a whole number, 1 or more.
    dictionary_update : {"block", "fista", "dual"}, default='block'
        Solver of the dictionary step.
    revive : bool, default=True
        Whether unused atoms are replaced by badly reconstructed samples.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    SSDLGA : Semi-supervised dictionary learning with graph regularisation and active points.
    AutoSSDL : Weighted mean of several methods, by how well they predict hidden labels.
    GraphSC : Graph-regularised sparse coding with a linear SVM on the codes.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Wang, Guo, Li (ICCV 2015), as the graph-free case of SSDL-GA: https://arxiv.org/abs/2009.05964

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import USSDL
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = USSDL(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "ussdl"
    _doc_link_template = "https://arxiv.org/abs/2009.05964"
    _knobs = {
        "n_atoms": "n_atoms",
        "sparsity": "sparsity",
        "discrimination": "discrimination",
        "ridge": "ridge",
        "sharpness": "sharpness",
        "voting": "voting",
        "unlabelled_weight": "unlabelled_weight",
        "balance": "balance",
        "prior": "prior",
        "active_points": "active_points",
        "atom_norm": "atom_norm",
        "max_iter": "max_iterations",
        "tol": "tolerance",
        "coder": "coder",
        "coder_steps": "coder_steps",
        "coder_tolerance": "coder_tolerance",
        "batch_size": "batch_size",
        "dictionary_update": "dictionary_update",
        "revive": "revive",
    }
    _parameter_constraints = {
        "n_atoms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "sparsity": [Interval(Real, 0.0, None, closed="left")],
        "discrimination": [Interval(Real, 0.0, None, closed="left")],
        "ridge": [StrOptions({"auto"}), Interval(Real, 0.0, None, closed="neither")],
        "sharpness": [Interval(Real, 1.0, None, closed="left")],
        "voting": [StrOptions({"measured", "paper"})],
        "unlabelled_weight": [StrOptions({"auto"}), Interval(Real, 0.0, None, closed="left")],
        "balance": [Interval(Real, 0.0, 1.0, closed="both")],
        "prior": [StrOptions({"estimated", "recounted", "even", "labelled"}), "array-like"],
        "active_points": [StrOptions({"majorised", "frozen"})],
        "atom_norm": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "coder": [StrOptions({"coordinate", "fista", "batches"})],
        "coder_steps": [Interval(Integral, 0, None, closed="left")],
        "coder_tolerance": [Interval(Real, 0.0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "dictionary_update": [StrOptions({"block", "fista", "dual"})],
        "revive": ["boolean"],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int | Literal["auto"] = "auto",
        sparsity: float = 0.3,
        discrimination: float = 0.5,
        ridge: float | Literal["auto"] = "auto",
        sharpness: float = 1.7,
        voting: Literal["measured", "paper"] = "measured",
        unlabelled_weight: float | Literal["auto"] = "auto",
        balance: float = 1.0,
        prior: Literal["estimated", "recounted", "even", "labelled"] | Numbers = "estimated",
        active_points: Literal["majorised", "frozen"] = "majorised",
        atom_norm: float = 1.0,
        max_iter: int = 15,
        tol: float = 0.0015,
        coder: Literal["coordinate", "fista", "batches"] = "coordinate",
        coder_steps: int = 0,
        coder_tolerance: float = 0.01,
        batch_size: int = 256,
        dictionary_update: Literal["block", "fista", "dual"] = "block",
        revive: bool = True,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.sparsity = sparsity
        self.discrimination = discrimination
        self.ridge = ridge
        self.sharpness = sharpness
        self.voting = voting
        self.unlabelled_weight = unlabelled_weight
        self.balance = balance
        self.prior = prior
        self.active_points = active_points
        self.atom_norm = atom_norm
        self.max_iter = max_iter
        self.tol = tol
        self.coder = coder
        self.coder_steps = coder_steps
        self.coder_tolerance = coder_tolerance
        self.batch_size = batch_size
        self.dictionary_update = dictionary_update
        self.revive = revive
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class GraphSC(TakesGraph, DictionaryClassifier):  # type: ignore[misc]
    r"""Graph-regularised sparse coding with a linear SVM on the codes.

    Atoms and codes are learnt without the labels, with a graph of your choice between the
    samples; then a linear SVM, one class against all others, is trained on the codes of the
    labelled samples. New samples are coded with the same graph. Unlabelled samples shape atoms
    and codes.

    .. math::

        \min_{D\in\mathcal C,A}\ \lVert X-DA\rVert_F^2+\beta\operatorname{tr}(ALA^\top)
        +\lambda\lVert A\rVert_1

    Parameters
    ----------
    n_atoms : int, default=128
        Number of atoms; mixtures of samples make up for missing samples. Letter: p. Allowed: a
        whole number, 1 or more.
    sparsity : float, default=0.5
        Weight of the l1 norm of the codes; twice scikit-learn's `alpha`. Letter: λ. Allowed: a
        number, 0 or more.
    manifold : float, default=1.0
        Weight of the graph term. Letter: β. Allowed: a number, 0 or more.
    box_constraints : array-like of float, or float, default=(0.1, 1.0, 10.0)
        Box constraints of the SVM; cross-validation on the given labels picks the best. Letter:
        C. Allowed: up to 16 numbers above 0, such as 0.1,1,10.

    Other Parameters
    ----------------
    *About the graph:*

    halve_new : bool, default=False
        Whether a `heat` or `threshold` graph pulls half as much on new samples, as in the paper.
    denoise : int, default=0
        Iterations before the graph is built from reconstructions; 0 builds it from the samples.
        Allowed: a whole number, 0 or more.
    kept_samples : {"auto", "all", "half", "landmarks"}, default='auto'
        Training samples in the model, to tie new ones to; `auto`: all up to 20,000, beyond
        10,000 in half precision.
    graph : {"lle", "heat", "threshold", "learnt", "expressive"}, default='lle'
        Graph between the samples.
    n_neighbors : int, default=8
        Neighbours per sample in an `lle` or `heat` graph; at most the number of samples less
        one. Letter: k. Allowed: a whole number, 1 or more.
    neighbours : {"auto", "exact", "approximate"}, default='auto'
        Search for neighbours: `auto` is exact up to 20,000 samples, approximate beyond.
    width : float or str, default='1x'
        Width of the kernel of a `heat` or `threshold` graph; `0.5x` is half the mean distance.
        Letter: σ. Allowed: a number above 0.
    percentile : float, default=0.05
        Share of all pairs of samples that a `threshold` graph joins. Letter: ζ. Allowed: a
        number between 0 and 1.
    smoothness : float, default=5.0
        How evenly a `learnt` graph spreads its weights; scales with squared distances. Letter:
        β_L. Allowed: a number above 0.
    self_sparsity : float, default=7.5
        Weight of the l1 norm with which an `expressive` graph writes samples with others; scales
        with squared lengths. Letter: κ. Allowed: a number above 0.
    normalise_trace : bool, default=True
        Whether to scale the graph so that its trace is the number of samples.

    *About the method:*

    loss : {"hinge", "squared-hinge"}, default='hinge'
        Loss of the SVM for a sample inside its margin.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    folds : int, default=5
        Number of cross-validation folds; at most the labelled samples of the smallest class.
        Allowed: a whole number, 2 or more.
    atom_norm : float, default=1.0
        Largest length of an atom. Letter: α. Allowed: a number above 0.
    max_iter : int, default=20
        Maximum number of outer iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.001
        Relative change of the objective at which the fit has converged, once almost no label
        changes. Allowed: a number, 0 or more.
    coder : {"coordinate", "fista", "batches"}, default='coordinate'
        Solver of the coding step.
    coder_steps : int, default=0
        Sweeps, iterations or epochs of the coder per outer iteration; 0 means its own default.
        Allowed: a whole number, 0 or more.
    coder_tolerance : float, default=0.01
        Optimality gap, relative to `sparsity`, at which the coder stops. Allowed: a number, 0 or
        more.
    batch_size : int, default=256
        Samples per batch, if the coder is `batches`. Allowed: a whole number, 1 or more.
    dictionary_update : {"block", "fista", "dual"}, default='block'
        Solver of the dictionary step.
    revive : bool, default=True
        Whether unused atoms are replaced by badly reconstructed samples.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    SSDLGA : Semi-supervised dictionary learning with graph regularisation and active points.
    AutoSSDL : Weighted mean of several methods, by how well they predict hidden labels.
    USSDL : Adaptively unified semi-supervised dictionary learning with active points.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Zheng et al. (2011); graphs as compared by Tran et al. (2020): https://arxiv.org/abs/2009.05964

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import GraphSC
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = GraphSC(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "graph-sc"
    _doc_link_template = "https://arxiv.org/abs/2009.05964"
    _knobs = {
        "n_atoms": "n_atoms",
        "sparsity": "sparsity",
        "manifold": "manifold",
        "halve_new": "halve_new",
        "denoise": "denoise",
        "kept_samples": "kept_samples",
        "graph": "graph",
        "n_neighbors": "n_neighbors",
        "neighbours": "neighbours",
        "width": "width",
        "percentile": "percentile",
        "smoothness": "smoothness",
        "self_sparsity": "self_sparsity",
        "normalise_trace": "normalise_trace",
        "box_constraints": "box_constraints",
        "folds": "folds",
        "loss": "loss",
        "atom_norm": "atom_norm",
        "max_iter": "max_iterations",
        "tol": "tolerance",
        "coder": "coder",
        "coder_steps": "coder_steps",
        "coder_tolerance": "coder_tolerance",
        "batch_size": "batch_size",
        "dictionary_update": "dictionary_update",
        "revive": "revive",
    }
    _parameter_constraints = {
        "n_atoms": [Interval(Integral, 1, None, closed="left")],
        "sparsity": [Interval(Real, 0.0, None, closed="left")],
        "manifold": [Interval(Real, 0.0, None, closed="left")],
        "halve_new": ["boolean"],
        "denoise": [Interval(Integral, 0, None, closed="left")],
        "kept_samples": [StrOptions({"auto", "all", "half", "landmarks"})],
        "graph": [StrOptions({"lle", "heat", "threshold", "learnt", "expressive"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "neighbours": [StrOptions({"auto", "exact", "approximate"})],
        "width": [Interval(Real, 0.0, None, closed="neither"), str],
        "percentile": [Interval(Real, 0.0, 1.0, closed="neither")],
        "smoothness": [Interval(Real, 0.0, None, closed="neither")],
        "self_sparsity": [Interval(Real, 0.0, None, closed="neither")],
        "normalise_trace": ["boolean"],
        "box_constraints": ["array-like", Interval(Real, 0.0, None, closed="neither")],
        "folds": [Interval(Integral, 2, None, closed="left")],
        "loss": [StrOptions({"hinge", "squared-hinge"})],
        "atom_norm": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "coder": [StrOptions({"coordinate", "fista", "batches"})],
        "coder_steps": [Interval(Integral, 0, None, closed="left")],
        "coder_tolerance": [Interval(Real, 0.0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "dictionary_update": [StrOptions({"block", "fista", "dual"})],
        "revive": ["boolean"],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int = 128,
        sparsity: float = 0.5,
        manifold: float = 1.0,
        halve_new: bool = False,
        denoise: int = 0,
        kept_samples: Literal["auto", "all", "half", "landmarks"] = "auto",
        graph: Literal["lle", "heat", "threshold", "learnt", "expressive"] = "lle",
        n_neighbors: int = 8,
        neighbours: Literal["auto", "exact", "approximate"] = "auto",
        width: float | str = "1x",
        percentile: float = 0.05,
        smoothness: float = 5.0,
        self_sparsity: float = 7.5,
        normalise_trace: bool = True,
        box_constraints: Numbers | float = (0.1, 1.0, 10.0),
        folds: int = 5,
        loss: Literal["hinge", "squared-hinge"] = "hinge",
        atom_norm: float = 1.0,
        max_iter: int = 20,
        tol: float = 0.001,
        coder: Literal["coordinate", "fista", "batches"] = "coordinate",
        coder_steps: int = 0,
        coder_tolerance: float = 0.01,
        batch_size: int = 256,
        dictionary_update: Literal["block", "fista", "dual"] = "block",
        revive: bool = True,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.sparsity = sparsity
        self.manifold = manifold
        self.halve_new = halve_new
        self.denoise = denoise
        self.kept_samples = kept_samples
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.neighbours = neighbours
        self.width = width
        self.percentile = percentile
        self.smoothness = smoothness
        self.self_sparsity = self_sparsity
        self.normalise_trace = normalise_trace
        self.box_constraints = box_constraints
        self.folds = folds
        self.loss = loss
        self.atom_norm = atom_norm
        self.max_iter = max_iter
        self.tol = tol
        self.coder = coder
        self.coder_steps = coder_steps
        self.coder_tolerance = coder_tolerance
        self.batch_size = batch_size
        self.dictionary_update = dictionary_update
        self.revive = revive
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class S2D2(DictionaryClassifier):
    r"""Semi-supervised discriminative dictionary, a block of atoms for each class.

    Each class has a block of atoms that should explain its samples and nothing of others;
    unlabelled samples have memberships in the classes, which weigh how much each block must
    explain them. A sample is coded with all atoms and takes the class whose block leaves least
    of it. Only the opening of the article could be read; what it leaves open was found by
    experiment. Over `src`, the control without learning, it gains about 1.4 points on digits
    and, with 2, 5 and 10 labels a person, 11, 7 and 1 on faces.

    .. math::

        \min_{D\in\mathcal C,A,P}\ \lVert X-DA\rVert_F^2+\lambda\lVert A\rVert_1
        +\omega\sum_{i,c}\bigl(P_{ci}^2\lVert x_i-D_ca_{ic}\rVert^2+(1-P_{ci})^2\lVert D_ca_{ic}\rVert^2\bigr)
        +\eta\Bigl(\sum_c\sum_{i\in c}\lVert a_i-m_c\rVert^2-\sum_cN_c\lVert m_c-m\rVert^2+\lVert A_l\rVert^2\Bigr)

    Parameters
    ----------
    atoms_per_class : int, default=20
        Atoms of each class; a class gets fewer where it has too few samples. Letter: p_c.
        Allowed: a whole number, 1 or more.
    sparsity : float, default=0.5
        Weight of the l1 norm of the codes; scales with sample lengths. Letter: λ. Allowed: a
        number, 0 or more.
    discrimination : float, default=1.0
        How much each class must explain its own samples, and nothing of others. Letter: ω.
        Allowed: a number, 0 or more.
    compactness : float, default=0.01
        How much codes of labelled samples gather around the mean of their class, away from
        others. Letter: η. Allowed: a number, 0 or more.

    Other Parameters
    ----------------
    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    max_iter : int, default=8
        Maximum number of iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0001
        Relative change of the objective at which the fit has converged. Allowed: a number, 0 or
        more.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    SSDLP : Class dictionaries with label propagation.
    SSRD : Semi-supervised robust dictionary with structured sparsity.
    SSPDL : Semi-supervised dictionary that preserves sparse self-representation.
    PSSDL : Probabilistic semi-supervised dictionary learning.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Shrivastava, Pillai, Patel, Chellappa (2012): https://doi.org/10.1109/ICPR.2012.6460242

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import S2D2
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = S2D2().fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "s2d2"
    _doc_link_template = "https://doi.org/10.1109/ICPR.2012.6460242"
    _knobs = {
        "atoms_per_class": "atoms_per_class",
        "sparsity": "sparsity",
        "discrimination": "discrimination",
        "compactness": "compactness",
        "max_iter": "max_iterations",
        "tol": "tolerance",
    }
    _parameter_constraints = {
        "atoms_per_class": [Interval(Integral, 1, None, closed="left")],
        "sparsity": [Interval(Real, 0.0, None, closed="left")],
        "discrimination": [Interval(Real, 0.0, None, closed="left")],
        "compactness": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        atoms_per_class: int = 20,
        sparsity: float = 0.5,
        discrimination: float = 1.0,
        compactness: float = 0.01,
        max_iter: int = 8,
        tol: float = 0.0001,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.atoms_per_class = atoms_per_class
        self.sparsity = sparsity
        self.discrimination = discrimination
        self.compactness = compactness
        self.max_iter = max_iter
        self.tol = tol
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SSDLP(TakesGraph, DictionaryClassifier):  # type: ignore[misc]
    r"""Class dictionaries with label propagation.

    Each class has its own dictionary and writes every sample with it alone. The costs of doing
    so give class probabilities, which spread over a graph from the labelled samples and weigh
    what each dictionary learns from; the class of the lowest cost wins. Only the abstract of the
    article could be read; what it leaves open was found by experiment. Over `src`, the control
    without learning, it gains one point on USPS, three on MNIST and, with 2, 5 and 10 labels a
    person, 27, 12 and 3 on faces.

    .. math::

        \min_{D\in\mathcal C,A}\ \sum_c\sum_iP_{ci}^2\bigl(\lVert x_i-D_ca_{ic}\rVert^2
        +\lambda\lVert a_{ic}\rVert_1\bigr)+\gamma\sum_c\sum_{i\in c}\lVert a_{ic}-m_c\rVert^2,\qquad
        P\text{ spread over a graph}

    Parameters
    ----------
    atoms_per_class : int, default=20
        Atoms of each class; a class gets fewer where it has too few samples. Letter: p_c.
        Allowed: a whole number, 1 or more.
    sparsity : float, default=0.25
        Weight of the l1 norm of the codes; scales with sample lengths. Letter: λ. Allowed: a
        number, 0 or more.
    spreading : float, default=0.8
        Share that comes from the neighbours rather than from a sample's own energies. Letter: α.
        Allowed: a number between 0 and 1.
    n_neighbors : int, default=8
        Neighbours per sample in a `heat` graph; at most the number of samples less one. Letter:
        k. Allowed: a whole number, 1 or more.

    Other Parameters
    ----------------
    *About the graph:*

    spread_graph : {"heat", "expressive"}, default='heat'
        Graph that probabilities spread over.
    self_sparsity : float, default=7.5
        Weight of the l1 norm with which an `expressive` graph writes samples with others; scales
        with squared lengths. Letter: κ. Allowed: a number above 0.

    *About the method:*

    compactness : float, default=0.01
        How much the codes of labelled samples gather around the mean of their class. Letter: γ.
        Allowed: a number, 0 or more.
    temperature : float, default=1.0
        How evenly energies give probabilities, in mean gaps between the best two classes.
        Letter: T. Allowed: a number above 0.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    max_iter : int, default=6
        Maximum number of iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0001
        Relative change of the objective at which the fit has converged. Allowed: a number, 0 or
        more.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    S2D2 : Semi-supervised discriminative dictionary, a block of atoms for each class.
    SSRD : Semi-supervised robust dictionary with structured sparsity.
    SSPDL : Semi-supervised dictionary that preserves sparse self-representation.
    PSSDL : Probabilistic semi-supervised dictionary learning.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Chen, Yang (2017): https://doi.org/10.1109/ICIP.2017.8296574

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import SSDLP
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = SSDLP().fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "ssd-lp"
    _doc_link_template = "https://doi.org/10.1109/ICIP.2017.8296574"
    _knobs = {
        "atoms_per_class": "atoms_per_class",
        "sparsity": "sparsity",
        "compactness": "compactness",
        "spreading": "spreading",
        "temperature": "temperature",
        "spread_graph": "spread_graph",
        "n_neighbors": "n_neighbors",
        "self_sparsity": "self_sparsity",
        "max_iter": "max_iterations",
        "tol": "tolerance",
    }
    _parameter_constraints = {
        "atoms_per_class": [Interval(Integral, 1, None, closed="left")],
        "sparsity": [Interval(Real, 0.0, None, closed="left")],
        "compactness": [Interval(Real, 0.0, None, closed="left")],
        "spreading": [Interval(Real, 0.0, 1.0, closed="neither")],
        "temperature": [Interval(Real, 0.0, None, closed="neither")],
        "spread_graph": [StrOptions({"heat", "expressive"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "self_sparsity": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        atoms_per_class: int = 20,
        sparsity: float = 0.25,
        compactness: float = 0.01,
        spreading: float = 0.8,
        temperature: float = 1.0,
        spread_graph: Literal["heat", "expressive"] = "heat",
        n_neighbors: int = 8,
        self_sparsity: float = 7.5,
        max_iter: int = 6,
        tol: float = 0.0001,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.atoms_per_class = atoms_per_class
        self.sparsity = sparsity
        self.compactness = compactness
        self.spreading = spreading
        self.temperature = temperature
        self.spread_graph = spread_graph
        self.n_neighbors = n_neighbors
        self.self_sparsity = self_sparsity
        self.max_iter = max_iter
        self.tol = tol
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SSRD(DictionaryClassifier):
    r"""Semi-supervised robust dictionary with structured sparsity.

    Residuals count by a low power, so outliers hardly do; the labelled samples of a class share
    the atoms they use. Each atom then belongs to the class that uses it most, and a sample takes
    the class whose atoms leave least of it. Only the abstract of the article could be read; what
    it leaves open was found by experiment. Over `src`, the control without learning, it gains
    nothing on digits.

    .. math::

        \min_{D\in\mathcal C,A}\ \sum_i\lVert x_i-Da_i\rVert^{q_1}
        +\lambda\sum_g\sum_k\lVert A_{g,k\cdot}\rVert^q,\qquad g\text{: each class, and all unlabelled samples}

    Parameters
    ----------
    n_atoms : int or "auto", default='auto'
        Number of atoms, at most one per sample; `auto`: one per feature or, if more, 10 per
        class, up to 200. Letter: p. Allowed: auto, or a whole number, 1 or more.
    sparsity : float, default=1.0
        Weight of the rows of coefficients. Letter: λ. Allowed: a number, 0 or more.
    power : float, default=1.0
        Power of the length of a row: the lower, the fewer rows a class uses. Letter: q. Allowed:
        a number between 0 and 2.
    loss_power : float, default=1.0
        Power of the residual of a sample: the lower, the less outliers count. Letter: q_1.
        Allowed: a number between 0 and 2.

    Other Parameters
    ----------------
    *About the method:*

    code_sparsity : float, default=0.5
        Weight of the l1 norm of the codes that decide; scales with sample lengths. Allowed: a
        number, 0 or more.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    max_iter : int, default=8
        Maximum number of iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0001
        Relative change of the objective at which the fit has converged. Allowed: a number, 0 or
        more.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    S2D2 : Semi-supervised discriminative dictionary, a block of atoms for each class.
    SSDLP : Class dictionaries with label propagation.
    SSPDL : Semi-supervised dictionary that preserves sparse self-representation.
    PSSDL : Probabilistic semi-supervised dictionary learning.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Wang, Nie, Cai, Huang (2013): https://doi.org/10.1109/ICCV.2013.145

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import SSRD
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = SSRD(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "ssr-d"
    _doc_link_template = "https://doi.org/10.1109/ICCV.2013.145"
    _knobs = {
        "n_atoms": "n_atoms",
        "sparsity": "sparsity",
        "power": "power",
        "loss_power": "loss_power",
        "code_sparsity": "code_sparsity",
        "max_iter": "max_iterations",
        "tol": "tolerance",
    }
    _parameter_constraints = {
        "n_atoms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "sparsity": [Interval(Real, 0.0, None, closed="left")],
        "power": [Interval(Real, 0.0, 2.0, closed="neither")],
        "loss_power": [Interval(Real, 0.0, 2.0, closed="neither")],
        "code_sparsity": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int | Literal["auto"] = "auto",
        sparsity: float = 1.0,
        power: float = 1.0,
        loss_power: float = 1.0,
        code_sparsity: float = 0.5,
        max_iter: int = 8,
        tol: float = 0.0001,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.sparsity = sparsity
        self.power = power
        self.loss_power = loss_power
        self.code_sparsity = code_sparsity
        self.max_iter = max_iter
        self.tol = tol
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SSPDL(TakesGraph, DictionaryClassifier):  # type: ignore[misc]
    r"""Semi-supervised dictionary that preserves sparse self-representation.

    Samples are written with few other samples, and their codes are mixed the same way; labelled
    samples of a class share atoms. Each atom then belongs to the class that uses it most, and a
    sample takes the class whose atoms leave least of it. Only the abstract of the article could
    be read; what it leaves open was found by experiment. Over `src`, the control without
    learning, it gains one point on USPS and nearly two on MNIST.

    .. math::

        \min_{D\in\mathcal C,A}\ \lVert X-DA\rVert_F^2
        +\lambda\Bigl(\sum_c\sum_k\lVert A_{c,k\cdot}\rVert^{1/2}+\sum_{k,j\text{ unlabelled}}|a_{kj}|^{1/2}\Bigr)
        +\beta\sum_i\Bigl\lVert a_i-\sum_jv_{ij}a_j\Bigr\rVert^2

    Parameters
    ----------
    n_atoms : int or "auto", default='auto'
        Number of atoms, at most one per sample; `auto`: one per feature or, if more, 10 per
        class, up to 200. Letter: p. Allowed: auto, or a whole number, 1 or more.
    sparsity : float, default=0.56
        Weight of the half powers: of rows within a class, and of coefficients of unlabelled
        samples. Letter: λ. Allowed: a number, 0 or more.
    manifold : float, default=0.5
        How much codes are mixed as their samples are. Letter: β. Allowed: a number, 0 or more.
    first_sparsity : float, default=0.5
        Weight of the l1 norm of the first codes; scales with sample lengths. Allowed: a number,
        0 or more.

    Other Parameters
    ----------------
    *About the graph:*

    self_sparsity : float, default=7.5
        Weight of the l1 norm with which samples are written with others; scales with squared
        lengths. Letter: κ. Allowed: a number above 0.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    max_iter : int, default=8
        Maximum number of iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0001
        Relative change of the objective at which the fit has converged. Allowed: a number, 0 or
        more.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    S2D2 : Semi-supervised discriminative dictionary, a block of atoms for each class.
    SSDLP : Class dictionaries with label propagation.
    SSRD : Semi-supervised robust dictionary with structured sparsity.
    PSSDL : Probabilistic semi-supervised dictionary learning.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Wang, Zhang, Fan, Ye (2016): https://doi.org/10.1109/ACCESS.2016.2545679

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import SSPDL
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = SSPDL(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "ssp-dl"
    _doc_link_template = "https://doi.org/10.1109/ACCESS.2016.2545679"
    _knobs = {
        "n_atoms": "n_atoms",
        "sparsity": "sparsity",
        "manifold": "manifold",
        "self_sparsity": "self_sparsity",
        "first_sparsity": "first_sparsity",
        "max_iter": "max_iterations",
        "tol": "tolerance",
    }
    _parameter_constraints = {
        "n_atoms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "sparsity": [Interval(Real, 0.0, None, closed="left")],
        "manifold": [Interval(Real, 0.0, None, closed="left")],
        "self_sparsity": [Interval(Real, 0.0, None, closed="neither")],
        "first_sparsity": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int | Literal["auto"] = "auto",
        sparsity: float = 0.56,
        manifold: float = 0.5,
        self_sparsity: float = 7.5,
        first_sparsity: float = 0.5,
        max_iter: int = 8,
        tol: float = 0.0001,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.sparsity = sparsity
        self.manifold = manifold
        self.self_sparsity = self_sparsity
        self.first_sparsity = first_sparsity
        self.max_iter = max_iter
        self.tol = tol
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class PSSDL(TakesGraph, DictionaryClassifier):  # type: ignore[misc]
    r"""Probabilistic semi-supervised dictionary learning.

    Codes have a Laplace prior, samples a noise of their own, classes a softmax of the codes;
    graphs keep neighbours together and classes apart. The scales of noise and codes are
    estimated once and then kept, because the model is unbounded in them. Not all of the article
    could be read; what it leaves open was found by experiment. Over `src`, the control without
    learning, it gains nothing on USPS and loses two points on MNIST.

    .. math::

        \min_{D\in\mathcal C,A,W}\ \sum_i\frac{\lVert x_i-Da_i\rVert^2}{2\sigma_i^2}
        +\frac{\lVert A\rVert_1}z+\frac{\lVert D\rVert^2}{2\sigma_d^2}
        +\sum_{i\text{ labelled}}\Bigl(\ln\sum_ce^{w_c^\top a_i}-w_{y_i}^\top a_i\Bigr)+\frac{\lVert W\rVert^2}{2\sigma_w^2}
        +(1-\beta)\operatorname{tr}A(L_W-L_B)A^\top+\beta\operatorname{tr}ALA^\top

    Parameters
    ----------
    n_atoms : int or "auto", default='auto'
        Number of atoms, at most one per sample; `auto`: one per feature or, if more, 10 per
        class, up to 200. Letter: p. Allowed: auto, or a whole number, 1 or more.
    sparsity : float, default=0.5
        Weight of the l1 norm of the first codes; the scales of noise and codes follow it. Scales
        with sample lengths. Letter: λ. Allowed: a number, 0 or more.
    manifold : float, default=0.04
        Weight of both graphs; scales with inverse squared lengths. Allowed: a number, 0 or more.
    discrimination : float, default=1.0
        Weight of the classifier in the codes. Allowed: a number, 0 or more.

    Other Parameters
    ----------------
    *About the graph:*

    graph_share : float, default=0.5
        Share of the graph of all samples; the rest is that of the classes. Letter: β. Allowed: a
        number between 0 and 1.
    n_neighbors : int, default=8
        Neighbours per sample in the graphs; at most the number of samples less one. Letter: k.
        Allowed: a whole number, 1 or more.
    width : float or str, default='0.5x'
        Width of the kernel of the graph of all samples; `0.5x` is half the mean distance.
        Letter: σ. Allowed: a number above 0.

    *About the method:*

    ridge : float, default=25.0
        Weight of half the squared norm of the classifier; scales with squared lengths. Allowed:
        a number above 0.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    scale_updates : int, default=1
        Iterations in which the scales of noise and codes follow the codes; afterwards they stay.
        Allowed: a whole number, 0 or more.
    max_iter : int, default=8
        Maximum number of iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0001
        Relative change of the objective at which the fit has converged. Allowed: a number, 0 or
        more.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    S2D2 : Semi-supervised discriminative dictionary, a block of atoms for each class.
    SSDLP : Class dictionaries with label propagation.
    SSRD : Semi-supervised robust dictionary with structured sparsity.
    SSPDL : Semi-supervised dictionary that preserves sparse self-representation.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Babagholami-Mohamadabadi, Zarghami, Zolfaghari, Baghshah (2013): https://doi.org/10.1007/978-3-642-40994-3_13

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import PSSDL
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = PSSDL(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "pssdl"
    _doc_link_template = "https://doi.org/10.1007/978-3-642-40994-3_13"
    _knobs = {
        "n_atoms": "n_atoms",
        "sparsity": "sparsity",
        "manifold": "manifold",
        "graph_share": "graph_share",
        "discrimination": "discrimination",
        "ridge": "ridge",
        "n_neighbors": "n_neighbors",
        "width": "width",
        "scale_updates": "scale_updates",
        "max_iter": "max_iterations",
        "tol": "tolerance",
    }
    _parameter_constraints = {
        "n_atoms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "sparsity": [Interval(Real, 0.0, None, closed="left")],
        "manifold": [Interval(Real, 0.0, None, closed="left")],
        "graph_share": [Interval(Real, 0.0, 1.0, closed="neither")],
        "discrimination": [Interval(Real, 0.0, None, closed="left")],
        "ridge": [Interval(Real, 0.0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "width": [Interval(Real, 0.0, None, closed="neither"), str],
        "scale_updates": [Interval(Integral, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int | Literal["auto"] = "auto",
        sparsity: float = 0.5,
        manifold: float = 0.04,
        graph_share: float = 0.5,
        discrimination: float = 1.0,
        ridge: float = 25.0,
        n_neighbors: int = 8,
        width: float | str = "0.5x",
        scale_updates: int = 1,
        max_iter: int = 8,
        tol: float = 0.0001,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.sparsity = sparsity
        self.manifold = manifold
        self.graph_share = graph_share
        self.discrimination = discrimination
        self.ridge = ridge
        self.n_neighbors = n_neighbors
        self.width = width
        self.scale_updates = scale_updates
        self.max_iter = max_iter
        self.tol = tol
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SRC(DictionaryClassifier):
    r"""Sparse representation classification on the labelled samples.

    A sample is written with few labelled samples, scaled to length one, and takes the class
    whose part of that code leaves least of it. A control without learning: what a method with a
    learnt dictionary gains over it is what its dictionary is worth. Unlabelled samples are not
    used.

    .. math::

        \hat y(x)=\operatorname*{arg\,min}_c\ \lVert x-X_c\hat a_c\rVert^2,\qquad
        \hat a=\operatorname*{arg\,min}_a\ \lVert x-X_la\rVert^2+\lambda\lVert a\rVert_1

    Parameters
    ----------
    sparsity : float, default=0.5
        Weight of the l1 norm of the codes; scales with sample lengths. Letter: λ. Allowed: a
        number, 0 or more.

    Other Parameters
    ----------------
    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    SRCByClass : Sparse representation on the labelled samples, class by class.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Wright, Yang, Ganesh, Sastry, Ma (2009): https://doi.org/10.1109/TPAMI.2008.79

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import SRC
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = SRC().fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "src"
    _doc_link_template = "https://doi.org/10.1109/TPAMI.2008.79"
    _knobs = {
        "sparsity": "sparsity",
    }
    _parameter_constraints = {
        "sparsity": [Interval(Real, 0.0, None, closed="left")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        sparsity: float = 0.5,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.sparsity = sparsity
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SRCByClass(DictionaryClassifier):
    r"""Sparse representation on the labelled samples, class by class.

    Each class writes a sample with its own labelled samples alone; the class that does it at the
    lowest cost wins. A control without learning, for methods with a dictionary for each class.
    Unlabelled samples are not used.

    .. math::

        \hat y(x)=\operatorname*{arg\,min}_c\ \min_a\ \lVert x-X_ca\rVert^2+\lambda\lVert a\rVert_1

    Parameters
    ----------
    sparsity : float, default=0.5
        Weight of the l1 norm of the codes; scales with sample lengths. Letter: λ. Allowed: a
        number, 0 or more.

    Other Parameters
    ----------------
    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    SRC : Sparse representation classification on the labelled samples.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Wright, Yang, Ganesh, Sastry, Ma (2009), with a code for each class: https://doi.org/10.1109/TPAMI.2008.79

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import SRCByClass
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = SRCByClass().fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "src-by-class"
    _doc_link_template = "https://doi.org/10.1109/TPAMI.2008.79"
    _knobs = {
        "sparsity": "sparsity",
    }
    _parameter_constraints = {
        "sparsity": [Interval(Real, 0.0, None, closed="left")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        sparsity: float = 0.5,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.sparsity = sparsity
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class JDL(DictionaryClassifier):
    r"""Joint learning of a dictionary and a linear classifier.

    Each sample is coded with a few atoms by orthogonal matching pursuit; a linear classifier
    pulls on the codes of labelled samples while it is learnt, and unlabelled samples shape the
    atoms. The classifier that predicts is fitted on codes that no label has pulled on. On digits
    it stays some four points below `src`, the control without learning.

    .. math::

        \min_{D\in\mathcal C,A,W}\ \lVert X^l-DA^l\rVert^2+\rho\lVert X^u-DA^u\rVert^2
        +\gamma\bigl(\lVert Y-W^\top A^l\rVert^2+\mu\lVert W\rVert^2\bigr),\qquad\lVert a_i\rVert_0\le T

    Parameters
    ----------
    n_atoms : int or "auto", default='auto'
        Number of atoms; `auto`: one per feature or, if more, 10 per class, up to 200 and one per
        labelled sample. Letter: p. Allowed: auto, or a whole number, 1 or more.
    n_nonzero_coefs : int or "auto", default='auto'
        Maximum number of atoms in the code of a sample; `auto`: a third of the features, up to
        10. Letter: T. Allowed: auto, or a whole number, 1 or more.
    discrimination : float, default=2.5
        Weight of the classifier's squared errors on the labelled codes. Letter: γ. Allowed: a
        number, 0 or more.
    ridge : float, default=2.5
        Weight of the classifier's squared norm beside its squared errors. Letter: μ. Allowed: a
        number above 0.

    Other Parameters
    ----------------
    *About the method:*

    unlabelled_weight : float, default=0.5
        Weight of the unlabelled samples in the reconstruction; a labelled sample counts 1.
        Letter: ρ. Allowed: a number, 0 or more.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    max_iter : int, default=7
        Maximum number of iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0001
        Relative change of the objective at which the fit has converged. Allowed: a number, 0 or
        more.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    OSSDL : Online semi-supervised discriminative dictionary learning.
    LCRLSDLA : Label-consistent dictionary learning by recursive least squares.
    LCKSVD : Label-consistent K-SVD.
    SupGraphDL : Supervised dictionary learning with graphs of samples and features.
    KSVD : K-SVD without labels, and a ridge classifier on the codes.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Pham, Venkatesh (CVPR 2008): https://doi.org/10.1109/CVPR.2008.4587408

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import JDL
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = JDL(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "jdl"
    _doc_link_template = "https://doi.org/10.1109/CVPR.2008.4587408"
    _knobs = {
        "n_atoms": "n_atoms",
        "n_nonzero_coefs": "n_nonzero",
        "max_iter": "max_iterations",
        "tol": "tolerance",
        "discrimination": "discrimination",
        "unlabelled_weight": "unlabelled_weight",
        "ridge": "ridge",
    }
    _parameter_constraints = {
        "n_atoms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "n_nonzero_coefs": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "discrimination": [Interval(Real, 0.0, None, closed="left")],
        "unlabelled_weight": [Interval(Real, 0.0, None, closed="left")],
        "ridge": [Interval(Real, 0.0, None, closed="neither")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int | Literal["auto"] = "auto",
        n_nonzero_coefs: int | Literal["auto"] = "auto",
        max_iter: int = 7,
        tol: float = 0.0001,
        discrimination: float = 2.5,
        unlabelled_weight: float = 0.5,
        ridge: float = 2.5,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero_coefs = n_nonzero_coefs
        self.max_iter = max_iter
        self.tol = tol
        self.discrimination = discrimination
        self.unlabelled_weight = unlabelled_weight
        self.ridge = ridge
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class OSSDL(DictionaryClassifier):
    r"""Online semi-supervised discriminative dictionary learning.

    Every atom belongs to a class, and the codes of labelled samples are pulled towards atoms of
    their class and towards a linear classifier. Samples come in batches; atoms and classifier
    are updated after each batch. The classifier that predicts is fitted on codes that no label
    has pulled on. On digits it stays some four points below `src`, the control without learning.

    .. math::

        \min_{D\in\mathcal C,A,W,U}\ \lVert X^l-DA^l\rVert^2+\rho\lVert X^u-DA^u\rVert^2
        +\gamma\bigl(\lVert Y-W^\top A^l\rVert^2+\mu\lVert W\rVert^2\bigr)
        +\psi\bigl(\lVert Q-U^\top A^l\rVert^2+\mu\lVert U\rVert^2\bigr),\qquad\lVert a_i\rVert_0\le T

    Parameters
    ----------
    n_atoms : int or "auto", default='auto'
        Number of atoms; `auto`: one per feature or, if more, 10 per class, up to 200 and one per
        labelled sample. Letter: p. Allowed: auto, or a whole number, 1 or more.
    n_nonzero_coefs : int or "auto", default='auto'
        Maximum number of atoms in the code of a sample; `auto`: a third of the features, up to
        10. Letter: T. Allowed: auto, or a whole number, 1 or more.
    discrimination : float, default=25.0
        Weight of the classifier's squared errors on the labelled codes. Letter: γ. Allowed: a
        number, 0 or more.
    consistency : float, default=1.25
        Weight of label consistency: codes use atoms of their class. Letter: ψ. Allowed: a
        number, 0 or more.

    Other Parameters
    ----------------
    *About the method:*

    unlabelled_weight : float, default=0.5
        Weight of the unlabelled samples in the reconstruction; a labelled sample counts 1.
        Letter: ρ. Allowed: a number, 0 or more.
    ridge : float, default=0.25
        Weight of the classifier's squared norm beside its squared errors. Letter: μ. Allowed: a
        number above 0.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    max_iter : int, default=2
        Maximum number of iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0001
        Relative change of the objective at which the fit has converged. Allowed: a number, 0 or
        more.
    batch_size : int, default=128
        Samples per batch; atoms and classifier are updated after each batch. Letter: η. Allowed:
        a whole number, 1 or more.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    JDL : Joint learning of a dictionary and a linear classifier.
    LCRLSDLA : Label-consistent dictionary learning by recursive least squares.
    LCKSVD : Label-consistent K-SVD.
    SupGraphDL : Supervised dictionary learning with graphs of samples and features.
    KSVD : K-SVD without labels, and a ridge classifier on the codes.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Zhang, Jiang, Davis (ACCV 2012): https://doi.org/10.1007/978-3-642-37331-2_20

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import OSSDL
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = OSSDL(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "ossdl"
    _doc_link_template = "https://doi.org/10.1007/978-3-642-37331-2_20"
    _knobs = {
        "n_atoms": "n_atoms",
        "n_nonzero_coefs": "n_nonzero",
        "max_iter": "max_iterations",
        "tol": "tolerance",
        "discrimination": "discrimination",
        "consistency": "consistency",
        "unlabelled_weight": "unlabelled_weight",
        "ridge": "ridge",
        "batch_size": "batch_size",
    }
    _parameter_constraints = {
        "n_atoms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "n_nonzero_coefs": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "discrimination": [Interval(Real, 0.0, None, closed="left")],
        "consistency": [Interval(Real, 0.0, None, closed="left")],
        "unlabelled_weight": [Interval(Real, 0.0, None, closed="left")],
        "ridge": [Interval(Real, 0.0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int | Literal["auto"] = "auto",
        n_nonzero_coefs: int | Literal["auto"] = "auto",
        max_iter: int = 2,
        tol: float = 0.0001,
        discrimination: float = 25.0,
        consistency: float = 1.25,
        unlabelled_weight: float = 0.5,
        ridge: float = 0.25,
        batch_size: int = 128,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero_coefs = n_nonzero_coefs
        self.max_iter = max_iter
        self.tol = tol
        self.discrimination = discrimination
        self.consistency = consistency
        self.unlabelled_weight = unlabelled_weight
        self.ridge = ridge
        self.batch_size = batch_size
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LCRLSDLA(DictionaryClassifier):
    r"""Label-consistent dictionary learning by recursive least squares.

    Starts from LC-KSVD on the labelled samples; then the samples pass one at a time, and atoms
    and classifier follow each by recursive least squares. An unlabelled sample gets the class
    that the present classifier gives it. The classifier that predicts is fitted on codes that no
    label has pulled on. On digits it stays some four points below `src`, the control without
    learning.

    .. math::

        \min_{D\in\mathcal C,A,W,U}\ \lVert X^l-DA^l\rVert^2+\rho\lVert X^u-DA^u\rVert^2
        +\gamma\bigl(\lVert Y-W^\top A^l\rVert^2+\mu\lVert W\rVert^2\bigr)
        +\psi\bigl(\lVert Q-U^\top A^l\rVert^2+\mu\lVert U\rVert^2\bigr),\qquad\lVert a_i\rVert_0\le T

    Parameters
    ----------
    n_atoms : int or "auto", default='auto'
        Number of atoms; `auto`: one per feature or, if more, 10 per class, up to 200 and one per
        labelled sample. Letter: p. Allowed: auto, or a whole number, 1 or more.
    n_nonzero_coefs : int or "auto", default='auto'
        Maximum number of atoms in the code of a sample; `auto`: a third of the features, up to
        10. Letter: T. Allowed: auto, or a whole number, 1 or more.
    discrimination : float, default=0.25
        Weight of the classifier's squared errors on the codes. Letter: γ. Allowed: a number, 0
        or more.
    consistency : float, default=0.25
        Weight of label consistency: codes use atoms of their class. Letter: ψ. Allowed: a
        number, 0 or more.

    Other Parameters
    ----------------
    *About the method:*

    unlabelled_weight : float, default=0.5
        Weight of an unlabelled sample; a labelled sample counts 1. Letter: ρ. Allowed: a number,
        0 or more.
    forgetting : float, default=0.99
        How much the first samples keep of their weight with every further sample; grows to 1.
        Letter: λ. Allowed: a number between 0 and 1.
    ridge : float, default=2.5
        Weight of the classifier's squared norm beside its squared errors. Letter: μ. Allowed: a
        number above 0.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    max_iter : int, default=1
        Maximum number of iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0001
        Relative change of the objective at which the fit has converged. Allowed: a number, 0 or
        more.
    start_iterations : int, default=10
        Iterations of LC-KSVD on the labelled samples before, inside the classes and together.
        Allowed: a whole number, 1 or more.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    JDL : Joint learning of a dictionary and a linear classifier.
    OSSDL : Online semi-supervised discriminative dictionary learning.
    LCKSVD : Label-consistent K-SVD.
    SupGraphDL : Supervised dictionary learning with graphs of samples and features.
    KSVD : K-SVD without labels, and a ridge classifier on the codes.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Matiz, Barner (ICIP 2016); Irofti, Băltoiu (2019): https://arxiv.org/abs/1903.03905

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import LCRLSDLA
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = LCRLSDLA(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "lc-rlsdla"
    _doc_link_template = "https://arxiv.org/abs/1903.03905"
    _knobs = {
        "n_atoms": "n_atoms",
        "n_nonzero_coefs": "n_nonzero",
        "max_iter": "max_iterations",
        "tol": "tolerance",
        "discrimination": "discrimination",
        "consistency": "consistency",
        "unlabelled_weight": "unlabelled_weight",
        "forgetting": "forgetting",
        "ridge": "ridge",
        "start_iterations": "start_iterations",
    }
    _parameter_constraints = {
        "n_atoms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "n_nonzero_coefs": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "discrimination": [Interval(Real, 0.0, None, closed="left")],
        "consistency": [Interval(Real, 0.0, None, closed="left")],
        "unlabelled_weight": [Interval(Real, 0.0, None, closed="left")],
        "forgetting": [Interval(Real, 0.0, 1.0, closed="neither")],
        "ridge": [Interval(Real, 0.0, None, closed="neither")],
        "start_iterations": [Interval(Integral, 1, None, closed="left")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int | Literal["auto"] = "auto",
        n_nonzero_coefs: int | Literal["auto"] = "auto",
        max_iter: int = 1,
        tol: float = 0.0001,
        discrimination: float = 0.25,
        consistency: float = 0.25,
        unlabelled_weight: float = 0.5,
        forgetting: float = 0.99,
        ridge: float = 2.5,
        start_iterations: int = 10,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero_coefs = n_nonzero_coefs
        self.max_iter = max_iter
        self.tol = tol
        self.discrimination = discrimination
        self.consistency = consistency
        self.unlabelled_weight = unlabelled_weight
        self.forgetting = forgetting
        self.ridge = ridge
        self.start_iterations = start_iterations
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KSVD(DictionaryClassifier):
    r"""K-SVD without labels, and a ridge classifier on the codes.

    Atoms start at labelled samples and are learnt from all, without their labels, each together
    with its coefficients; then a linear classifier is fitted to the codes of the labelled
    samples. The control of LC-KSVD, whose atoms know the labels.

    .. math::

        \min_{\lVert d_k\rVert=1,A}\ \lVert X-DA\rVert^2,\qquad\lVert a_i\rVert_0\le T

    Parameters
    ----------
    n_atoms : int or "auto", default='auto'
        Number of atoms; `auto`: one per feature or, if more, 10 per class, up to 200 and one per
        labelled sample. Letter: p. Allowed: auto, or a whole number, 1 or more.
    n_nonzero_coefs : int or "auto", default='auto'
        Maximum number of atoms in the code of a sample; `auto`: a third of the features, up to
        10. Letter: T. Allowed: auto, or a whole number, 1 or more.
    ridge : float, default=2.5
        Weight of the classifier's squared norm beside its squared errors. Letter: μ. Allowed: a
        number above 0.
    update : {"block", "ksvd", "exact-ksvd"}, default='ksvd'
        How atoms are updated.

    Other Parameters
    ----------------
    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    max_iter : int, default=10
        Maximum number of iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0001
        Relative change of the objective at which the fit has converged. Allowed: a number, 0 or
        more.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    JDL : Joint learning of a dictionary and a linear classifier.
    OSSDL : Online semi-supervised discriminative dictionary learning.
    LCRLSDLA : Label-consistent dictionary learning by recursive least squares.
    LCKSVD : Label-consistent K-SVD.
    SupGraphDL : Supervised dictionary learning with graphs of samples and features.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Aharon, Elad, Bruckstein (2006): https://doi.org/10.1109/TSP.2006.881199

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import KSVD
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = KSVD(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "ksvd"
    _doc_link_template = "https://doi.org/10.1109/TSP.2006.881199"
    _knobs = {
        "n_atoms": "n_atoms",
        "n_nonzero_coefs": "n_nonzero",
        "max_iter": "max_iterations",
        "tol": "tolerance",
        "update": "update",
        "ridge": "ridge",
    }
    _parameter_constraints = {
        "n_atoms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "n_nonzero_coefs": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "update": [StrOptions({"block", "ksvd", "exact-ksvd"})],
        "ridge": [Interval(Real, 0.0, None, closed="neither")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int | Literal["auto"] = "auto",
        n_nonzero_coefs: int | Literal["auto"] = "auto",
        max_iter: int = 10,
        tol: float = 0.0001,
        update: Literal["block", "ksvd", "exact-ksvd"] = "ksvd",
        ridge: float = 2.5,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero_coefs = n_nonzero_coefs
        self.max_iter = max_iter
        self.tol = tol
        self.update = update
        self.ridge = ridge
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LCKSVD(DictionaryClassifier):
    r"""Label-consistent K-SVD.

    Every atom belongs to a class. K-SVD on the labelled samples with their labels below them
    learns atoms, label consistency and a linear classifier at once; a discrimination of 0 gives
    LC-KSVD1, whose classifier is fitted afterwards. Supervised: unlabelled samples are not used.
    Over `src`, the control without learning, it gains one to two points on faces with 8 labels a
    person and loses as much with 11.

    .. math::

        \min_{D,A,W,U}\ \lVert X-DA\rVert^2+\psi\lVert Q-U^\top A\rVert^2
        +\gamma\lVert Y-W^\top A\rVert^2,\qquad\lVert a_i\rVert_0\le T

    Parameters
    ----------
    n_atoms : int or "auto", default='auto'
        Number of atoms; `auto`: one per feature or, if more, 10 per class, up to 200 and one per
        labelled sample. Letter: p. Allowed: auto, or a whole number, 1 or more.
    n_nonzero_coefs : int or "auto", default='auto'
        Maximum number of atoms in the code of a sample; `auto`: a third of the features, up to
        10. Letter: T. Allowed: auto, or a whole number, 1 or more.
    discrimination : float, default=0.25
        Weight of the classifier's squared errors; 0 is LC-KSVD1. Letter: γ. Allowed: a number, 0
        or more.
    consistency : float, default=0.25
        Weight of label consistency: codes use atoms of their class. Letter: ψ. Allowed: a
        number, 0 or more.

    Other Parameters
    ----------------
    *About the method:*

    ridge : float, default=25.0
        Weight of the classifier's squared norm beside its squared errors. Letter: μ. Allowed: a
        number above 0.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    max_iter : int, default=10
        Maximum number of iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0001
        Relative change of the objective at which the fit has converged. Allowed: a number, 0 or
        more.
    start_iterations : int, default=5
        Iterations of K-SVD inside each class, before all classes are learnt together. Allowed: a
        whole number, 0 or more.
    exact : bool, default=False
        Whether an atom and its coefficients are minimised together or only improved.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    JDL : Joint learning of a dictionary and a linear classifier.
    OSSDL : Online semi-supervised discriminative dictionary learning.
    LCRLSDLA : Label-consistent dictionary learning by recursive least squares.
    SupGraphDL : Supervised dictionary learning with graphs of samples and features.
    KSVD : K-SVD without labels, and a ridge classifier on the codes.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Jiang, Lin, Davis (CVPR 2011; TPAMI 2013): https://doi.org/10.1109/TPAMI.2013.88

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import LCKSVD
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = LCKSVD(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "lc-ksvd"
    _doc_link_template = "https://doi.org/10.1109/TPAMI.2013.88"
    _knobs = {
        "n_atoms": "n_atoms",
        "n_nonzero_coefs": "n_nonzero",
        "max_iter": "max_iterations",
        "tol": "tolerance",
        "consistency": "consistency",
        "discrimination": "discrimination",
        "ridge": "ridge",
        "start_iterations": "start_iterations",
        "exact": "exact",
    }
    _parameter_constraints = {
        "n_atoms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "n_nonzero_coefs": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "consistency": [Interval(Real, 0.0, None, closed="left")],
        "discrimination": [Interval(Real, 0.0, None, closed="left")],
        "ridge": [Interval(Real, 0.0, None, closed="neither")],
        "start_iterations": [Interval(Integral, 0, None, closed="left")],
        "exact": ["boolean"],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int | Literal["auto"] = "auto",
        n_nonzero_coefs: int | Literal["auto"] = "auto",
        max_iter: int = 10,
        tol: float = 0.0001,
        consistency: float = 0.25,
        discrimination: float = 0.25,
        ridge: float = 25.0,
        start_iterations: int = 5,
        exact: bool = False,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero_coefs = n_nonzero_coefs
        self.max_iter = max_iter
        self.tol = tol
        self.consistency = consistency
        self.discrimination = discrimination
        self.ridge = ridge
        self.start_iterations = start_iterations
        self.exact = exact
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SupGraphDL(DictionaryClassifier):
    r"""Supervised dictionary learning with graphs of samples and features.

    Near samples of one class get similar codes, and near features similar entries of the atoms;
    a linear classifier pulls on the codes. With learn_features the graph of the features is
    learnt from the atoms (SupGraphDL-L). Supervised: unlabelled samples are not used. Over
    `src`, the control without learning, it gains about two points on faces with 8 labels a
    person and loses two with 11.

    .. math::

        \min_{\lVert d_k\rVert=1,A,W}\ \lVert X-DA\rVert^2+\alpha\operatorname{tr}(D^\top L_fD)
        +\beta\operatorname{tr}(AL_cA^\top)+\gamma\bigl(\lVert Y-W^\top A\rVert^2+\mu\lVert W\rVert^2\bigr),\qquad
        \lVert a_i\rVert_0\le T

    Parameters
    ----------
    n_atoms : int or "auto", default='auto'
        Number of atoms; `auto`: one per feature or, if more, 10 per class, up to 200 and one per
        labelled sample. Letter: p. Allowed: auto, or a whole number, 1 or more.
    n_nonzero_coefs : int or "auto", default='auto'
        Maximum number of atoms in the code of a sample; `auto`: a third of the features, up to
        10. Letter: T. Allowed: auto, or a whole number, 1 or more.
    manifold : float, default=1.0
        Weight of the graph of the samples: near samples of a class have similar codes. Letter:
        β. Allowed: a number, 0 or more.
    discrimination : float, default=0.25
        Weight of the classifier's squared errors on the codes. Letter: γ. Allowed: a number, 0
        or more.

    Other Parameters
    ----------------
    *About the graph:*

    n_neighbors : int, default=4
        Number of neighbours of a sample within its class, and of a feature. Letter: k. Allowed:
        a whole number, 1 or more.
    smoothness : float, default=0.1
        Smoothness of the learnt graph, in mean squared distances; larger gives more edges.
        Allowed: a number above 0.

    *About the method:*

    feature_manifold : float, default=2.5
        Weight of the graph of the features: atoms are smooth over it. Letter: α. Allowed: a
        number, 0 or more.
    ridge : float, default=2500.0
        Weight of the classifier's squared norm beside its squared errors, while atoms are
        learnt. Letter: μ. Allowed: a number above 0.
    refit_ridge : float, default=2.5
        The same for the classifier that predicts. Allowed: a number above 0.
    learn_features : bool, default=False
        Whether the graph of the features is learnt from the atoms: SupGraphDL-L.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    max_iter : int, default=2
        Maximum number of iterations. Allowed: a whole number, 1 or more.
    tol : float, default=0.0001
        Relative change of the objective at which the fit has converged. Allowed: a number, 0 or
        more.

    *About the run:*

    sparse_output : bool, default=False
        Whether ``transform`` returns codes as a CSR array.
    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    components_ : ndarray of shape (n_atoms, n_prepared_features)
        Atoms, in the space of prepared samples.
    codes_ : ndarray of shape (n_samples, n_atoms)
        Codes of the training samples.
    n_revived_ : int
        Number of unused atoms that were replaced during the fit.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    JDL : Joint learning of a dictionary and a linear classifier.
    OSSDL : Online semi-supervised discriminative dictionary learning.
    LCRLSDLA : Label-consistent dictionary learning by recursive least squares.
    LCKSVD : Label-consistent K-SVD.
    KSVD : K-SVD without labels, and a ridge classifier on the codes.
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Yankelevsky, Elad (ICASSP 2017): https://doi.org/10.1109/ICASSP.2017.7952985

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import SupGraphDL
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = SupGraphDL(n_atoms=100).fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "sup-graph-dl"
    _doc_link_template = "https://doi.org/10.1109/ICASSP.2017.7952985"
    _knobs = {
        "n_atoms": "n_atoms",
        "n_nonzero_coefs": "n_nonzero",
        "max_iter": "max_iterations",
        "tol": "tolerance",
        "feature_manifold": "feature_manifold",
        "manifold": "manifold",
        "discrimination": "discrimination",
        "ridge": "ridge",
        "refit_ridge": "refit_ridge",
        "n_neighbors": "n_neighbors",
        "learn_features": "learn_features",
        "smoothness": "smoothness",
    }
    _parameter_constraints = {
        "n_atoms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "n_nonzero_coefs": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "feature_manifold": [Interval(Real, 0.0, None, closed="left")],
        "manifold": [Interval(Real, 0.0, None, closed="left")],
        "discrimination": [Interval(Real, 0.0, None, closed="left")],
        "ridge": [Interval(Real, 0.0, None, closed="neither")],
        "refit_ridge": [Interval(Real, 0.0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "learn_features": ["boolean"],
        "smoothness": [Interval(Real, 0.0, None, closed="neither")],
        "sparse_output": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_atoms: int | Literal["auto"] = "auto",
        n_nonzero_coefs: int | Literal["auto"] = "auto",
        max_iter: int = 2,
        tol: float = 0.0001,
        feature_manifold: float = 2.5,
        manifold: float = 1.0,
        discrimination: float = 0.25,
        ridge: float = 2500.0,
        refit_ridge: float = 2.5,
        n_neighbors: int = 4,
        learn_features: bool = False,
        smoothness: float = 0.1,
        sparse_output: bool = False,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero_coefs = n_nonzero_coefs
        self.max_iter = max_iter
        self.tol = tol
        self.feature_manifold = feature_manifold
        self.manifold = manifold
        self.discrimination = discrimination
        self.ridge = ridge
        self.refit_ridge = refit_ridge
        self.n_neighbors = n_neighbors
        self.learn_features = learn_features
        self.smoothness = smoothness
        self.sparse_output = sparse_output
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LinearSVM(FewLabelClassifier):
    r"""Linear support vector machine on the prepared samples.

    One class against all others, on the labelled samples only, without a dictionary. A baseline:
    fast, and hard to beat where labels are many.

    .. math::

        \min_{w_c,b_c}\ \tfrac12(\lVert w_c\rVert^2+b_c^2)
        +C\sum_{i\text{ labelled}}\max\bigl(0,1-y_{ci}(w_c^\top x_i+b_c)\bigr)\quad\text{for each class }c

    Parameters
    ----------
    box_constraints : array-like of float, or float, default=(0.1, 1.0, 10.0)
        Box constraints of the SVM; cross-validation on the given labels picks the best. Letter:
        C. Allowed: up to 16 numbers above 0, such as 0.1,1,10.
    loss : {"hinge", "squared-hinge"}, default='hinge'
        Loss of the SVM for a sample inside its margin.

    Other Parameters
    ----------------
    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    folds : int, default=5
        Number of cross-validation folds; at most the labelled samples of the smallest class.
        Allowed: a whole number, 2 or more.
    tol : float, default=0.001
        Difference of the dual's projected gradients at which training stops. Allowed: a number
        above 0.
    max_epochs : int, default=1000
        Maximum number of passes over the samples. Allowed: a whole number, 1 or more.

    *About the run:*

    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    Ridge : Ridge regression of the labels on the prepared samples.
    Nearest : Nearest labelled samples.
    LabelSpreading : Label spreading over a graph of neighbours.
    SelfTraining : Self-training of a linear classifier.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Cortes, Vapnik (1995); trained as by Hsieh et al. (2008): https://doi.org/10.1145/1390156.1390208

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import LinearSVM
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = LinearSVM().fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "linear-svm"
    _doc_link_template = "https://doi.org/10.1145/1390156.1390208"
    _knobs = {
        "box_constraints": "box_constraints",
        "folds": "folds",
        "loss": "loss",
        "tol": "tolerance",
        "max_epochs": "max_epochs",
    }
    _parameter_constraints = {
        "box_constraints": ["array-like", Interval(Real, 0.0, None, closed="neither")],
        "folds": [Interval(Integral, 2, None, closed="left")],
        "loss": [StrOptions({"hinge", "squared-hinge"})],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        box_constraints: Numbers | float = (0.1, 1.0, 10.0),
        folds: int = 5,
        loss: Literal["hinge", "squared-hinge"] = "hinge",
        tol: float = 0.001,
        max_epochs: int = 1000,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.box_constraints = box_constraints
        self.folds = folds
        self.loss = loss
        self.tol = tol
        self.max_epochs = max_epochs
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class Ridge(FewLabelClassifier):
    r"""Ridge regression of the labels on the prepared samples.

    A linear score for each class, fitted to +1 on its own labelled samples and -1 on all others;
    the highest score wins. A baseline in closed form; unlabelled samples are not used.

    .. math::

        \min_{W,b}\ \sum_{i\text{ labelled}}\lVert W^\top x_i+b-y_i\rVert^2
        +\mu(\lVert W\rVert^2+\lVert b\rVert^2),\qquad y_{ci}=\pm1

    Parameters
    ----------
    ridge : float or "auto", default=1.0
        Weight of the classifier's squared norm; `auto`: by leaving labels out. Scales with
        squared sample lengths. Letter: μ. Allowed: auto, or a number above 0.

    Other Parameters
    ----------------
    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the run:*

    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    LinearSVM : Linear support vector machine on the prepared samples.
    Nearest : Nearest labelled samples.
    LabelSpreading : Label spreading over a graph of neighbours.
    SelfTraining : Self-training of a linear classifier.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Hoerl, Kennard (1970): https://doi.org/10.1080/00401706.1970.10488634

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import Ridge
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = Ridge().fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "ridge"
    _doc_link_template = "https://doi.org/10.1080/00401706.1970.10488634"
    _knobs = {
        "ridge": "ridge",
    }
    _parameter_constraints = {
        "ridge": [StrOptions({"auto"}), Interval(Real, 0.0, None, closed="neither")],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        ridge: float | Literal["auto"] = 1.0,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.ridge = ridge
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class Nearest(FewLabelClassifier):
    r"""Nearest labelled samples.

    Each sample takes the class of the labelled sample nearest to it, or the majority of the k
    nearest. A baseline without training; unlabelled samples are not used.

    .. math::

        \hat y(x)=\operatorname*{arg\,max}_c\ \bigl|\{i\in\mathrm{knn}(x):y_i=c\}\bigr|

    Parameters
    ----------
    n_neighbors : int, default=1
        Number of nearest labelled samples that vote; ties go to the nearest. Letter: k. Allowed:
        a whole number, 1 or more.

    Other Parameters
    ----------------
    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the run:*

    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    LinearSVM : Linear support vector machine on the prepared samples.
    Ridge : Ridge regression of the labels on the prepared samples.
    LabelSpreading : Label spreading over a graph of neighbours.
    SelfTraining : Self-training of a linear classifier.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Cover, Hart (1967): https://doi.org/10.1109/TIT.1967.1053964

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import Nearest
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = Nearest().fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "nearest"
    _doc_link_template = "https://doi.org/10.1109/TIT.1967.1053964"
    _knobs = {
        "n_neighbors": "n_neighbors",
    }
    _parameter_constraints = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 1,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class Forest(FewLabelClassifier):
    r"""Random forest.

    Trees cut one feature at a time, each on labels drawn with replacement, at every node the
    best of a few features. The labelled samples that share leaves with a sample vote on it. The
    baseline for features that act by thresholds or have long tails; unlabelled samples are not
    used. Trees see a sample before `scale` takes its length.

    .. math::

        F(x)=\frac1T\sum_t\frac{1}{|\ell_t(x)|}\sum_{j\in\ell_t(x)}y_j

    Parameters
    ----------
    n_trees : int, default=300
        Number of trees; each draws labels with replacement, 2,000 at most. Letter: T. Allowed: a
        whole number, 1 or more.
    min_leaf : int, default=1
        Fewest of the drawn labels in a leaf. Allowed: a whole number, 1 or more.

    Other Parameters
    ----------------
    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the run:*

    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    LabelSpreading : Quick; always worth comparing.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Breiman (2001): https://doi.org/10.1023/A:1010933404324

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import Forest
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = Forest().fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "forest"
    _doc_link_template = "https://doi.org/10.1023/A:1010933404324"
    _knobs = {
        "n_trees": "n_trees",
        "min_leaf": "min_leaf",
    }
    _parameter_constraints = {
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "min_leaf": [Interval(Integral, 1, None, closed="left")],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_trees: int = 300,
        min_leaf: int = 1,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_trees = n_trees
        self.min_leaf = min_leaf
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LabelSpreading(TakesGraph, FewLabelClassifier):  # type: ignore[misc]
    r"""Label spreading over a graph of neighbours.

    Labels flow along the edges of a graph between all samples; each sample ends up with shares
    of the classes that agree with its neighbours and, if it has one, with its label. New samples
    take the weighted mean of the shares of their neighbours. Samples that no label reaches take
    the label of the labelled sample nearest to them. With `balance`, the class shares of the
    unlabelled samples are moved towards `prior` (class-mass normalisation).

    .. math::

        \min_F\ \tfrac12\sum_{ij}W_{ij}\Bigl\lVert\frac{F_i}{\sqrt{d_i}}
        -\frac{F_j}{\sqrt{d_j}}\Bigr\rVert^2+\frac{1-\alpha}{\alpha}\lVert F-Y\rVert^2
        \;\Rightarrow\;F=(1-\alpha)(I-\alpha D^{-1/2}WD^{-1/2})^{-1}Y

    Parameters
    ----------
    kernel : {"heat", "neighbours"}, default='heat'
        Weight of a pair of neighbours: `heat` falls with their distance, `neighbours` is one.
    spreading : float, default=0.8
        Share that comes from the neighbours rather than from a sample's own label. Letter: α.
        Allowed: a number between 0 and 1.
    n_neighbors : int, default=5
        Neighbours per sample, counted from either side; at most the number of samples less one.
        Letter: k. Allowed: a whole number, 1 or more.
    width : float or str, default='0.2x'
        Width of the `heat` kernel; `0.2x` is a fifth of the mean distance. Letter: σ. Allowed: a
        number above 0.

    Other Parameters
    ----------------
    *About the graph:*

    neighbours : {"auto", "exact", "approximate"}, default='auto'
        Search for neighbours: `auto` is exact up to 20,000 samples, approximate beyond.

    *About the method:*

    clamp : bool, default=False
        Whether given labels stay fixed (label propagation); `spreading` is then unused.
    balance : float, default=0.0
        How far class shares of unlabelled samples are moved towards `prior`: 0 leaves them, 1
        makes them equal. Allowed: a number from 0 to 1.
    prior : str, or array-like of float, default='estimated'
        Expected class shares of unlabelled samples: `estimated`, `recounted`, `even`,
        `labelled`, or a number per class. Allowed: estimated, recounted, even, labelled, or a
        number above 0 per class, such as 0.3,0.7.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    tol : float, default=1e-10
        Residual, relative to the labels, at which the solver stops. Allowed: a number above 0.
    max_iter : int, default=1000
        Maximum number of iterations of the solver. Allowed: a whole number, 1 or more.

    *About the run:*

    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    LinearSVM : Linear support vector machine on the prepared samples.
    Ridge : Ridge regression of the labels on the prepared samples.
    Nearest : Nearest labelled samples.
    SelfTraining : Self-training of a linear classifier.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Zhou, Bousquet, Lal, Weston, Schölkopf (2003): https://papers.nips.cc/paper/2506-learning-with-local-and-global-consistency

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import LabelSpreading
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = LabelSpreading().fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "label-spreading"
    _doc_link_template = (
        "https://papers.nips.cc/paper/2506-learning-with-local-and-global-consistency"
    )
    _knobs = {
        "kernel": "kernel",
        "n_neighbors": "n_neighbors",
        "neighbours": "neighbours",
        "width": "width",
        "spreading": "spreading",
        "clamp": "clamp",
        "balance": "balance",
        "prior": "prior",
        "tol": "tolerance",
        "max_iter": "max_iterations",
    }
    _parameter_constraints = {
        "kernel": [StrOptions({"heat", "neighbours"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "neighbours": [StrOptions({"auto", "exact", "approximate"})],
        "width": [Interval(Real, 0.0, None, closed="neither"), str],
        "spreading": [Interval(Real, 0.0, 1.0, closed="neither")],
        "clamp": ["boolean"],
        "balance": [Interval(Real, 0.0, 1.0, closed="both")],
        "prior": [StrOptions({"estimated", "recounted", "even", "labelled"}), "array-like"],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        kernel: Literal["heat", "neighbours"] = "heat",
        n_neighbors: int = 5,
        neighbours: Literal["auto", "exact", "approximate"] = "auto",
        width: float | str = "0.2x",
        spreading: float = 0.8,
        clamp: bool = False,
        balance: float = 0.0,
        prior: Literal["estimated", "recounted", "even", "labelled"] | Numbers = "estimated",
        tol: float = 1e-10,
        max_iter: int = 1000,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.neighbours = neighbours
        self.width = width
        self.spreading = spreading
        self.clamp = clamp
        self.balance = balance
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SelfTraining(FewLabelClassifier):
    r"""Self-training of a linear classifier.

    A linear classifier is fitted on the labelled samples, labels the unlabelled ones it is most
    sure of, and is fitted again on all labels, until it is sure of no more. Given labels never
    change, and neither do labels once they are added. A baseline for what unlabelled samples are
    worth without a graph or a dictionary.

    .. math::

        \min_{W,b,\,\hat y}\ \sum_{i\text{ labelled}}\ell(W^\top x_i+b,\,y_i)
        +\sum_{i\text{ sure}}\ell(W^\top x_i+b,\,\hat y_i)+\Omega(W,b)\quad\text{in turns}

    Parameters
    ----------
    base : {"svm", "ridge"}, default='svm'
        Classifier that is fitted to the prepared samples.
    threshold : float, default=0.5
        Minimum probability at which a sample is labelled. Allowed: a number between 0 and 1.
    box_constraints : array-like of float, or float, default=(0.1, 1.0, 10.0)
        Box constraints of the SVM; cross-validation on the given labels picks the best. Letter:
        C. Allowed: up to 16 numbers above 0, such as 0.1,1,10.
    ridge : float, default=1.0
        Weight of the squared norm of a `ridge` classifier; scales with squared sample lengths.
        Letter: μ. Allowed: a number above 0.

    Other Parameters
    ----------------
    *About the method:*

    per_round : float, default=0.1
        Share of the unlabelled samples that one round may label; 1 sets no limit. Allowed: a
        number above 0.
    unlabelled_weight : float, default=1.0
        Weight of a sample that the classifier labelled, a given label's being 1. Letter: u.
        Allowed: a number above 0.
    balance : float, default=0.0
        How far class shares of unlabelled samples are moved towards `prior`: 0 leaves them, 1
        makes them equal. Allowed: a number from 0 to 1.
    prior : str, or array-like of float, default='estimated'
        Expected class shares of unlabelled samples: `estimated`, `recounted`, `even`,
        `labelled`, or a number per class. Allowed: estimated, recounted, even, labelled, or a
        number above 0 per class, such as 0.3,0.7.
    loss : {"hinge", "squared-hinge"}, default='hinge'
        Loss of the SVM for a sample inside its margin.

    *About samples and labels:*

    prepare : sequence of str, str or None, default=('auto',)
        Preparation (preprocessing) steps, fitted on the training samples, kept in the model and
        applied to every sample, as `ssdl.preparation.known_steps` lists them; None or empty for
        none.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count: a number above 0 by class, or all classes the
        same however many labels each has. Only ratios matter.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless
        there is only one other class: then -1 is a class.
    calibrate : bool, default=True
        Whether probabilities are calibrated, by three more fits with labels hidden in turn on at
        most 3,000 samples; predicted classes do not depend on it.

    *About the solver:*

    max_rounds : int, default=20
        Maximum number of rounds of labelling. Allowed: a whole number, 1 or more.
    folds : int, default=5
        Number of cross-validation folds; at most the labelled samples of the smallest class.
        Allowed: a whole number, 2 or more.

    *About the run:*

    memory_limit : int or None, default=None
        Maximum number of bytes that the fit may use.
    scratch : str, path-like or None, default=None
        Folder for a file of the prepared samples: once the graph is built they are read from
        there, a block at a time, and take no memory. Only few methods can; others say so.
    device : {'cpu', 'gpu', 'auto'}, default='cpu'
        Where fits and predictions compute: 'gpu' is an NVIDIA card, for a package built with it;
        'auto' is the card if there is one.
    random_state : int, RandomState instance or None, default=0
        Random seed. The same seed gives the same bits for any `n_jobs`; None draws a seed.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.
    verbose : int, default=0
        1 prints a line for every iteration, 2 for every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    coef_ : ndarray of shape (n_classes, n_atoms or n_prepared_features)
        Weights of the linear classifier; missing if training samples vote or residuals decide.
    intercept_ : ndarray of shape (n_classes,)
        Bias of the linear classifier.

    See Also
    --------
    LinearSVM : Linear support vector machine on the prepared samples.
    Ridge : Ridge regression of the labels on the prepared samples.
    Nearest : Nearest labelled samples.
    LabelSpreading : Label spreading over a graph of neighbours.
    model_selection.FewLabelSearch : Chooses parameters by labels that are hidden in turn.

    Notes
    -----
    What all classifiers have in common is said once: ``help(ssdl.FewLabelClassifier)`` has the
    other attributes, and ``ssdl.preparation.known_steps()`` the preparation steps.

    References
    ----------
    Scudder (1965); Yarowsky (1995): https://doi.org/10.3115/981658.981684

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import SelfTraining
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[100:] = -1
    >>> model = SelfTraining().fit(X[:600], few)
    >>> bool(model.score(X[600:], y[600:]) > 0.7)
    True
    """

    _method = "self-training"
    _doc_link_template = "https://doi.org/10.3115/981658.981684"
    _knobs = {
        "base": "base",
        "threshold": "threshold",
        "per_round": "per_round",
        "max_rounds": "max_rounds",
        "unlabelled_weight": "unlabelled_weight",
        "balance": "balance",
        "prior": "prior",
        "box_constraints": "box_constraints",
        "folds": "folds",
        "loss": "loss",
        "ridge": "ridge",
    }
    _parameter_constraints = {
        "base": [StrOptions({"svm", "ridge"})],
        "threshold": [Interval(Real, 0.0, 1.0, closed="neither")],
        "per_round": [Interval(Real, 0.0, None, closed="neither")],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "unlabelled_weight": [Interval(Real, 0.0, None, closed="neither")],
        "balance": [Interval(Real, 0.0, 1.0, closed="both")],
        "prior": [StrOptions({"estimated", "recounted", "even", "labelled"}), "array-like"],
        "box_constraints": ["array-like", Interval(Real, 0.0, None, closed="neither")],
        "folds": [Interval(Integral, 2, None, closed="left")],
        "loss": [StrOptions({"hinge", "squared-hinge"})],
        "ridge": [Interval(Real, 0.0, None, closed="neither")],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        base: Literal["svm", "ridge"] = "svm",
        threshold: float = 0.5,
        per_round: float = 0.1,
        max_rounds: int = 20,
        unlabelled_weight: float = 1.0,
        balance: float = 0.0,
        prior: Literal["estimated", "recounted", "even", "labelled"] | Numbers = "estimated",
        box_constraints: Numbers | float = (0.1, 1.0, 10.0),
        folds: int = 5,
        loss: Literal["hinge", "squared-hinge"] = "hinge",
        ridge: float = 1.0,
        prepare: Steps = ("auto",),
        image_shape: ImageShape = None,
        class_weight: ClassWeight = None,
        unlabeled: object = None,
        calibrate: bool = True,
        memory_limit: int | None = None,
        scratch: PathLike | None = None,
        device: Device = "cpu",
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.base = base
        self.threshold = threshold
        self.per_round = per_round
        self.max_rounds = max_rounds
        self.unlabelled_weight = unlabelled_weight
        self.balance = balance
        self.prior = prior
        self.box_constraints = box_constraints
        self.folds = folds
        self.loss = loss
        self.ridge = ridge
        self.prepare = prepare
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.calibrate = calibrate
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
