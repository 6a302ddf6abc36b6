"""Data sets from the package, from the user's files, and from a folder."""

import gzip
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets
from scipy.io import loadmat, savemat

import ssdl
from ssdl import errors
from ssdl.datasets import (
    data_folder,
    fetch_mnist,
    fetch_usps,
    fetch_yaleb,
    hide_labels,
    load_digits,
    load_mnist,
    load_usps,
    load_yaleb,
    read_samples,
)

TABLE = "width,height,kind\n1,2,cat\n3,4,dog\n5,6,\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder of data sets with a handful of made-up samples each."""
    for name in ("SSDL_DATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    generator = np.random.default_rng(0)
    (tmp_path / "mnist").mkdir()
    for start, n in (("train", 5), ("t10k", 3)):
        images = generator.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        labels = np.arange(n, dtype=np.uint8)
        for ending, array in (("images-idx3", images), ("labels-idx1", labels)):
            head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
            with gzip.open(tmp_path / "mnist" / f"{start}-{ending}-ubyte.gz", "wb") as file:
                file.write(head + array.tobytes())
    (tmp_path / "usps").mkdir()
    for part, n in (("train", 4), ("test", 2)):
        rows = np.round(generator.uniform(-1, 1, (n, 256)), 3)
        lines = [" ".join(map(str, [float(label), *row])) for label, row in enumerate(rows)]
        with gzip.open(tmp_path / "usps" / f"zip.{part}.gz", "wt") as file:
            file.write("\n".join(lines) + "\n")
    (tmp_path / "yaleb").mkdir()
    faces = generator.integers(0, 256, (6, 1024)).astype(float)
    savemat(tmp_path / "yaleb" / "YaleB_32x32.mat", {"fea": faces, "gnd": np.c_[1:7]})
    return tmp_path


def test_the_digits_are_those_of_scikit_learn(same_bits):
    ours, theirs = load_digits(), sklearn.datasets.load_digits()
    same_bits(ours.data, theirs.data)
    np.testing.assert_array_equal(ours.target, theirs.target)
    assert ours.image_shape == (8, 8)
    X, y = load_digits(return_X_y=True)
    same_bits(X, ours.data)
    same_bits(y, ours.target)


@pytest.mark.parametrize("per_class", [1, 5, 1000])
def test_some_labels_of_each_class_are_kept(per_class, digits):
    few = hide_labels(digits["y"], per_class)
    left = few != -1
    np.testing.assert_array_equal(few[left], digits["y"][left])
    sizes = np.bincount(digits["y"])
    np.testing.assert_array_equal(np.bincount(few[left]), np.minimum(sizes, per_class))


def test_the_labels_to_keep_are_drawn_at_random(digits, same_bits):
    same_bits(hide_labels(digits["y"], 5), hide_labels(digits["y"], 5, random_state=0))
    other = hide_labels(digits["y"], 5, random_state=np.random.RandomState(1))
    assert not np.array_equal(hide_labels(digits["y"], 5), other)


def test_hidden_labels_are_marked_as_a_fit_reads_them():
    text = hide_labels(list("aaabbc"), 1)
    assert sorted(value for value in text if value is not None) == ["a", "b", "c"]
    assert hide_labels([3, 3, 4, -1], 1).tolist().count(-1) == 2
    assert hide_labels(np.array([3, 3, 4], dtype=np.uint8), 1).tolist().count(-1) == 1
    floats = hide_labels([1.0, 2.0, np.nan, 1.0], 1)
    assert floats.dtype == np.float64
    assert floats.tolist().count(-1.0) == 2


@pytest.mark.filterwarnings("ignore:-1 is taken for a class")
def test_hidden_labels_are_not_taken_for_the_class_minus_one():
    few = hide_labels([-1, 1, -1, 1, -1], 1)
    assert sorted(value for value in few if value is not None) == [-1, 1]


def test_labels_that_cannot_be_hidden_are_refused(digits):
    with pytest.raises(errors.LabelsError, match="1 or more"):
        hide_labels(digits["y"], 0)
    with pytest.raises(errors.LabelsError, match="no sample is labelled"):
        hide_labels([-1, -1])


@pytest.mark.parametrize("label", ["kind", 2, -1])
def test_a_table_is_read_with_its_labels(label, table):
    found = read_samples(table, label=label)
    np.testing.assert_array_equal(found.data, [[1, 2], [3, 4], [5, 6]])
    assert found.target.tolist() == ["cat", "dog", None]
    assert found.feature_names == ["width", "height"]
    assert found.image_shape is found.sample_names is None
    X, y = read_samples(str(table), label=label, return_X_y=True)
    np.testing.assert_array_equal(X, found.data)
    assert ssdl.Nearest().fit(X, y).predict(X).tolist() == ["cat", "dog", "dog"]


def test_a_packed_table_without_names_is_read(tmp_path):
    with gzip.open(tmp_path / "table.csv.gz", "wt") as file:
        file.write("1,2,0\n3,4,1\n")
    found = read_samples(tmp_path / "table.csv.gz", label=2)
    np.testing.assert_array_equal(found.data, [[1, 2], [3, 4]])
    assert found.target.tolist() == ["0", "1"]
    assert found.feature_names is None
    assert read_samples(tmp_path / "table.csv.gz").target is None
    few = read_samples(tmp_path / "table.csv.gz", label=2, ignore=[0])
    assert few.data.shape == (found.data.shape[0], found.data.shape[1] - 1)


def test_arrays_of_numpy_are_read(tmp_path):
    samples = np.arange(12.0).reshape(3, 4)
    np.save(tmp_path / "x.npy", samples)
    np.testing.assert_array_equal(read_samples(tmp_path / "x.npy").data, samples)
    found = read_samples(tmp_path / "x.npy", label=-1)
    np.testing.assert_array_equal(found.data, samples[:, :3])
    assert found.target.tolist() == ["3", "7", "11"]
    np.savez(tmp_path / "both.npz", pixels=samples.reshape(3, 2, 2), kind=np.array(list("aba")))
    found = read_samples(tmp_path / "both.npz", label="kind", array="pixels")
    np.testing.assert_array_equal(found.data, samples)
    assert found.target.tolist() == ["a", "b", "a"]
    assert found.image_shape == (2, 2)


def test_folders_of_images_are_read(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    pixels = np.arange(0, 240, 20, dtype=np.uint8).reshape(3, 4)
    for name in ("cat", "dog", "unlabelled"):
        (tmp_path / name).mkdir()
        Image.fromarray(pixels).save(tmp_path / name / "one.png")
    found = read_samples(tmp_path)
    np.testing.assert_allclose(found.data, np.tile(pixels.ravel() / 255, (3, 1)), atol=1e-6)
    assert found.target.tolist() == ["cat", "dog", None]
    assert found.sample_names == ["cat/one.png", "dog/one.png", "unlabelled/one.png"]
    assert found.image_shape == (3, 4)
    Image.fromarray(pixels[:2]).save(tmp_path / "cat" / "two.png")
    with pytest.raises(errors.DataFileError, match="2x4 pixels"):
        read_samples(tmp_path)
    assert read_samples(tmp_path, image_shape=(6, 8)).data.shape == (4, 48)
    with pytest.raises(errors.ShapeError, match="above 0"):
        read_samples(tmp_path, image_shape=(-6, 8))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3,x\n", r"line 3, column 2 \(`b`\) is `x`"),
        ("1,2\n3,4\n5\n", "line 3 has 1 columns, but 2 were expected"),
        ("a,b\n1,2\n3,nan\n", "line 3, column 2 .* must be finite"),
        ("", "empty"),
        ("a,b\n", "no"),
    ],
)
def test_a_table_that_is_wrong_is_named_with_its_line(text, words, tmp_path):
    (tmp_path / "wrong.csv").write_text(text)
    with pytest.raises(errors.DataFileError, match=words) as caught:
        read_samples(tmp_path / "wrong.csv")
    assert isinstance(caught.value, ValueError)
    assert str(tmp_path / "wrong.csv") in str(caught.value)


