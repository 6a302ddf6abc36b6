// Exact nearest neighbours: candidates by half-precision products, then measured in full.

// The sum of each feature, for the mean: one block for each feature would read with gaps, so a block takes
// some columns and all features; parts is n x blocks.
extern "C" __global__ void feature_sums(int n, i64 columns, const real *x, double *parts) {
    i64 share = (columns + gridDim.x - 1) / gridDim.x, first = share * blockIdx.x;
    i64 last = first + share < columns ? first + share : columns;
    for (int i = threadIdx.x; i < n; i += BLOCK) {
        double sum = 0.0;
        for (i64 j = first; j < last; j++) sum += x[j * n + i];
        parts[(i64)blockIdx.x * n + i] = sum;
    }
}

// In half precision; without the header, which comes only with a toolkit.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ u16 half_of(float value) {
    u16 half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}

__device__ __forceinline__ float of_half(u16 half) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
}
#endif

// (x - mean) * scale in half precision, padded to `stride` rows, and the squared length of what was stored
// before rounding.
extern "C" __global__ void halve(int n, int stride, i64 columns, const real *x, const double *mean, double scale,
                                 u16 *out, float *norms) {
    i64 j = (i64)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    if (j >= columns) return;
    double sum = 0.0;
    for (int i = threadIdx.x % WARP; i < stride; i += WARP) {
        double value = i < n ? ((double)x[j * n + i] - mean[i]) * scale : 0.0;
        out[j * stride + i] = half_of((float)value);
        sum += value * value;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) norms[j] = (float)sum;
}

// Four products from one place on.
__device__ __forceinline__ void four(const float *from, float *value) {
    const u64 *pairs = (const u64 *)from;
    for (int u = 0; u < 2; u++) {
        u64 pair = pairs[u];
        value[2 * u] = __int_as_float((int)(u32)pair);
        value[2 * u + 1] = __int_as_float((int)(u32)(pair >> 32));
    }
}

__device__ __forceinline__ void four(const u16 *from, float *value) {
    u64 all = *(const u64 *)from;
    for (int u = 0; u < 4; u++) value[u] = of_half((u16)(all >> (16 * u)));
}

// Offers the distances to `rows` references from `start` on to the lists of the queries. A list has
// WARP x SLOTS entries, sorted; one warp for each query, whose products lie one after the other.
template <int SLOTS, class PRODUCT>
__device__ void scan(i64 query, i64 self, i64 start, int rows, const PRODUCT *products, const float *norms,
                     float *distances, u32 *places) {
    int lane = threadIdx.x % WARP;
    float d[SLOTS];
    u32 id[SLOTS];
    for (int s = 0; s < SLOTS; s++) {
        d[s] = distances[(query * SLOTS + s) * WARP + lane];
        id[s] = places[(query * SLOTS + s) * WARP + lane];
    }
    float bar = __shfl_sync(ALL, d[SLOTS - 1], WARP - 1);
    for (int first = 0; first < rows; first += WARP * 4) {
        float value[4];
        int own = first + lane * 4;
        if (own < rows) four(products + own, value);
        for (int u = 0; u < 4; u++) {
            int r = own + u;
            value[u] = r < rows && start + r != self ? norms[start + r] - 2.0f * value[u] : INFINITY;
        }
        for (int u = 0; u < 4; u++) {
            u32 hits = __ballot_sync(ALL, value[u] < bar);
            while (hits) {
                int from = __ffs(hits) - 1;
                hits &= hits - 1;
                float offered = __shfl_sync(ALL, value[u], from);
                if (!(offered < bar)) continue;
                u32 place = (u32)(start + first + from * 4 + u);
                int position = 0;
                for (int s = 0; s < SLOTS; s++) position += __popc(__ballot_sync(ALL, d[s] <= offered));
                for (int s = SLOTS - 1; s >= 0; s--) {
                    float below = __shfl_up_sync(ALL, d[s], 1);
                    u32 below_id = __shfl_up_sync(ALL, id[s], 1);
                    if (s > 0) {
                        float carry = __shfl_sync(ALL, d[s > 0 ? s - 1 : 0], WARP - 1);
                        u32 carry_id = __shfl_sync(ALL, id[s > 0 ? s - 1 : 0], WARP - 1);
                        if (lane == 0) { below = carry; below_id = carry_id; }
                    }
                    int own = s * WARP + lane;
                    if (own > position) { d[s] = below; id[s] = below_id; }
                    else if (own == position) { d[s] = offered; id[s] = place; }
                }
                bar = __shfl_sync(ALL, d[SLOTS - 1], WARP - 1);
            }
        }
    }
    for (int s = 0; s < SLOTS; s++) {
        distances[(query * SLOTS + s) * WARP + lane] = d[s];
        places[(query * SLOTS + s) * WARP + lane] = id[s];
    }
}

