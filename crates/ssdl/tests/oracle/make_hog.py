#!/usr/bin/env python3
"""Writes hog.json beside this file: scikit-image's histograms of oriented gradients on small images.

Needs numpy and scikit-image: python make_hog.py
"""
import numpy as np
from skimage.feature import hog

from make_fixtures import matrix, write

# (height, width), (orientations, cell, block); some cells are cut off by the border.
CASES = [
    ((16, 16), (9, 4, 2)),
    ((16, 16), (8, 3, 2)),
    ((20, 20), (9, 4, 3)),
    ((13, 22), (9, 4, 2)),
    ((11, 7), (6, 2, 3)),
    ((9, 12), (12, 5, 1)),
    ((5, 6), (1, 1, 2)),
    ((8, 8), (4, 8, 1)),
]


def images(height, width):
    """One image a column, pixels row by row: grey values, a smooth blot, a ramp, an even image, zeros.

    Whole numbers, so that gradients on the border of two orientations are there to the bit.
    """
    rng = np.random.default_rng(100 * height + width)
    rows, columns = np.mgrid[:height, :width]
    blot = np.exp(-((rows - height / 3) / 3) ** 2 - ((columns - width / 2 - rows / 5) / 2) ** 2)
    drawn = [
        rng.integers(0, 256, (height, width)),
        rng.integers(0, 4, (height, width)),
        np.round(255 * blot),
        3 * rows + 2 * columns,
        columns - rows,
        np.full((height, width), 7),
        np.zeros((height, width)),
    ]
    return [image.astype(float) for image in drawn]


def case(shape, knobs):
    orientations, cell, block = knobs
    drawn = images(*shape)
    described = [hog(image, orientations=orientations, pixels_per_cell=(cell, cell),
                     cells_per_block=(block, block), block_norm="L2-Hys", feature_vector=True)
                 for image in drawn]
    return {"image": list(shape), "orientations": orientations, "cell": cell, "block": block,
            "pixels": matrix(np.stack([image.ravel() for image in drawn], axis=1)),
            # Eight decimals are more than single precision has, and keep the file small.
            "described": matrix(np.round(np.stack(described, axis=1), 8))}


if __name__ == "__main__":
    write("hog.json", {"cases": [case(shape, knobs) for shape, knobs in CASES]})
