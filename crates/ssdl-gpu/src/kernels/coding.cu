// One sample's code: coordinate descent on a small working set, one warp for each sample.
//
//   min_a  a'Ha - 2r'a + sparsity |a|_1,   H = G + shift I + W diag(omega) W'
//
// The steps are those of the processor's solver: full gradient, support and worst violators, a small
// dense block of H, sweeps there. Samples of one launch do not act on each other.

// A block of K times 32 coefficients, K to a lane; its rows lie STRIDE apart, so that a column can be read without two
// lanes at one bank. The smaller the blocks, the more of them fit into the fast memory at once, so samples begin with a
// small one, and few need a wide one.
#define STRIDE(K) (K * WARP + 1)
// Coefficients that a sample may start with; the rest of the block is for those that enter.
#define START(K) (K * WARP * 5 / 8)
// Sweeps before the support is solved for directly.
#define DIRECT_AFTER 10

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
    int nonnegative, direct, rounds, sweeps;
    real tolerance, epsilon, tiny;
};

// Where a warp keeps its sample.
struct Place {
    real *gradient;  // p
    real *code;      // p
    real *block;     // as many rows as a block has, STRIDE apart
    u16 *working;    // p
    u16 *support;    // positions of a block
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
__device__ int choose(const Problem &it, const Place &at, i64 j, real shift, int width, int support, real half,
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
    if (support + 8 <= width && limit > width - support) limit = width - support;
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

// Keeps the largest coefficients of a start that would leave no room in a block: what is missing enters again.
__device__ void trim(const Place &at, int p, int most) {
    int lane = threadIdx.x, count = 0;
    real top = 0;
    for (int i = lane; i < p; i += WARP) {
        real size = at.code[i] < 0 ? -at.code[i] : at.code[i];
        top = largest(top, size);
        count += size > 0;
    }
    if (warp_sum(count) <= most) return;
    real low = 0, high = warp_max(top);
    for (int step = 0; step < 24; step++) {
        real middle = low + (high - low) * (real)0.5;
        int above = 0;
        for (int i = lane; i < p; i += WARP) above += (at.code[i] < 0 ? -at.code[i] : at.code[i]) > middle;
        above = warp_sum(above);
        if (above > most) low = middle; else high = middle;
        if (above == most || !(low < high)) break;
    }
    for (int i = lane; i < p; i += WARP) {
        if ((at.code[i] < 0 ? -at.code[i] : at.code[i]) <= high) at.code[i] = 0;
    }
    __syncwarp();
}

// The lane's number in slot s; registers have no index.
template <int K> __device__ __forceinline__ real slot(const real *of, int s) {
    real value = of[0];
#pragma unroll
    for (int q = 1; q < K; q++) value = s == q ? of[q] : value;
    return value;
}

// The number at a position of the block.
template <int K> __device__ __forceinline__ real at_position(const real *of, int h) {
    return __shfl_sync(ALL, slot<K>(of, h / WARP), h % WARP);
}

// Elimination in the upper triangle of a block, for the positions of the support: `steps` are the right-hand sides, and
// the solution at the end; positions that depend on earlier ones get none. The lower triangle and the diagonal stay, and
// the upper is their mirror image again at the end.
template <int K>
__device__ void solve(const Place &at, int size, int count, real least, real *steps) {
    int lane = threadIdx.x;
    real pivots[K];
#pragma unroll
    for (int s = 0; s < K; s++) {
        int own = s * WARP + lane;
        pivots[s] = own < size ? at.block[own * (STRIDE(K) + 1)] : 0;
    }
    for (int x = 0; x < count; x++) {
        int j = at.support[x];
        real pivot = at_position<K>(pivots, j);
        if (!(pivot > least)) {
            __syncwarp();
            if (lane == 0) at.support[x] = (u16)ALL;
            __syncwarp();
            continue;
        }
        real inverse = 1 / pivot, side = at_position<K>(steps, j) * inverse, row[K];
#pragma unroll
        for (int s = 0; s < K; s++) {
            int own = s * WARP + lane;
            row[s] = own > j && own < size ? at.block[j * STRIDE(K) + own] : 0;
            steps[s] -= row[s] * side;
            pivots[s] -= row[s] * row[s] * inverse;
        }
        for (int y = x + 1; y < count; y++) {
            int i = at.support[y];
            real factor = at_position<K>(row, i) * inverse;
#pragma unroll
            for (int s = 0; s < K; s++) {
                int own = s * WARP + lane;
                if (own > i && own < size) at.block[i * STRIDE(K) + own] -= factor * row[s];
            }
        }
        __syncwarp();
    }
    for (int x = count - 1; x >= 0; x--) {
        int j = at.support[x];
        if (j == (u16)ALL) continue;
        real found = at_position<K>(steps, j) / at_position<K>(pivots, j);
#pragma unroll
        for (int s = 0; s < K; s++) {
            int own = s * WARP + lane;
            if (own < j) steps[s] -= at.block[own * STRIDE(K) + j] * found;
            if (own == j) steps[s] = found;
        }
    }
    __syncwarp();
    for (int h = 0; h < size; h++) {
#pragma unroll
        for (int s = 0; s < K; s++) {
            int own = s * WARP + lane;
            if (own > h && own < size) at.block[h * STRIDE(K) + own] = at.block[own * STRIDE(K) + h];
        }
    }
    __syncwarp();
}

// Moves the support to its minimiser for the signs it has, or as far towards it as the signs hold: among atoms that
// resemble each other sweeps crawl. What depends on other atoms stays where it is.
template <int K>
__device__ void jump(const Problem &it, const Place &at, int size, real half, real *g, real *a) {
    int lane = threadIdx.x, count = 0;
    real top = 0, steps[K];
    __syncwarp();
#pragma unroll
    for (int s = 0; s < K; s++) {
        int own = s * WARP + lane;
        bool used = a[s] != 0;
        u32 mask = __ballot_sync(ALL, used);
        if (used) {
            at.support[count + __popc(mask & ((1u << lane) - 1))] = (u16)own;
            top = largest(top, at.block[own * (STRIDE(K) + 1)]);
        }
        count += __popc(mask);
        steps[s] = g[s] - (a[s] > 0 ? half : -half);
    }
    __syncwarp();
    solve<K>(at, size, count, warp_max(top) * 256 * it.epsilon, steps);
    // Only what is left of the support moves.
    real moves[K], reach = 1;
#pragma unroll
    for (int s = 0; s < K; s++) moves[s] = 0;
    for (int x = 0; x < count; x++) {
        int j = at.support[x];
#pragma unroll
        for (int s = 0; s < K; s++) {
            if (j == s * WARP + lane) moves[s] = steps[s];
        }
    }
#pragma unroll
    for (int s = 0; s < K; s++) {
        real r = moves[s] * a[s] < 0 ? -a[s] / moves[s] : 1;
        reach = r < reach ? r : reach;
    }
    reach = -warp_max(-reach);
    if (!(reach >= 0)) return;
#pragma unroll
    for (int s = 0; s < K; s++) {
        // The first coefficient that reaches zero, and any that rounding takes beyond it.
        real next = a[s] + reach * moves[s];
        bool ends = reach < 1 && moves[s] * a[s] < 0 && -a[s] / moves[s] == reach;
        if (ends || next * a[s] <= 0) next = 0;
        moves[s] = next - a[s];
        a[s] = next;
    }
    for (int x = 0; x < count; x++) {
        int j = at.support[x];
        if (j == (u16)ALL) continue;
        real step = at_position<K>(moves, j);
#pragma unroll
        for (int s = 0; s < K; s++) {
            int own = s * WARP + lane;
            if (own < size) g[s] -= step * at.block[j * STRIDE(K) + own];
        }
    }
    __syncwarp();
}

// Sweeps over a working set that fits a block; gradient and code of K coefficients in each lane.
template <int K>
__device__ void sweep_block(const Problem &it, const Place &at, i64 j, real shift, int size, real half,
                            real below, real still) {
    int lane = threadIdx.x;
    real g[K], a[K], curved[K], inverse[K];
#pragma unroll
    for (int s = 0; s < K; s++) {
        int own = s * WARP + lane, k = own < size ? at.working[own] : 0;
        for (int h = 0; h < size; h++) {
            at.block[h * STRIDE(K) + own] = own < size ? curvature(it, j, shift, at.working[h], k) : 0;
        }
        g[s] = own < size ? at.gradient[k] : 0;
        a[s] = own < size ? at.code[k] : 0;
    }
    __syncwarp();
#pragma unroll
    for (int s = 0; s < K; s++) {
        int own = s * WARP + lane;
        curved[s] = own < size ? at.block[own * (STRIDE(K) + 1)] : 0;
        inverse[s] = curved[s] > it.tiny ? 1 / curved[s] : 0;
    }
    for (int sweep = 0; sweep < it.sweeps; sweep++) {
        real moved = 0;
#pragma unroll
        for (int s = 0; s < K; s++) {
            int count = size - s * WARP < WARP ? size - s * WARP : WARP;
            const real *row = at.block + s * WARP * STRIDE(K) + lane;
            // Every lane knows where its own coefficient would go; the one whose turn it is tells the others.
            for (int t = 0; t < count; t++, row += STRIDE(K)) {
                real next = soft(g[s] + curved[s] * a[s], half, below) * inverse[s], own = next - a[s];
                real step = __shfl_sync(ALL, own, t);
#pragma unroll
                for (int q = 0; q < K; q++) g[q] -= step * row[q * WARP];
                if (lane == t) {
                    a[s] = next;
                    moved = largest(moved, (own < 0 ? -own : own) * curved[s]);
                }
            }
        }
        if (2 * warp_max(moved) <= still) break;
        if (it.direct && sweep % DIRECT_AFTER == DIRECT_AFTER - 1) jump<K>(it, at, size, half, g, a);
    }
#pragma unroll
    for (int s = 0; s < K; s++) {
        int own = s * WARP + lane;
        if (own < size) at.code[at.working[own]] = a[s];
    }
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

// One sample's code. One that needs a wider block is left to the next launch: `left` has their number, then their
// places; the last launch has no such list.
template <int K>
__device__ void visit_one(const Problem &it, i64 j, u32 *left, float *gaps) {
    extern __shared__ __align__(16) unsigned char scratch[];
    int lane = threadIdx.x, p = it.p;
    Place at;
    at.block = (real *)scratch;
    at.gradient = at.block + K * WARP * STRIDE(K);
    at.code = at.gradient + p;
    at.support = (u16 *)(at.code + p);
    at.working = at.support + K * WARP;
    real *own = it.codes + j * p;
    for (int i = lane; i < p; i += WARP) at.code[i] = own[i];
    __syncwarp();
    if (!it.form && left) trim(at, p, START(K));
    real shift = (it.shifts ? it.shifts[j] : 0) + (it.form ? it.beta * it.diagonal[j] : 0);
    real half = it.sparsity * (real)0.5;
    real below = it.nonnegative ? (real)3e38 : half;
    real at_start = 0;
    for (int round = 0; round < it.rounds; round++) {
        real top = right_hand_side(it, at, j);
        real scale = it.sparsity > 0 ? it.sparsity : largest(2 * top, it.tiny);
        int support = full_gradient(it, at, j, shift), size;
        real gap;
        size = choose(it, at, j, shift, K * WARP, support, half, below, &gap);
        gap = gap <= 16 * it.epsilon * top ? 0 : gap / scale;
        if (round == 0) at_start = gap;
        if (gap <= it.tolerance) break;
        if (left && size > K * WARP) {
            if (lane == 0) left[1 + atomicAdd(left, 1u)] = (u32)j;
            break;
        }
        real still = it.tolerance * scale * (real)0.25;
        if (size <= K * WARP) {
            sweep_block<K>(it, at, j, shift, size, half, below, still);
        } else {
            sweep_wide(it, at, j, shift, size, half, below, still);
        }
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
    if (!it.form) {
        for (int i = lane; i < p; i += WARP) own[i] = at.code[i];
    }
    // Gaps are not negative: as integers they have the same order.
    if (lane == 0 && at_start > 0) atomicMax((int *)gaps, __float_as_int((float)at_start));
}

// Codes of samples, and the largest gap they started with, relative to the sparsity: of all or the chosen ones, a block
// for each, or of those that a launch with smaller blocks has left.
template <int K>
__device__ __forceinline__ void visit_some(const Problem &it, const u32 *chosen, const u32 *from, u32 *left, float *gaps) {
    if (from) {
        for (u32 at = blockIdx.x; at < from[0]; at += gridDim.x) visit_one<K>(it, from[1 + at], left, gaps);
    } else {
        visit_one<K>(it, chosen ? (i64)chosen[blockIdx.x] : (i64)blockIdx.x, left, gaps);
    }
}

extern "C" __global__ void visit_1(Problem it, const u32 *chosen, const u32 *from, u32 *left, float *gaps) {
    visit_some<1>(it, chosen, from, left, gaps);
}

extern "C" __global__ void visit_2(Problem it, const u32 *chosen, const u32 *from, u32 *left, float *gaps) {
    visit_some<2>(it, chosen, from, left, gaps);
}

extern "C" __global__ void visit_4(Problem it, const u32 *chosen, const u32 *from, u32 *left, float *gaps) {
    visit_some<4>(it, chosen, from, left, gaps);
}
