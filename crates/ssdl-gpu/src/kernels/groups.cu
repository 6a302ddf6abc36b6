// Groups of samples that do not act on each other: no row of the factor has two of a group.
//
// All samples that come first in every row they are in choose their group at once, then the next ones. Two that choose
// in one round share no row, so the result does not depend on who is faster.

// The order of the samples: those in many rows first, the others as if by chance.
__device__ __forceinline__ u64 turn_of(const i64 *starts, u32 j) {
    u32 mixed = (j + 0x9e3779b9u) * 0x85ebca6bu;
    mixed ^= mixed >> 16;
    return ((u64)(starts[j + 1] - starts[j]) << 32) | mixed;
}

// The first of each row that has no group yet.
extern "C" __global__ void first_of_rows(i64 rows, const i64 *starts, const u32 *members, const i64 *own_starts,
                                         const u32 *group, u64 *first) {
    i64 m = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (m >= rows) return;
    u64 top = 0;
    for (i64 e = starts[m]; e < starts[m + 1]; e++) {
        u32 j = members[e];
        if (group[j] == ALL) {
            u64 turn = turn_of(own_starts, j) + 1;
            if (turn > top) top = turn;
        }
    }
    first[m] = top;
}

// Every sample that is the first of all its rows takes the smallest group that none of its partners has; the others are
// counted. A warp for each sample.
extern "C" __global__ void choose_groups(i64 count, const i64 *starts, const u32 *rows, const i64 *row_starts,
                                         const u32 *members, const u64 *first, u32 *group, u32 *left) {
    i64 j = (i64)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    int lane = threadIdx.x % WARP;
    if (j >= count || group[j] != ALL) return;
    u64 turn = turn_of(starts, (u32)j) + 1;
    bool beaten = false;
    for (i64 e = starts[j] + lane; e < starts[j + 1]; e += WARP) beaten |= first[rows[e]] != turn;
    if (__ballot_sync(ALL, beaten)) {
        if (lane == 0) atomicAdd(left, 1u);
        return;
    }
    for (u32 base = 0;; base += WARP) {
        u32 taken = 0;
        for (i64 e = starts[j]; e < starts[j + 1]; e++) {
            i64 m = rows[e];
            for (i64 f = row_starts[m] + lane; f < row_starts[m + 1]; f += WARP) {
                u32 theirs = group[members[f]];
                if (theirs >= base && theirs < base + WARP) taken |= 1u << (theirs - base);
            }
        }
        for (int step = 16; step > 0; step >>= 1) taken |= __shfl_xor_sync(ALL, taken, step);
        if (taken != ALL) {
            if (lane == 0) group[j] = base + __ffs(~taken) - 1;
            return;
        }
    }
}
