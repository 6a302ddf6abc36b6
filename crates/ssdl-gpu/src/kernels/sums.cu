// Sums over samples, and arrays changed entry by entry.

// kind 0: |a|, 1: a^2.
extern "C" __global__ void entry_sums(int kind, const real *a, i64 count, double *parts) {
    double sum = 0.0;
    for (i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x; i < count; i += (i64)gridDim.x * BLOCK) {
        double value = a[i];
        sum += kind ? value * value : (value < 0 ? -value : value);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

// The largest |a| of a block's share.
extern "C" __global__ void entry_tops(const real *a, i64 count, double *parts) {
    __shared__ real tops[BLOCK / WARP];
    real top = 0;
    for (i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x; i < count; i += (i64)gridDim.x * BLOCK) {
        top = largest(top, a[i] < 0 ? -a[i] : a[i]);
    }
    top = warp_max(top);
    if (threadIdx.x % WARP == 0) tops[threadIdx.x / WARP] = top;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int part = 1; part < BLOCK / WARP; part++) top = largest(top, tops[part]);
        parts[blockIdx.x] = top;
    }
}

extern "C" __global__ void add_to_doubles(double *sums, const real *part, i64 count) {
    i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) sums[i] += part[i];
}

// Continues the last change; coefficients that are new or would change sign stay.
extern "C" __global__ void extrapolate(real *codes, const real *previous, i64 count, real momentum) {
    i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count || previous[i] == 0) return;
    real a = codes[i], next = a + momentum * (a - previous[i]);
    if (next * a > 0) codes[i] = next;
}

// out_m = sum of values times columns, row by row of a sparse matrix; one warp for each.
extern "C" __global__ void combine(int p, i64 rows, const i64 *starts, const u32 *others, const real *values,
                                   const real *columns, real *out) {
    i64 m = (i64)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    if (m >= rows) return;
    for (int i = threadIdx.x % WARP; i < p; i += WARP) {
        real sum = 0;
        for (i64 e = starts[m]; e < starts[m + 1]; e++) sum += values[e] * columns[(i64)others[e] * p + i];
        out[m * p + i] = sum;
    }
}

// The energy of affinities: sum of a_j . (d_j a_j - sum of w a_i).
extern "C" __global__ void affinity_energy(int p, i64 rows, const i64 *starts, const u32 *others,
                                           const real *values, const real *diagonal, const real *codes,
                                           double *parts) {
    double sum = 0.0;
    i64 warps = (i64)gridDim.x * (BLOCK / WARP);
    for (i64 j = (i64)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP; j < rows; j += warps) {
        for (int i = threadIdx.x % WARP; i < p; i += WARP) {
            real own = codes[j * p + i], pull = diagonal[j] * own;
            for (i64 e = starts[j]; e < starts[j + 1]; e++) pull -= values[e] * codes[(i64)others[e] * p + i];
            sum += (double)own * pull;
        }
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

// Columns times a weight each.
extern "C" __global__ void weigh(int p, i64 columns, const real *a, const real *weight, i64 stride, real *out) {
    i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (i < columns * p) out[i] = a[i] * weight[i / p * stride];
}

extern "C" __global__ void gather(int p, i64 count, const u32 *chosen, const real *from, real *out) {
    i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (i < count * p) out[i] = from[(i64)chosen[i / p] * p + i % p];
}

// ‖x - y‖² of columns; one warp for each.
extern "C" __global__ void squared_differences(int n, i64 columns, const real *x, const real *y, double *out) {
    i64 j = (i64)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    if (j >= columns) return;
    double sum = 0.0;
    for (int i = threadIdx.x % WARP; i < n; i += WARP) {
        double off = (double)x[j * n + i] - (double)y[j * n + i];
        sum += off * off;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) out[j] = sum;
}

// Codes hold the mean of the anchors: it pulls on the right-hand side, and the search starts there, without what
// the penalty would remove anyway.
extern "C" __global__ void start_at_means(int p, i64 columns, const real *strengths, real threshold, real *codes,
                                          real *rhs) {
    i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= columns * p) return;
    real mean = codes[i];
    rhs[i] += strengths[i / p] * mean;
    if ((mean < 0 ? -mean : mean) <= threshold) codes[i] = 0;
}
