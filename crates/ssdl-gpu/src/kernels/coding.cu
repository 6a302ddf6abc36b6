// One sample's code: coordinate descent on a small working set, one warp for each sample.
//
//   min_a  a'Ha - 2r'a + sparsity |a|_1,   H = G + shift I + W diag(omega) W'
//
// The steps are those of the processor's solver: full gradient, support and worst violators, a small
// dense block of H, sweeps there. Samples of one launch do not act on each other.

// Coefficients of a block; two to a lane.
#define WIDTH 64

struct Problem {
    int p, n_classes;
    const real *gram;       // p x p
    const real *rhs;        // p x N, without the graph
    const real *shifts;     // one for each sample, or null
    real *codes;            // p x N
    // The graph: rows of the transposed factor (mixtures) or of the weights (affinities).
    int form;               // 0: none, 1: mixtures, 2: affinities
    real beta;
    const i64 *starts;
    const u32 *others;
    const real *values;
    const real *diagonal;
    real *residuals;        // p x rows of the factor
    // The classes.
    real gamma;
    const real *weights;    // p x C, or null
    const real *cross;      // W W', p x p
    const real *shared;     // omega, the same for all classes
    const real *per_class;  // omega, C x N
    real sparsity;
    int nonnegative, rounds, sweeps;
    real tolerance, epsilon, tiny;
};

// Where a warp keeps its sample.
struct Place {
    real *gradient;  // p
    real *code;      // p
    real *block;     // WIDTH x WIDTH
    u16 *working;    // p
};

__device__ __forceinline__ real soft(real v, real above, real below) {
    real up = v - above, down = v + below;
    return (up > 0 ? up : 0) + (down < 0 ? down : 0);
}

__device__ __forceinline__ real omega_of(const Problem &it, i64 j, int c) {
    return it.gamma * (it.per_class ? it.per_class[j * it.n_classes + c] : it.shared[j]);
}

__device__ __forceinline__ real curvature(const Problem &it, i64 j, real shift, int k, int i) {
    real value = it.gram[(i64)k * it.p + i];
    if (it.weights) {
        if (it.per_class) {
            for (int c = 0; c < it.n_classes; c++) {
                const real *w = it.weights + (i64)c * it.p;
                value += omega_of(it, j, c) * w[k] * w[i];
            }
        } else {
            value += it.gamma * it.shared[j] * it.cross[(i64)k * it.p + i];
        }
    }
    return i == k ? value + shift : value;
}

// r, with the pull of the neighbours in it; returns the largest of its entries.
__device__ real right_hand_side(const Problem &it, const Place &at, i64 j) {
    int lane = threadIdx.x, p = it.p;
    const real *own = it.codes + j * p;
    real top = 0;
    i64 first = 0, last = 0;
    real scale = 0;
    if (it.form) {
        first = it.starts[j];
        last = it.starts[j + 1];
        scale = it.form == 1 ? -it.beta : it.beta;
    }
    const real *source = it.form == 1 ? it.residuals : it.codes;
    real diagonal = it.form == 1 ? it.diagonal[j] : 0;
    for (int i = lane; i < p; i += WARP) {
        real pull = 0;
        i64 e = first;
        for (; e + 4 <= last; e += 4) {
            real a = source[(i64)it.others[e] * p + i], b = source[(i64)it.others[e + 1] * p + i];
            real c = source[(i64)it.others[e + 2] * p + i], d = source[(i64)it.others[e + 3] * p + i];
            pull += it.values[e] * a;
            pull += it.values[e + 1] * b;
            pull += it.values[e + 2] * c;
            pull += it.values[e + 3] * d;
        }
        for (; e < last; e++) pull += it.values[e] * source[(i64)it.others[e] * p + i];
        if (it.form == 1) pull -= diagonal * own[i];
        real r = it.rhs[j * p + i] + scale * pull;
        at.gradient[i] = r;
        top = largest(top, r < 0 ? -r : r);
    }
    __syncwarp();
    return warp_max(top);
}

