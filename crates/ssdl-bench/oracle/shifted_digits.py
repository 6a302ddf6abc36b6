"""Many digits from the 60,000 of MNIST: each copy moved by up to two pixels in either direction.

    python shifted_digits.py MNIST_FOLDER COUNT OUT_FOLDER

Writes OUT_FOLDER/images.idx (COUNT images, not packed) and OUT_FOLDER/labels.txt (100 labels of each class,
on images that were not moved; empty lines for the others). The same count gives the same bytes. Needs
nothing but Python.
"""

import gzip
import random
import struct
import sys
from pathlib import Path

SIDE, LABELS, FARTHEST = 28, 100, 2


def unpacked(path: Path, head: int) -> bytes:
    with gzip.open(path) as file:
        return file.read()[head:]


def moved(image: bytes, down: int, right: int) -> bytes:
    """The image with zeros where nothing moved in."""
    empty = bytes(SIDE)
    rows = [image[at : at + SIDE] for at in range(0, SIDE * SIDE, SIDE)]
    if right > 0:
        rows = [empty[:right] + row[:-right] for row in rows]
    elif right < 0:
        rows = [row[-right:] + empty[:-right] for row in rows]
    if down > 0:
        rows = [empty] * down + rows[:-down]
    elif down < 0:
        rows = rows[-down:] + [empty] * -down
    return b"".join(rows)


def main(folder: Path, count: int, out: Path) -> None:
    images = unpacked(folder / "train-images-idx3-ubyte.gz", 16)
    classes = unpacked(folder / "train-labels-idx1-ubyte.gz", 8)
    size, draws, seen = SIDE * SIDE, random.Random(0), [0] * 10
    out.mkdir(parents=True, exist_ok=True)
    with (out / "images.idx").open("wb") as file, (out / "labels.txt").open("w") as labels:
        file.write(struct.pack(">IIII", 0x0803, count, SIDE, SIDE))
        for at in range(count):
            place = at % len(classes)
            image = images[place * size : (place + 1) * size]
            if at < len(classes):
                seen[classes[place]] += 1
                known = seen[classes[place]] <= LABELS
                labels.write(f"{classes[place]}\n" if known else "\n")
            else:
                down, right = (draws.randint(-FARTHEST, FARTHEST) for _ in range(2))
                image = moved(image, down, right)
                labels.write("\n")
            file.write(image)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
