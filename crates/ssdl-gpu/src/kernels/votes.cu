// Class memberships, active points and losses; one thread for each sample.

struct Voters {
    int n_classes;
    i64 count;
    const int *labels;      // class, or -1
    const real *weights;    // u_j
    double sharpness;
};

__device__ __forceinline__ double squared_hinge(double s) {
    double m = 1.0 - s;
    return m > 0.0 ? m * m : 0.0;
}

__device__ __forceinline__ int best_of(const real *scores, int n_classes) {
    int top = 0;
    for (int c = 1; c < n_classes; c++) {
        if (scores[c] > scores[top]) top = c;
    }
    return top;
}

// The error of each class: (1 - s_k)+^2 + sum over the others of (1 + s_c)+^2.
struct Errors {
    double all, others_of_top, least;
    int top, best;
};

__device__ __forceinline__ double error_of(const Errors &it, const real *scores, int k) {
    double minus = squared_hinge(-(double)scores[k]);
    double others = k == it.top ? it.others_of_top : (it.all > minus ? it.all - minus : 0.0);
    return others + squared_hinge(scores[k]);
}

__device__ Errors errors_of(const real *scores, int n_classes) {
    Errors it;
    it.top = best_of(scores, n_classes);
    it.all = it.others_of_top = 0.0;
    for (int c = 0; c < n_classes; c++) {
        double minus = squared_hinge(-(double)scores[c]);
        it.all += minus;
        if (c != it.top) it.others_of_top += minus;
    }
    it.best = 0;
    it.least = error_of(it, scores, 0);
    for (int c = 1; c < n_classes; c++) {
        double error = error_of(it, scores, c);
        if (error < it.least) { it.least = error; it.best = c; }
    }
    return it;
}

// Writes the memberships of one sample.
__device__ void vote(const real *scores, int n_classes, double sharpness, real *p) {
    Errors it = errors_of(scores, n_classes);
    if (sharpness <= 1.0 || it.least <= 0.0 || !isfinite(it.least)) {
        for (int c = 0; c < n_classes; c++) p[c] = c == it.best;
        return;
    }
    double power = 1.0 / (sharpness - 1.0), sum = 0.0;
    for (int c = 0; c < n_classes; c++) sum += pow(it.least / error_of(it, scores, c), power);
    for (int c = 0; c < n_classes; c++) p[c] = (real)(pow(it.least / error_of(it, scores, c), power) / sum);
}

extern "C" __global__ void memberships(Voters it, const real *scores, real *votes) {
    i64 j = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (j >= it.count) return;
    real *own = votes + j * it.n_classes;
    if (it.labels[j] < 0) {
        vote(scores + j * it.n_classes, it.n_classes, it.sharpness, own);
    } else {
        for (int c = 0; c < it.n_classes; c++) own[c] = c == it.labels[j];
    }
}

__device__ __forceinline__ double scaled_sum(const real *p, const double *factors, int n_classes) {
    double sum = 0.0;
    for (int c = 0; c < n_classes; c++) sum += (double)p[c] * factors[c];
    return sum;
}

// Lanes that share a sample: as many as there are rows, to the next power of two and at most a warp.
__device__ __forceinline__ int width_of(int rows) {
    int width = 1;
    while (width < rows && width < WARP) width *= 2;
    return width;
}

// Leaves the sums of the rows from `first` on, of which each lane has one over the samples of its segment.
__device__ void leave_rows(double sum, int width, int first, int rows, double *parts) {
    __shared__ double of_warp[BLOCK / WARP][WARP];
    for (int step = width; step < WARP; step *= 2) sum += __shfl_xor_sync(ALL, sum, step);
    __syncthreads();
    of_warp[threadIdx.x / WARP][threadIdx.x % WARP] = sum;
    __syncthreads();
    int own = first + threadIdx.x;
    if ((int)threadIdx.x >= width || own >= rows) return;
    double all = 0.0;
    for (int warp = 0; warp < BLOCK / WARP; warp++) all += of_warp[warp][threadIdx.x];
    parts[(i64)blockIdx.x * rows + own] = all;
}

// Weight of all unlabelled votes for each class, once these are scaled: parts is C x blocks.
extern "C" __global__ void class_shares(Voters it, const real *votes, const double *factors, double *parts) {
    int width = width_of(it.n_classes), lane = threadIdx.x % width, at_once = BLOCK / width;
    for (int first = 0; first < it.n_classes; first += width) {
        double sum = 0.0;
        int c = first + lane;
        for (i64 from = (i64)blockIdx.x * at_once; from < it.count; from += (i64)gridDim.x * at_once) {
            i64 j = from + threadIdx.x / width;
            bool votes_here = j < it.count && it.labels[j] < 0;
            const real *p = votes + j * it.n_classes;
            double own = 0.0, all = 0.0;
            for (int k = lane; votes_here && k < it.n_classes; k += width) {
                double scaled = (double)p[k] * factors[k];
                all += scaled;
                if (k == c) own = scaled;
            }
            for (int step = width / 2; step > 0; step /= 2) all += __shfl_xor_sync(ALL, all, step);
            if (!votes_here || c >= it.n_classes) continue;
            bool sound = all > 0.0 && isfinite(all);
            sum += (double)it.weights[j] * (sound ? own / all : (double)p[c]);
        }
        leave_rows(sum, width, first, it.n_classes, parts);
    }
}

