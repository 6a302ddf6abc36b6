"""The package is the program, too; both read each other's models, to the bit."""

import csv
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import ssdl
from conftest import small
from pages import PROGRAM

pytestmark = [
    pytest.mark.skipif(not PROGRAM, reason="the package is not installed"),
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def program(*arguments):
    words = [PROGRAM, *map(str, arguments), "--quiet"]
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=120)


def module(*arguments, **options):
    """What ``python -m ssdl`` did."""
    words = [sys.executable, "-P", "-m", "ssdl", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, **options)


@pytest.mark.parametrize(
    ("words", "code"),
    [(["--version"], 0), (["methods"], 0), (["fit", "--help"], 0), (["fit"], 2), ([], 2)],
)
def test_the_module_is_the_program(words, code):
    ran = module(*words)
    same = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout, ran.stderr) == (code, same.stdout, same.stderr)
    assert ran.stdout or ran.stderr.startswith("ssdl: ")


def test_the_program_starts_without_scikit_learn():
    words = "import sys, ssdl.__main__; print('sklearn' in sys.modules, 'numpy' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-P", "-c", words], capture_output=True, text=True, timeout=120
    )
    assert ran.stdout == "False False\n"


def test_the_demo_runs_from_the_package(tmp_path):
    ran = module("demo", "--quiet", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "labels used" in ran.stdout
    assert (tmp_path / "digits-report.html").stat().st_size > 50_000


def test_a_name_that_is_no_text_reaches_the_program(tmp_path):
    name = os.fsdecode(b"caf\xe9.csv")
    try:
        (tmp_path / name).write_text("a,b,label\n1,2,x\n3,4,\n")
    except (OSError, UnicodeError):
        pytest.skip("this file system has only names that are text")
    ran = module("fit", name, "--label-column", "label", "--model", "m.ssdl", cwd=tmp_path)
    # A single class is refused, but the file was found and read.
    assert "class" in ran.stderr
    assert "cannot be read" not in ran.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send to one process")
def test_ctrl_c_is_obeyed_by_the_program_and_not_by_the_interpreter(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(4000, 50)))
    labels = "\n".join(str(each) for each in ["label", *([0, 1] * 10), *([""] * 3980)])
    (tmp_path / "y.csv").write_text(labels + "\n")
    words = ["fit", "x.npy", "--labels", "y.csv", "--model", "m.ssdl", "--prepare", "none"]
    words += ["--set", "max_iterations=100000", "--set", "tolerance=0", "--quiet"]
    fit = subprocess.Popen(
        [sys.executable, "-P", "-m", "ssdl", *words],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        # pytest may have been started with Ctrl-C ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(3)
    assert fit.poll() is None, fit.stderr.read()
    fit.send_signal(signal.SIGINT)
    _, said = fit.communicate(timeout=60)
    assert fit.returncode == 1
    # On a busy machine there may be no model yet.
    assert said.startswith("ssdl: cancelled")
    assert ("is saved" in said) == (tmp_path / "m.ssdl").exists()


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
