// What all kernels share. REAL is float or double; sums that feed an objective are doubles.
typedef REAL real;
typedef unsigned int u32;
typedef unsigned short u16;
typedef long long i64;
typedef unsigned long long u64;

#define ALL 0xffffffffu
#define WARP 32
#define BLOCK 256
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)

__device__ __forceinline__ real largest(real a, real b) { return a > b ? a : b; }

__device__ __forceinline__ real warp_max(real value) {
    for (int step = 16; step > 0; step >>= 1) value = largest(value, __shfl_xor_sync(ALL, value, step));
    return value;
}

// The same order of additions in every run.
template <class T> __device__ __forceinline__ T warp_sum(T value) {
    for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(ALL, value, step);
    return value;
}

// The sum over a block of BLOCK threads, valid in thread 0.
__device__ __forceinline__ double block_sum(double value) {
    __shared__ double parts[BLOCK / WARP];
    value = warp_sum(value);
    __syncthreads();
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = value;
    __syncthreads();
    double all = 0.0;
    if (threadIdx.x == 0) {
        for (int part = 0; part < BLOCK / WARP; part++) all += parts[part];
    }
    return all;
}
