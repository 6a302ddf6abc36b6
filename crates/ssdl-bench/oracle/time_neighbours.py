"""Seconds and recall of pynndescent on the samples of an IDX file, one thread.

    python time_neighbours.py IMAGES.gz N_SAMPLES N_NEIGHBOURS LIST_LENGTH

Its lists have LIST_LENGTH entries, of which the first N_NEIGHBOURS are compared with exact ones of 200
samples. It is compiled before the clock starts. Prints one line of JSON.
"""

import gzip
import json
import sys
import time

import numpy as np
import pynndescent

path, count, k, length = sys.argv[1], *map(int, sys.argv[2:5])
with gzip.open(path) as file:
    raw = np.frombuffer(file.read(), dtype=np.uint8, offset=16)
samples = raw.reshape(60_000, 784)[:count].astype(np.float32) / 255


def search(part):
    return pynndescent.NNDescent(part, n_neighbors=length, n_jobs=1, random_state=0)


search(samples[:2000])
started, used = time.perf_counter(), time.process_time()
found, _ = search(samples).neighbor_graph
wall, used = time.perf_counter() - started, time.process_time() - used

hits = 0
chosen = np.arange(200) * count // 200
squares = (samples**2).sum(1)
for i in chosen:
    distances = squares - 2 * samples @ samples[i]
    distances[i] = np.inf
    nearest = set(np.argpartition(distances, k)[:k].tolist())
    others = [j for j in found[i].tolist() if j != i][:k]
    hits += len(nearest & set(others))
version = pynndescent.__version__
print(json.dumps({"seconds": used, "wall": wall, "recall": hits / (200 * k), "version": version}))