// `same`: queries are references from `first` on, and do not find themselves. Products are `stride` x queries.
template <class PRODUCT>
__device__ void offer_some(int slots, int same, i64 first, i64 queries, i64 start, int rows, int stride,
                           const PRODUCT *products, const float *norms, float *distances, u32 *places) {
    i64 q = (i64)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    if (q >= queries) return;
    const PRODUCT *own = products + q * stride;
    i64 self = same ? first + q : -1;
    if (slots == 1) scan<1>(q, self, start, rows, own, norms, distances, places);
    else if (slots == 2) scan<2>(q, self, start, rows, own, norms, distances, places);
    else scan<4>(q, self, start, rows, own, norms, distances, places);
}

extern "C" __global__ void offer(int slots, int same, i64 first, i64 queries, i64 start, int rows, int stride,
                                 const float *products, const float *norms, float *distances, u32 *places) {
    offer_some(slots, same, first, queries, start, rows, stride, products, norms, distances, places);
}

extern "C" __global__ void offer_halves(int slots, int same, i64 first, i64 queries, i64 start, int rows, int stride,
                                        const u16 *products, const float *norms, float *distances, u32 *places) {
    offer_some(slots, same, first, queries, start, rows, stride, products, norms, distances, places);
}

extern "C" __global__ void clear_lists(i64 count, float *distances, u32 *places) {
    i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) { distances[i] = INFINITY; places[i] = ALL; }
}

// Measures the candidates of each query in full, keeps the k nearest (ties by index), and says whether rounding
// may have hidden a nearer one. The errors bound |approximate - true| of a scaled squared distance: by products, by
// sums, and of numbers too small for half precision, in samples and in products. `farthest` is the largest squared
// length of a reference, `unit` turns scaled into true distances, `limit` is what products may reach.
extern "C" __global__ void confirm(int n, int k, int slots, i64 queries, i64 count, const real *samples,
                                   const real *x, const float *query_norms, const float *distances,
                                   const u32 *places, double of_products, double of_sums, double of_small,
                                   double of_each, double limit, double farthest, double unit, u32 *lists,
                                   u32 *doubtful) {
    __shared__ double measured[BLOCK / WARP][WARP * 4];
    i64 q = (i64)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    if (q >= queries) return;
    int lane = threadIdx.x % WARP, size = slots * WARP;
    double *own = measured[threadIdx.x / WARP];
    const u32 *candidates = places + q * size;
    for (int c = 0; c < size; c++) {
        u32 place = candidates[c];
        double sum = INFINITY;
        if (place != ALL) {
            sum = 0.0;
            const real *y = samples + (i64)place * n, *mine = x + q * n;
            for (int i = lane; i < n; i += WARP) {
                double off = (double)mine[i] - (double)y[i];
                sum += off * off;
            }
            sum = warp_sum(sum);
        }
        if (lane == 0) own[c] = sum;
    }
    __syncwarp();
    double last = 0.0;
    for (int c = lane; c < size; c += WARP) {
        int rank = 0;
        for (int other = 0; other < size; other++) {
            bool nearer = own[other] < own[c] || (own[other] == own[c] && candidates[other] < candidates[c]);
            rank += nearer && other != c;
        }
        if (rank < k && candidates[c] != ALL) lists[q * k + rank] = candidates[c];
        if (rank == k - 1) last = own[c];
    }
    // Exactly one lane has the k-th distance.
    last = warp_sum(last);
    if (lane == 0) {
        double seen = distances[q * size + size - 1];
        double length = query_norms[q], bar = last / unit;
        // References far longer than the query and its k-th distance are too far for certain.
        double reach = sqrt(length) + sqrt(bar);
        double longest = farthest < reach * reach ? farthest : reach * reach;
        double error = of_products * sqrt(length * longest) + of_sums * (length + longest)
            + of_small * (sqrt(length) + sqrt(longest)) + of_each;
        // All samples were candidates where the list is not full.
        bool sure = candidates[size - 1] == ALL || bar < seen + length - error;
        doubtful[q] = !sure || !(length * farthest < limit * limit);
    }
}

