"""Mistakes that a check of types finds: on every line that is marked, and on no other."""

from ssdl import SSDLGA, DictionaryLearner, LabelSpreading, datasets, graphs, load
from ssdl.model_selection import FewLabelSearch, FewLabelSplit, cross_val_hidden

X, y = datasets.load_digits(return_X_y=True)

SSDLGA(n_atoms="fifty")  # wrong
SSDLGA(graph="lLe")  # wrong
SSDLGA(calibrate="yes")  # wrong
SSDLGA(random_state="0")  # wrong
SSDLGA(no_such_parameter=1)  # wrong
SSDLGA(50)  # wrong
SSDLGA(prepare=5)  # wrong
SSDLGA().fit(X)  # wrong
SSDLGA().fit("digits.csv", y)  # wrong
SSDLGA().fit(X, None)  # wrong
SSDLGA().fit(X, y, graph="lle")  # wrong
SSDLGA().query("ten")  # wrong
print(LabelSpreading().fit(X, y).query(n=5).no_such_attribute)  # wrong
DictionaryLearner(update="k-svd")  # wrong
datasets.load_mnist("validation")  # wrong
datasets.hide_labels(y, per_class="5")  # wrong
graphs.nearest_neighbors(X, "3")  # wrong
load(5)  # wrong
FewLabelSplit("5")  # wrong
cross_val_hidden(SSDLGA(), X, y, scoring=5)  # wrong
FewLabelSearch(SSDLGA(), {"n_atoms": [20]}, cv="3")  # wrong
text: str = SSDLGA().fit(X, y)  # wrong
