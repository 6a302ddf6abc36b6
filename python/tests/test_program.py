"""Python and the program read each other's models, to the bit."""

import csv
import os
import subprocess

import numpy as np
import pytest

import ssdl
from conftest import small

PROGRAM = os.environ.get("SSDL_PROGRAM")

pytestmark = [
    pytest.mark.skipif(not PROGRAM, reason="SSDL_PROGRAM does not name the program ssdl"),
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def program(*arguments):
    words = [PROGRAM, *map(str, arguments), "--quiet"]
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=120)


def predicted_by_the_program(model, samples, folder):
    """Labels and probabilities, in the order of the classes."""
    np.save(folder / "new.npy", samples)
    program("predict", model, folder / "new.npy", "--out", folder / "predicted.csv", "--proba")
    with open(folder / "predicted.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    first = next(at for at, name in enumerate(head) if "0" in name and at > 0)
    shares = np.array([[float(cell) for cell in row[first : first + 10]] for row in rows])
    label = next(at for at, name in enumerate(head) if name == "label")
    return np.array([int(row[label]) for row in rows]), shares


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_program_predicts_with_a_model_from_python(estimator, dtype, digits, tmp_path):
    new = digits["new"][:50].astype(dtype)
    model = estimator.fit(digits["X"].astype(dtype), digits["few"])
    model.save(tmp_path / "m.ssdl")
    labels, shares = predicted_by_the_program(tmp_path / "m.ssdl", new, tmp_path)
    np.testing.assert_array_equal(labels, model.predict(new))
    np.testing.assert_array_equal(shares.astype(dtype), model.predict_proba(new))


def test_codes_are_the_same_from_both(coder, digits, tmp_path, same_bits):
    model = coder.fit(digits["X"], digits["few"])
    model.save(tmp_path / "m.ssdl")
    np.save(tmp_path / "new.npy", digits["new"])
    codes = tmp_path / "codes.npy"
    program(
        "predict",
        tmp_path / "m.ssdl",
        tmp_path / "new.npy",
        "--codes",
        codes,
        "--out",
        tmp_path / "predicted.csv",
    )
    same_bits(np.load(codes), model.transform(digits["new"]))


def test_python_predicts_with_a_model_of_the_program(digits, tmp_path):
    np.save(tmp_path / "train.npy", digits["X"])
    labels = "\n".join("" if label < 0 else str(label) for label in digits["few"])
    (tmp_path / "labels.csv").write_text(labels + "\n", encoding="utf-8")
    program(
        "fit",
        tmp_path / "train.npy",
        "--labels",
        tmp_path / "labels.csv",
        "--set",
        "n_atoms=30",
        "--set",
        "max_iterations=5",
        "--model",
        tmp_path / "m.ssdl",
    )
    model = ssdl.load(tmp_path / "m.ssdl")
    assert isinstance(model, ssdl.SSDLGA)
    assert model.n_atoms == 30
    labels, shares = predicted_by_the_program(tmp_path / "m.ssdl", digits["new"], tmp_path)
    np.testing.assert_array_equal(labels, model.predict(digits["new"]))
    probabilities = model.predict_proba(digits["new"])
    np.testing.assert_array_equal(shares.astype(probabilities.dtype), probabilities)
    same = small(ssdl.SSDLGA, tol=model.tol).fit(digits["X"].astype(np.float32), digits["few"])
    np.testing.assert_array_equal(same.components_, model.components_)