// The k nearest of `count` entries, by all threads of a block: nearest first, ties by place. Entry j is at place
// `places[j]`, or `first + j` without places. What is not a number is never taken.
__device__ void nearest_of(int k, i64 count, const double *distances, const u32 *places, i64 first, double *found,
                           u32 *found_places) {
    __shared__ double best[BLOCK / WARP];
    __shared__ u32 place_of[BLOCK / WARP];
    __shared__ double last_distance;
    __shared__ u32 last_place;
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    if (threadIdx.x == 0) { last_distance = -1.0; last_place = 0; }
    __syncthreads();
    for (int rank = 0; rank < k; rank++) {
        double least = INFINITY;
        u32 place = ALL;
        for (i64 j = threadIdx.x; j < count; j += BLOCK) {
            double d = distances[j];
            u32 own = places ? places[j] : (u32)(first + j);
            bool later = d > last_distance || (d == last_distance && own > last_place);
            bool nearer = d < least || (d == least && own < place);
            if (later && nearer) { least = d; place = own; }
        }
        for (int step = 16; step > 0; step >>= 1) {
            double other = __shfl_xor_sync(ALL, least, step);
            u32 other_place = __shfl_xor_sync(ALL, place, step);
            if (other < least || (other == least && other_place < place)) {
                least = other;
                place = other_place;
            }
        }
        if (lane == 0) { best[warp] = least; place_of[warp] = place; }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < BLOCK / WARP; w++) {
                if (best[w] < least || (best[w] == least && place_of[w] < place)) {
                    least = best[w];
                    place = place_of[w];
                }
            }
            if (found) found[rank] = least;
            found_places[rank] = place;
            last_distance = least;
            last_place = place;
        }
        __syncthreads();
    }
}

// The k nearest of some queries by direct distances, each query among a share of the references: `parts` blocks for a
// query, each of which leaves k candidates.
extern "C" __global__ void direct(int n, int k, int same, i64 first, i64 count, int parts, const u32 *chosen,
                                  const real *samples, const real *x, double *buffer, double *found, u32 *places) {
    i64 at = blockIdx.x / parts, part = blockIdx.x % parts, q = chosen[at];
    i64 self = same ? first + q : -1, share = (count + parts - 1) / parts;
    i64 start = part * share < count ? part * share : count, end = start + share < count ? start + share : count;
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    double *distances = buffer + at * count;
    for (i64 j = start + warp; j < end; j += BLOCK / WARP) {
        double sum = 0.0;
        for (int i = lane; i < n; i += WARP) {
            double off = (double)x[q * n + i] - (double)samples[j * n + i];
            sum += off * off;
        }
        sum = warp_sum(sum);
        if (lane == 0) distances[j] = j == self ? NAN : sum;
    }
    __syncthreads();
    i64 own = (i64)blockIdx.x * k;
    nearest_of(k, end - start, distances + start, 0, start, found + own, places + own);
}

// The k nearest among the candidates of all parts.
extern "C" __global__ void nearest_of_parts(int k, int parts, const u32 *chosen, const double *found, const u32 *places,
                                            u32 *lists) {
    i64 own = (i64)blockIdx.x * parts * k;
    nearest_of(k, (i64)parts * k, found + own, places + own, 0, 0, lists + (i64)chosen[blockIdx.x] * k);
}

