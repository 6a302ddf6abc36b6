"""Times scikit-image's hog on images, compares with what ours made of them, prints one line of JSON.

time_hog.py SAMPLES.npy HEIGHTxWIDTH OURS.npy ORIENTATIONS/CELL/BLOCK
"""

import json
import sys
import time

import numpy as np
import skimage
from skimage.feature import hog

samples, ours = np.load(sys.argv[1]), np.load(sys.argv[3])
height, width = map(int, sys.argv[2].split("x"))
orientations, cell, block = map(int, sys.argv[4].split("/"))
# Single precision, as ours: it is the faster of the two for scikit-image too.
images = samples.astype(np.float32).reshape(-1, height, width)
start = time.perf_counter()
theirs = [hog(image, orientations=orientations, pixels_per_cell=(cell, cell), cells_per_block=(block, block))
          for image in images]
seconds = time.perf_counter() - start
# Gradients within rounding of the border of two orientations may fall on either side of it.
gaps = np.abs(np.stack(theirs) - ours).max(axis=1)
print(json.dumps({"seconds": seconds, "gap": float(np.median(gaps)), "apart": int((gaps > 1e-3).sum()),
                  "version": skimage.__version__}))
