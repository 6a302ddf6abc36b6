"""What one would write with PyTorch instead: neighbours, mixtures, ten iterations of codes and atoms.

    python beside.py SAMPLES FEATURES ATOMS [TIMES]

Exact neighbours by tiles, barycentres, then ten times twenty steps of FISTA with the graph term and a block
update of the atoms; the same sheets of samples as examples/measure.rs has, no classes. Medians of three runs, or of as many as asked for.
"""

import statistics
import sys
import time

import torch

N, n, p = (int(word) for word in sys.argv[1:4])
TIMES = int(sys.argv[4]) if len(sys.argv) > 4 else 3
K, CLASSES, SPARSITY, MANIFOLD = 10, 10, 0.3, 1.0
device = torch.device("cuda")
torch.manual_seed(0)


def sheets():
    place = torch.rand(N, 4, device=device) * 2 - 1
    turn = torch.arange(n, device=device) * 0.37
    classes = torch.arange(N, device=device) % CLASSES
    x = torch.zeros(N, n, device=device)
    for d in range(4):
        x += torch.sin((turn[None] + classes[:, None] * 1.9) * (d + 1) + 1.5 * place[:, d : d + 1])
    return (0.6 * x + 0.15 * (torch.rand_like(x) * 2 - 1)) * 5 / n**0.5


def neighbours(x):
    squares = (x * x).sum(1)
    out = torch.empty(N, K, dtype=torch.long, device=device)
    rows = max(1, min(N, 2**32 // (4 * N)))
    for first in range(0, N, rows):
        q = x[first : first + rows]
        distances = squares[None] - 2 * q @ x.T
        distances[torch.arange(len(q), device=device), torch.arange(first, first + len(q), device=device)] = float("inf")
        out[first : first + rows] = distances.topk(K, largest=False).indices
    return out


def mixtures(x, lists):
    out = torch.empty(N, K, device=device)
    for first in range(0, N, 65536):
        z = x[first : first + 65536, None] - x[lists[first : first + 65536]]
        gram = z @ z.transpose(1, 2)
        gram += 1e-3 * gram.diagonal(dim1=1, dim2=2).sum(1)[:, None, None] * torch.eye(K, device=device)
        w = torch.linalg.solve(gram, torch.ones(len(z), K, 1, device=device))[..., 0]
        out[first : first + 65536] = w / w.sum(1, keepdim=True)
    return out


def iterations(x, lists, weights):
    rows = torch.arange(N, device=device).repeat_interleave(K)
    index = torch.stack([torch.cat([rows, torch.arange(N, device=device)]), torch.cat([lists.flatten(), torch.arange(N, device=device)])])
    m = torch.sparse_coo_tensor(index, torch.cat([-weights.flatten(), torch.ones(N, device=device)]), (N, N)).coalesce().to_sparse_csr()
    mt = m.to_sparse_coo().T.coalesce().to_sparse_csr()
    atoms = x[torch.randperm(N, device=device)[:p]]
    atoms = atoms / atoms.norm(dim=1, keepdim=True)
    codes = torch.zeros(N, p, device=device)
    for _ in range(10):
        gram, rhs = atoms @ atoms.T, x @ atoms.T
        step = 1 / (2 * (torch.linalg.matrix_norm(gram, 2) + 6 * MANIFOLD))
        y, t = codes, 1.0
        for _ in range(20):
            gradient = 2 * (y @ gram - rhs + MANIFOLD * (mt @ (m @ y)))
            z = y - step * gradient
            new = torch.sign(z) * torch.clamp(z.abs() - step * SPARSITY, min=0)
            t_new = (1 + (1 + 4 * t * t) ** 0.5) / 2
            y, codes, t = new + (t - 1) / t_new * (new - codes), new, t_new
        moments, cross = codes.T @ codes, codes.T @ x
        for k in range(p):
            if moments[k, k] > 0:
                atom = atoms[k] + (cross[k] - moments[k] @ atoms) / moments[k, k]
                atoms[k] = atom / torch.clamp(atom.norm(), min=1)
    return codes


def timed(step, *arguments):
    seconds = []
    for _ in range(TIMES):
        torch.cuda.synchronize()
        started = time.perf_counter()
        found = step(*arguments)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - started)
    return found, statistics.median(seconds)


x = sheets()
print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}: {N} x {n}, {p} atoms")
torch.backends.cuda.matmul.allow_tf32 = True
lists, seconds = timed(neighbours, x)
print(f"neighbours, TF32 {seconds:.3f} s")
torch.backends.cuda.matmul.allow_tf32 = False
exact, seconds = timed(neighbours, x) if N <= 200_000 else (None, float("nan"))
print(f"neighbours, f32 {seconds:.3f} s")
weights, seconds = timed(mixtures, x, lists)
print(f"mixtures {seconds:.3f} s")
_, seconds = timed(iterations, x, lists, weights)
print(f"ten iterations {seconds:.3f} s, peak {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