// Weights that mix each query from its neighbours: one warp for each. Shared memory: a strip of the
// differences (k x STRIP), the Gram matrix and its factor (k x k each), the solution (k).
#define STRIP 32
extern "C" __global__ void mixtures(int n, int k, i64 queries, const real *samples, const real *x, const u32 *lists,
                                    real epsilon, real tiny, real regularisation, real *out) {
    extern __shared__ __align__(16) unsigned char memory[];
    i64 q = blockIdx.x;
    int lane = threadIdx.x;
    real *strip = (real *)memory, *gram = strip + k * (STRIP + 1), *factor = gram + k * k, *mix = factor + k * k;
    const u32 *list = lists + q * k;
    int pairs = k * (k + 1) / 2;
    for (int e = lane; e < pairs; e += WARP) factor[e] = 0;
    for (int first = 0; first < n; first += STRIP) {
        __syncwarp();
        int i = first + lane;
        real own = i < n ? x[q * n + i] : 0;
        for (int a = 0; a < k; a++) {
            strip[a * (STRIP + 1) + lane] = i < n ? own - samples[(i64)list[a] * n + i] : 0;
        }
        __syncwarp();
        for (int e = lane; e < pairs; e += WARP) {
            int a = (int)((sqrtf(8.0f * e + 1.0f) - 1.0f) * 0.5f);
            while ((a + 1) * (a + 2) / 2 <= e) a++;
            while (a * (a + 1) / 2 > e) a--;
            int b = e - a * (a + 1) / 2;
            const real *za = strip + a * (STRIP + 1), *zb = strip + b * (STRIP + 1);
            real sum = 0;
            for (int f = 0; f < STRIP; f++) sum += za[f] * zb[f];
            factor[e] += sum;
        }
    }
    __syncwarp();
    for (int e = lane; e < k * k; e += WARP) {
        int a = e / k, b = e % k;
        int high = a > b ? a : b, low = a > b ? b : a;
        gram[e] = factor[high * (high + 1) / 2 + low];
    }
    __syncwarp();
    if (lane == 0) {
        real even = (real)1 / k, trace = 0, top = 0;
        for (int a = 0; a < k; a++) {
            trace += gram[a * k + a];
            top = largest(top, gram[a * k + a]);
        }
        bool done = false;
        if (trace > tiny && isfinite(trace)) {
            for (int attempt = n < k ? 1 : 0; attempt < 2 && !done; attempt++) {
                real added = attempt ? regularisation * trace : 0, floor = k * epsilon * (top + added);
                bool sound = true;
                for (int a = 0; a < k && sound; a++) {
                    for (int b = 0; b <= a && sound; b++) {
                        real sum = gram[a * k + b] + (a == b ? added : 0);
                        for (int c = 0; c < b; c++) sum -= factor[a * k + c] * factor[b * k + c];
                        if (a == b) {
                            sound = sum > floor;
                            factor[a * k + a] = sound ? sqrt(sum) : 0;
                        } else {
                            factor[a * k + b] = sum / factor[b * k + b];
                        }
                    }
                }
                if (!sound) continue;
                for (int a = 0; a < k; a++) {
                    real sum = 1;
                    for (int b = 0; b < a; b++) sum -= factor[a * k + b] * mix[b];
                    mix[a] = sum / factor[a * k + a];
                }
                for (int a = k - 1; a >= 0; a--) {
                    real sum = mix[a];
                    for (int b = a + 1; b < k; b++) sum -= factor[b * k + a] * mix[b];
                    mix[a] = sum / factor[a * k + a];
                }
                real sum = 0, size = 0;
                for (int a = 0; a < k; a++) {
                    sum += mix[a];
                    size += mix[a] < 0 ? -mix[a] : mix[a];
                }
                if (isfinite(sum) && (sum < 0 ? -sum : sum) > epsilon * size) {
                    for (int a = 0; a < k; a++) mix[a] /= sum;
                    done = true;
                }
            }
        }
        if (!done) {
            for (int a = 0; a < k; a++) mix[a] = even;
        }
    }
    __syncwarp();
    for (int a = lane; a < k; a += WARP) out[q * k + a] = mix[a];
}
