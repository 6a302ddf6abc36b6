"""What a user writes, with all checks of types on: no checker may find anything here."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import make_pipeline

from ssdl import (
    SSDLGA,
    DictionaryLearner,
    FewLabelClassifier,
    LabelSpreading,
    Preparation,
    SparseCoder,
    datasets,
    graphs,
    load,
)
from ssdl.labelling import first_to_label
from ssdl.model_selection import (
    FewLabelRandomSearch,
    FewLabelSearch,
    FewLabelSplit,
    cross_val_hidden,
)

X, y = datasets.load_digits(return_X_y=True)
few = datasets.hide_labels(y, 5)
pixels: NDArray[np.float64] = X
digits: NDArray[np.int64] = y

# A fit gives back the class it is of.
model: SSDLGA = SSDLGA(n_atoms=50, random_state=None, prepare=None).fit(X, few)
atoms: NDArray[np.floating[Any]] = model.components_
share: float = model.score(X, y)
rows: NDArray[np.int64] = model.query(5)
model = model.add_labels(rows, y[rows]).partial_fit(X[:10], y[:10])
SSDLGA(n_atoms="auto", width=2.0, prior=[0.3, 0.7], class_weight={0: 2.0, "one": 1.0})
SSDLGA(random_state=np.random.RandomState(0), image_shape=(8, 8), prepare=["pca=20", "scale=5"])

# Whatever is an array, or becomes one.
model.fit([[1, 2.0], [3, 4]], ["a", None])
model.fit([X[0], X[1]], (1, 2), graph=np.array([[1], [0]]))
model.fit(sparse.csr_array(X), few, sample_weight=np.ones(len(X)))
model.fit(pd.DataFrame(X), pd.Series(few))


def accuracy(estimator: FewLabelClassifier) -> float:
    return estimator.fit(X, few).score(X, y)


def saved(folder: Path) -> FewLabelClassifier:
    model.save(folder / "model.ssdl")
    return load(folder / "model.ssdl")


scores: list[float] = [accuracy(each) for each in (SSDLGA(), LabelSpreading(n_neighbors=5))]

search = FewLabelSearch(SSDLGA(), {"n_atoms": [20, 50]}, cv=3, scoring="neg_log_loss").fit(X, few)
best: SSDLGA = search.best_estimator_
chosen: dict[str, Any] = search.best_params_
some = FewLabelRandomSearch(LabelSpreading(), {"n_neighbors": [5, 10]}, n_iter=2)
folds: NDArray[np.float64] = cross_val_hidden(model, X, few, cv=FewLabelSplit(3))
several = cross_val_hidden(model, X, few, scoring=["accuracy", "roc_auc_ovr"])
areas: NDArray[np.float64] = several["roc_auc_ovr"]

prepared = Preparation("scale=5").fit_transform(X)
learner = DictionaryLearner(20, update="ksvd", n_nonzero_coefs=3).fit(prepared)
coder = SparseCoder(learner.components_, sparsity=0.1).fit(prepared)
first: NDArray[np.int64] = first_to_label(X, 10)
near: NDArray[np.int64] = graphs.nearest_neighbors(X, 3)
line = make_pipeline(Preparation("standardise"), model)