// Takes Ha from the gradient; returns how many coefficients are not zero, and lists them.
__device__ int full_gradient(const Problem &it, const Place &at, i64 j, real shift) {
    int lane = threadIdx.x, p = it.p, count = 0;
    for (int first = 0; first < p; first += WARP) {
        int i = first + lane;
        bool used = i < p && at.code[i] != 0;
        u32 mask = __ballot_sync(ALL, used);
        if (used) at.working[count + __popc(mask & ((1u << lane) - 1))] = (u16)i;
        count += __popc(mask);
    }
    __syncwarp();
    for (int i = lane; i < p; i += WARP) {
        real sum = at.gradient[i];
        int h = 0;
        for (; h + 4 <= count; h += 4) {
            int k0 = at.working[h], k1 = at.working[h + 1], k2 = at.working[h + 2], k3 = at.working[h + 3];
            real g0 = it.gram[(i64)k0 * p + i], g1 = it.gram[(i64)k1 * p + i];
            real g2 = it.gram[(i64)k2 * p + i], g3 = it.gram[(i64)k3 * p + i];
            sum -= at.code[k0] * g0;
            sum -= at.code[k1] * g1;
            sum -= at.code[k2] * g2;
            sum -= at.code[k3] * g3;
        }
        for (; h < count; h++) {
            int k = at.working[h];
            sum -= at.code[k] * it.gram[(i64)k * p + i];
        }
        at.gradient[i] = sum - shift * at.code[i];
    }
    if (it.weights) {
        for (int c = 0; c < it.n_classes; c++) {
            const real *w = it.weights + (i64)c * p;
            real score = 0;
            for (int h = lane; h < count; h += WARP) score += w[at.working[h]] * at.code[at.working[h]];
            score = warp_sum(score);
            real factor = omega_of(it, j, c) * score;
            if (factor != 0) {
                for (int i = lane; i < p; i += WARP) at.gradient[i] -= factor * w[i];
            }
        }
    }
    __syncwarp();
    return count;
}

__device__ __forceinline__ bool violates(const Place &at, int i, real half, real below) {
    real u = at.gradient[i];
    return at.code[i] == 0 && (u > half || -u > below);
}

// Adds the worst violators to the list, in the order of their places; returns its length.
__device__ int choose(const Problem &it, const Place &at, i64 j, real shift, int support, real half,
                      real below, real *gap) {
    int lane = threadIdx.x, p = it.p;
    real worst = 0;
    for (int h = lane; h < support; h += WARP) {
        int k = at.working[h];
        real u = at.gradient[k], off = at.code[k] > 0 ? u - half : u + half;
        worst = largest(worst, off < 0 ? -off : off);
    }
    int found = 0;
    real top = 0;
    for (int i = lane; i < p; i += WARP) {
        if (violates(at, i, half, below)) {
            if (curvature(it, j, shift, i, i) <= it.tiny) {
                at.gradient[i] = 0;  // Nothing supports a dead atom: it stays out.
            } else {
                real u = at.gradient[i] < 0 ? -at.gradient[i] : at.gradient[i];
                top = largest(top, u);
                found++;
            }
        }
    }
    top = warp_max(top);
    if (top > 0) worst = largest(worst, top - half);
    *gap = 2 * warp_max(worst);
    found = warp_sum(found);
    int limit = support > 16 ? support : 16;
    // Most of the violators of a cold start do not survive: the block stays small.
    if (support + 8 <= WIDTH && limit > WIDTH - support) limit = WIDTH - support;
    real low = 0, high = top;
    bool cut = found > limit;
    if (cut) {
        for (int step = 0; step < 48; step++) {
            real middle = low + (high - low) * (real)0.5;
            int above = 0;
            for (int i = lane; i < p; i += WARP) {
                real u = at.gradient[i] < 0 ? -at.gradient[i] : at.gradient[i];
                if (violates(at, i, half, below) && u > middle) above++;
            }
            above = warp_sum(above);
            if (above > limit) low = middle; else high = middle;
            if (above == limit || !(low < high)) break;
        }
    }
    // Equal gradients cannot be told apart: then the first of them are taken.
    for (int pass = 0; pass < 2; pass++) {
        real bar = !cut ? -1 : (pass == 0 ? high : low);
        int count = support;
        for (int first = 0; first < p; first += WARP) {
            int i = first + lane;
            bool enters = false;
            if (i < p && violates(at, i, half, below)) {
                real u = at.gradient[i] < 0 ? -at.gradient[i] : at.gradient[i];
                enters = u > bar;
            }
            u32 mask = __ballot_sync(ALL, enters);
            int place = count + __popc(mask & ((1u << lane) - 1));
            if (enters && place < support + limit) at.working[place] = (u16)i;
            count += __popc(mask);
        }
        __syncwarp();
        if (count > support + limit) count = support + limit;
        if (!cut || count > support || pass == 1) return count;
    }
    return support;
}

