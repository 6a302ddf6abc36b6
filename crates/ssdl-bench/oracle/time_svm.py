"""Times scikit-learn's LinearSVC on the samples of a bench and prints one line of JSON."""

import json
import sys
import time

import numpy as np
import sklearn
from sklearn.svm import LinearSVC

samples, labels, box = np.load(sys.argv[1]), open(sys.argv[2]).read().split(), float(sys.argv[3])
classes = np.array(labels[1:] if len(labels) > len(samples) else labels)
samples = 5 * samples / np.linalg.norm(samples, axis=1, keepdims=True)
svm = LinearSVC(loss="hinge", C=box, tol=1e-3, max_iter=1000, random_state=0)
start = time.perf_counter()
svm.fit(samples, classes)
seconds = time.perf_counter() - start

margins = svm.decision_function(samples)
signs = np.where(svm.classes_[None, :] == classes[:, None], 1.0, -1.0)
squares = 0.5 * (np.sum(svm.coef_**2) + np.sum(svm.intercept_**2))
objective = squares + box * np.sum(np.maximum(0.0, 1.0 - signs * margins))
print(json.dumps({"seconds": seconds, "objective": objective, "version": sklearn.__version__}))