def test_what_is_not_in_a_file_is_not_found(table, tmp_path):
    with pytest.raises(errors.DataFileError, match="available: `width`, `height`, `kind`"):
        read_samples(table, label="colour")
    with pytest.raises(errors.DataFileError, match="0 to 2"):
        read_samples(table, label=7)
    with pytest.raises(FileNotFoundError) as caught:
        read_samples(tmp_path / "none.csv")
    assert caught.value.filename == str(tmp_path / "none.csv")
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY but cut off")
    with pytest.raises(errors.DataFileError, match="x.npy"):
        read_samples(tmp_path / "x.npy")


@pytest.mark.parametrize(("subset", "n"), [("train", 5), ("test", 3)])
def test_mnist_is_read_from_its_folder(subset, n, home):
    mnist = load_mnist(subset, data_home=home)
    assert mnist.data.shape == (n, 784)
    assert mnist.image_shape == (28, 28)
    assert mnist.target.tolist() == list(range(n))
    assert mnist.target.dtype.kind == "i"
    # Bytes of the file, pixels row by row.
    first = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)
    if subset == "train":
        np.testing.assert_array_equal(mnist.data, first.reshape(5, 784))


@pytest.mark.parametrize(("subset", "n"), [("train", 4), ("test", 2)])
def test_usps_is_read_from_its_folder(subset, n, home):
    X, y = load_usps(subset, data_home=str(home), return_X_y=True)
    assert X.shape == (n, 256)
    assert np.abs(X).max() <= 1
    assert y.tolist() == list(range(n))
    assert load_usps(subset, data_home=home).image_shape == (16, 16)