// Sweeps over a working set that fits a block; gradient and code of two coefficients in each lane.
__device__ void sweep_block(const Problem &it, const Place &at, i64 j, real shift, int size, real half,
                            real below, real still) {
    int lane = threadIdx.x;
    int k0 = lane < size ? at.working[lane] : 0, k1 = lane + WARP < size ? at.working[lane + WARP] : 0;
    for (int h = 0; h < size; h++) {
        int k = at.working[h];
        at.block[h * WIDTH + lane] = lane < size ? curvature(it, j, shift, k, k0) : 0;
        at.block[h * WIDTH + WARP + lane] = lane + WARP < size ? curvature(it, j, shift, k, k1) : 0;
    }
    real g0 = lane < size ? at.gradient[k0] : 0, g1 = lane + WARP < size ? at.gradient[k1] : 0;
    real a0 = lane < size ? at.code[k0] : 0, a1 = lane + WARP < size ? at.code[k1] : 0;
    __syncwarp();
    for (int sweep = 0; sweep < it.sweeps; sweep++) {
        real moved = 0;
        for (int h = 0; h < size; h++) {
            bool upper = h >= WARP;
            real g = __shfl_sync(ALL, upper ? g1 : g0, h % WARP);
            real old = __shfl_sync(ALL, upper ? a1 : a0, h % WARP);
            real curved = at.block[h * WIDTH + h];
            real next = curved > it.tiny ? soft(g + curved * old, half, below) / curved : 0;
            real step = next - old;
            if (step != 0) {
                g0 -= step * at.block[h * WIDTH + lane];
                g1 -= step * at.block[h * WIDTH + WARP + lane];
                if (lane == h % WARP) {
                    if (upper) a1 = next; else a0 = next;
                }
                moved = largest(moved, (step < 0 ? -step : step) * curved);
            }
        }
        if (2 * moved <= still) break;
    }
    if (lane < size) at.code[k0] = a0;
    if (lane + WARP < size) at.code[k1] = a1;
    __syncwarp();
}

// The same for a working set of any size, with rows of H from far away. Only its own entries of the gradient are kept
// up to date: the next round finds the others anew.
__device__ void sweep_wide(const Problem &it, const Place &at, i64 j, real shift, int size, real half,
                           real below, real still) {
    int lane = threadIdx.x;
    for (int sweep = 0; sweep < it.sweeps; sweep++) {
        real moved = 0;
        for (int h = 0; h < size; h++) {
            int k = at.working[h];
            real old = at.code[k], curved = curvature(it, j, shift, k, k);
            real next = curved > it.tiny ? soft(at.gradient[k] + curved * old, half, below) / curved : 0;
            real step = next - old;
            __syncwarp();
            if (step != 0) {
                for (int i = lane; i < size; i += WARP) {
                    int other = at.working[i];
                    at.gradient[other] -= step * curvature(it, j, shift, k, other);
                }
                if (lane == 0) at.code[k] = next;
                moved = largest(moved, (step < 0 ? -step : step) * curved);
            }
            __syncwarp();
        }
        if (2 * moved <= still) break;
    }
}

// Codes of the chosen samples (all from `first` on where the list is null), and the largest gap they
// started with, relative to the sparsity.
extern "C" __global__ void visit(Problem it, const u32 *chosen, i64 first, float *gaps) {
    extern __shared__ __align__(16) unsigned char memory[];
    int lane = threadIdx.x, p = it.p;
    i64 j = chosen ? (i64)chosen[blockIdx.x] : first + blockIdx.x;
    Place at;
    at.block = (real *)memory;
    at.gradient = at.block + WIDTH * WIDTH;
    at.code = at.gradient + p;
    at.working = (u16 *)(at.code + p);
    real *own = it.codes + j * p;
    for (int i = lane; i < p; i += WARP) at.code[i] = own[i];
    real shift = (it.shifts ? it.shifts[j] : 0) + (it.form ? it.beta * it.diagonal[j] : 0);
    real half = it.sparsity * (real)0.5;
    real below = it.nonnegative ? (real)3e38 : half;
    real at_start = 0;
    for (int round = 0; round < it.rounds; round++) {
        real top = right_hand_side(it, at, j);
        real scale = it.sparsity > 0 ? it.sparsity : largest(2 * top, it.tiny);
        int support = full_gradient(it, at, j, shift), size;
        real gap;
        size = choose(it, at, j, shift, support, half, below, &gap);
        gap = gap <= 16 * it.epsilon * top ? 0 : gap / scale;
        if (round == 0) at_start = gap;
        if (gap <= it.tolerance) break;
        real still = it.tolerance * scale * (real)0.25;
        if (size <= WIDTH) {
            sweep_block(it, at, j, shift, size, half, below, still);
        } else {
            sweep_wide(it, at, j, shift, size, half, below, still);
        }
        if (round + 1 == it.rounds || it.form) {
            if (it.form == 1) {
                for (i64 e = it.starts[j]; e < it.starts[j + 1]; e++) {
                    real *column = it.residuals + (i64)it.others[e] * p;
                    real weight = it.values[e];
                    for (int h = lane; h < size; h += WARP) {
                        int k = at.working[h];
                        column[k] += weight * (at.code[k] - own[k]);
                    }
                }
                __syncwarp();
            }
            if (it.form) {
                for (int h = lane; h < size; h += WARP) own[at.working[h]] = at.code[at.working[h]];
            }
        }
    }
    if (!it.form) {
        for (int i = lane; i < p; i += WARP) own[i] = at.code[i];
    }
    // Gaps are not negative: as integers they have the same order.
    if (lane == 0 && at_start > 0) atomicMax((int *)gaps, __float_as_int((float)at_start));
}