// u_j P^r and its sum over the classes, from memberships scaled by factors (if any).
extern "C" __global__ void shares(Voters it, const real *votes, const double *factors, real *of_class, real *total) {
    i64 j = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (j >= it.count) return;
    const real *p = votes + j * it.n_classes;
    real *out = of_class + j * it.n_classes;
    real weight = it.weights[j];
    if (it.labels[j] >= 0) {
        for (int c = 0; c < it.n_classes; c++) out[c] = c == it.labels[j] ? weight : 0;
        total[j] = weight;
        return;
    }
    double all = factors ? scaled_sum(p, factors, it.n_classes) : 1.0, sum = 0.0;
    bool sound = factors && all > 0.0 && isfinite(all);
    for (int c = 0; c < it.n_classes; c++) {
        double power = pow(sound ? p[c] * factors[c] / all : (double)p[c], it.sharpness);
        sum += power;
        out[c] = weight * (real)power;
    }
    total[j] = weight * (real)sum;
}

// Target and weight of the quadratic, and its constant. kind 0: majorised, 1: frozen.
extern "C" __global__ void activate(int kind, int n_classes, i64 count, const real *scores, const real *of_class,
                                    const real *total, real *target, real *weight, double *parts) {
    double constant = 0.0;
    for (i64 j = (i64)blockIdx.x * BLOCK + threadIdx.x; j < count; j += (i64)gridDim.x * BLOCK) {
        for (int c = 0; c < n_classes; c++) {
            i64 at = j * n_classes + c;
            real s = scores[at], share = of_class[at], rest = total[j] - share;
            rest = rest > 0 ? rest : 0;
            if (kind == 0) {
                real high = s > 1 ? s : 1, low = s < -1 ? s : -1;
                target[at] = share * high + rest * low;
                constant += (double)(share * high * high + rest * low * low);
            } else {
                real plus = s < 1 ? share : 0, minus = s > -1 ? rest : 0;
                weight[at] = plus + minus;
                target[at] = plus - minus;
                constant += (double)(plus + minus);
            }
        }
    }
    constant = block_sum(constant);
    if (threadIdx.x == 0) parts[blockIdx.x] = constant;
}

// The true loss.
extern "C" __global__ void losses(int n_classes, i64 count, const real *scores, const real *of_class,
                                  const real *total, double *parts) {
    double sum = 0.0;
    for (i64 j = (i64)blockIdx.x * BLOCK + threadIdx.x; j < count; j += (i64)gridDim.x * BLOCK) {
        for (int c = 0; c < n_classes; c++) {
            i64 at = j * n_classes + c;
            real share = of_class[at], rest = total[j] - share;
            rest = rest > 0 ? rest : 0;
            sum += (double)share * squared_hinge(scores[at]) + (double)rest * squared_hinge(-(double)scores[at]);
        }
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

// Omega s^2 - 2 G s; omega per class (if given) or one for all.
extern "C" __global__ void quadratics(int n_classes, i64 count, const real *scores, const real *target,
                                      const real *per_class, const real *shared, double *parts) {
    double sum = 0.0;
    for (i64 j = (i64)blockIdx.x * BLOCK + threadIdx.x; j < count; j += (i64)gridDim.x * BLOCK) {
        for (int c = 0; c < n_classes; c++) {
            i64 at = j * n_classes + c;
            double s = scores[at], omega = per_class ? per_class[at] : shared[j];
            sum += omega * s * s - 2.0 * (double)target[at] * s;
        }
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

// G - omega b: what the classes add to the right-hand side, before W.
extern "C" __global__ void offsets(int n_classes, i64 count, const real *target, const real *per_class,
                                   const real *shared, const real *bias, real *out) {
    i64 at = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (at >= count * n_classes) return;
    real omega = per_class ? per_class[at] : shared[at / n_classes];
    out[at] = target[at] - omega * bias[at % n_classes];
}

extern "C" __global__ void fill_rows(int rows, i64 columns, const real *values, real *out) {
    i64 at = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (at < columns * rows) out[at] = values[at % rows];
}

// Row sums: parts is rows x blocks.
extern "C" __global__ void row_sums(int rows, i64 columns, const real *a, double *parts) {
    int width = width_of(rows), at_once = BLOCK / width;
    for (int first = 0; first < rows; first += width) {
        double sum = 0.0;
        int c = first + threadIdx.x % width;
        i64 own = (i64)blockIdx.x * at_once + threadIdx.x / width;
        for (i64 j = own; c < rows && j < columns; j += (i64)gridDim.x * at_once) sum += a[j * rows + c];
        leave_rows(sum, width, first, rows, parts);
    }
}

// The class of the highest score; counts unlabelled samples whose class is new.
extern "C" __global__ void flips(int n_classes, i64 count, const real *scores, const int *labels, int *classes,
                                 double *parts) {
    double sum = 0.0;
    for (i64 j = (i64)blockIdx.x * BLOCK + threadIdx.x; j < count; j += (i64)gridDim.x * BLOCK) {
        int now = best_of(scores + j * n_classes, n_classes);
        if (labels[j] < 0 && now != classes[j]) sum += 1.0;
        classes[j] = now;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}