def test_faces_are_turned_the_right_way_round(home):
    yaleb = load_yaleb(data_home=home)
    # The file stores images column by column.
    stored = loadmat(home / "yaleb" / "YaleB_32x32.mat")["fea"]
    expected = [face.reshape(32, 32, order="F") for face in stored]
    np.testing.assert_array_equal(yaleb.data.reshape(-1, 32, 32), expected)
    assert yaleb.target.tolist() == [1, 2, 3, 4, 5, 6]
    assert yaleb.image_shape == (32, 32)


def test_the_folder_is_named_by_argument_or_variable(home, monkeypatch):
    monkeypatch.setenv("SSDL_DATA", str(home / "elsewhere"))
    assert data_folder() == home / "elsewhere"
    assert data_folder(home) == home
    assert load_usps(data_home=home).data.shape == (4, 256)
    with pytest.raises(FileNotFoundError, match="elsewhere"):
        load_usps()
    monkeypatch.setenv("SSDL_DATA", str(home))
    assert load_usps().data.shape == (4, 256)


def test_a_folder_may_be_in_the_home():
    assert data_folder("~/samples") == Path.home() / "samples"


@pytest.mark.parametrize(
    "variables",
    [
        {"SSDL_DATA": "~/samples"},
        {"SSDL_DATA": "samples"},
        {"SSDL_DATA": "", "XDG_CACHE_HOME": "", "LOCALAPPDATA": ""},
        {"XDG_CACHE_HOME": "cache"},
        {"XDG_CACHE_HOME": os.path.abspath("cache")},
    ],
    ids=str,
)
def test_the_folder_is_that_of_the_program(variables, home, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    command = [sys.executable, "-P", "-m", "ssdl", "data", "path"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert str(data_folder()) == done.stdout.rstrip("\n")


@pytest.mark.skipif(os.name == "nt", reason="the cache is elsewhere there")
def test_without_a_name_the_folder_is_in_the_cache(home, monkeypatch):
    monkeypatch.setattr("ssdl.datasets.sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    assert data_folder() == home / "cache" / "ssdl"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert data_folder() == Path.home() / ".cache" / "ssdl"
    # An empty variable does not count.
    monkeypatch.setenv("SSDL_DATA", "")
    assert data_folder() == Path.home() / ".cache" / "ssdl"


@pytest.mark.parametrize(
    ("load", "file"),
    [
        (load_mnist, "mnist/train-images-idx3-ubyte.gz"),
        (load_usps, "usps/zip.train.gz"),
        (load_yaleb, "yaleb/YaleB_32x32.mat"),
    ],
)
def test_a_data_set_that_is_not_there_is_named_with_the_remedy(load, file, tmp_path):
    with pytest.raises(FileNotFoundError, match="SSDL_DATA") as caught:
        load(data_home=tmp_path / "empty")
    assert str(tmp_path / "empty" / file) in str(caught.value)


@pytest.mark.parametrize(
    ("fetch", "name"), [(fetch_mnist, "mnist"), (fetch_usps, "usps"), (fetch_yaleb, "yaleb")]
)
def test_a_data_set_is_fetched_into_the_folder_and_loaded(fetch, name, home, monkeypatch):
    asked = []
    monkeypatch.setattr(
        ssdl.datasets._ssdl, "fetch", lambda name, folder: asked.append((name, folder))
    )
    X, y = fetch(data_home=home, return_X_y=True)
    loaded = getattr(ssdl.datasets, f"load_{name}")(data_home=home)
    assert asked == [(name, str(home))]
    assert np.array_equal(X, loaded.data) and np.array_equal(y, loaded.target)


def test_a_download_that_cannot_be_kept_is_refused_before_it_begins(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(OSError, match="file"):
        fetch_usps(data_home=tmp_path / "file")


def test_a_file_with_another_digest_is_refused_and_kept(home):
    before = (home / "usps" / "zip.train.gz").read_bytes()
    with pytest.raises(ssdl.errors.DataFileError, match="zip.train.gz"):
        fetch_usps(data_home=home)
    assert (home / "usps" / "zip.train.gz").read_bytes() == before


@pytest.mark.parametrize("load", [load_mnist, load_usps])
def test_a_part_that_is_not_there_is_refused(load, home):
    with pytest.raises(ValueError, match="'validation'"):
        load("validation", data_home=home)
