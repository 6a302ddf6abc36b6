"""Writes digits.bin.gz from scikit-learn's copy of the data: python make_digits.py

Each of the 1,797 samples is 64 pixels (0 to 16, row by row) and its class, one byte each.
"""

import gzip
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
rows = np.column_stack([digits.data, digits.target]).astype(np.uint8)
assert rows.shape == (1797, 65) and rows[:, :64].max() == 16
packed = gzip.compress(rows.tobytes(), compresslevel=9, mtime=0)
Path(__file__).with_name("digits.bin.gz").write_bytes(packed)
