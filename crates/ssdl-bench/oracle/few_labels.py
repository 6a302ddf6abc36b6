"""Ten labels of each digit of MNIST, all other training images unlabelled; and the labels of the test images.

    python few_labels.py MNIST_FOLDER SEED OUT_FOLDER

Writes OUT_FOLDER/labels.txt (empty lines for the others) and OUT_FOLDER/test.txt. Needs nothing but Python.
"""

import gzip
import random
import sys
from pathlib import Path

LABELS = 10


def classes(path: Path) -> bytes:
    with gzip.open(path) as file:
        return file.read()[8:]


def main(folder: Path, seed: int, out: Path) -> None:
    known, draws, kept = classes(folder / "train-labels-idx1-ubyte.gz"), random.Random(seed), set()
    for digit in range(10):
        kept.update(draws.sample([at for at, each in enumerate(known) if each == digit], LABELS))
    out.mkdir(parents=True, exist_ok=True)
    lines = [f"{each}\n" if at in kept else "\n" for at, each in enumerate(known)]
    (out / "labels.txt").write_text("".join(lines))
    truth = classes(folder / "t10k-labels-idx1-ubyte.gz")
    (out / "test.txt").write_text("".join(f"{each}\n" for each in truth))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
