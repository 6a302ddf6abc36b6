// What a kernel finds on a card, found on the processor: it comes before the kernels' own source.
//
// A lane is a fiber that runs until it meets others: at a shuffle, a vote or a barrier. Lanes of a warp take turns in
// ascending or in descending order, so that what only works because lanes happen to run side by side shows as other
// numbers. Blocks are shared by the threads of the processor, in no fixed order.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cmath>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "half.h"

#undef INFINITY
#undef NAN
#define __device__
#define __global__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __shared__ static thread_local

namespace software {

struct Index { unsigned x, y, z; };

constexpr int LANES = 32;
constexpr size_t STACK = 128 << 10;

struct Warp {
    int alive = 0, arrived = 0;
    unsigned turn = 0;
    unsigned long long given[2][LANES];  // in turns: who is ahead overwrites nothing
    unsigned given_in[2][LANES];         // the turn, so that who has gone on and ended still counts
    bool is_alive[LANES];
};

struct Fiber {
    void *at[5];  // where it goes on; the compiler's own jumps are a fifth of the library's
    Index index;
    int number, lane;
    bool is_born, is_done;
    Warp *warp;
    char *stack;
};

// One block at a time, on one thread of the processor.
struct Block {
    std::vector<Fiber> fibers;
    std::vector<Warp> warps;
    std::vector<unsigned char> fast;  // shared memory that a launch asks for
    Index place, size, grid;
    int alive, arrived, ended;
    unsigned turn;
    Fiber *own;
    void *end[5];
    void (*kernel)(void **);
    void **arguments;
    int step;  // 1 or -1: the order of lanes
};

// Asked for at every step, so it lies where the thread finds it without a call.
static thread_local Block *the_block = nullptr;

inline Block *&block() { return the_block; }

[[noreturn]] inline void stop(const char *why) {
    fprintf(stderr, "software card: %s\n", why);
    abort();
}

// In a function of its own, as the compiler wants it.
[[noreturn]] __attribute__((noinline)) inline void jump(void **at) { __builtin_longjmp(at, 1); }

// The life of a lane: one kernel after the other.
__attribute__((noinline)) inline void live() {
    for (;;) {
        Block *it = block();
        it->kernel(it->arguments);
        Fiber *own = it->own;
        own->warp->is_alive[own->lane] = false;
        own->warp->alive--;
        own->is_done = true;
        it->alive--;
        if (own->warp->arrived > 0 || it->arrived > 0) stop("a lane ended while others wait for it");
        if (__builtin_setjmp(own->at) == 0) jump(it->end);
    }
}

[[noreturn]] __attribute__((noinline)) inline void enter(Fiber *next) {
    block()->own = next;
    if (next->is_born) jump(next->at);
    next->is_born = true;
    ucontext_t first;
    getcontext(&first);
    first.uc_stack.ss_sp = next->stack;
    first.uc_stack.ss_size = STACK;
    first.uc_link = nullptr;
    makecontext(&first, live, 0);
    setcontext(&first);
    stop("a lane could not begin");
}

__attribute__((noinline)) inline void go_to(Fiber *next) {
    Fiber *own = block()->own;
    if (next != own && __builtin_setjmp(own->at) == 0) enter(next);
}

// Waits for all lanes of the warp that have not ended.
inline void meet() {
    Block *it = block();
    Fiber *own = it->own;
    Warp &warp = *own->warp;
    unsigned turn = warp.turn;
    if (++warp.arrived == warp.alive) {
        warp.arrived = 0;
        warp.turn++;
        return;
    }
    while (warp.turn == turn) {
        int lane = own->lane;
        do lane = (lane + LANES + it->step) % LANES; while (!warp.is_alive[lane]);
        go_to(&it->fibers[own->number - own->lane + lane]);
    }
}

// What the lanes of a warp gave at a meeting.
struct Gifts {
    const Warp &warp;
    unsigned turn;

    bool has(int lane) const { return warp.given_in[turn & 1][lane] == turn; }
    const unsigned long long &of(int lane) const { return warp.given[turn & 1][lane]; }
};

template <class T> Gifts give(T value) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "a number");
    Fiber *own = block()->own;
    Warp &warp = *own->warp;
    unsigned turn = warp.turn;
    memcpy(&warp.given[turn & 1][own->lane], &value, sizeof value);
    warp.given_in[turn & 1][own->lane] = turn;
    meet();
    return {warp, turn};
}

template <class T> T exchanged(T value, int from) {
    Gifts gifts = give(value);
    if (!gifts.has(from)) stop("a lane that has ended was asked for a number");
    T found;
    memcpy(&found, &gifts.of(from), sizeof found);
    return found;
}

inline void all_lanes(unsigned mask) {
    if (mask != 0xffffffffu) stop("only whole warps meet here");
}

// The kernel of a module by name, as the driver launches it.
struct Named { const char *name; void (*call)(void **); };

template <class... A, size_t... I>
void call(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
    kernel(*(typename std::remove_reference<A>::type *)arguments[I]...);
}

template <class... A> void call(void (*kernel)(A...), void **arguments) {
    call(kernel, arguments, std::index_sequence_for<A...>());
}

__attribute__((noinline)) inline void run_block(Block &it, unsigned place) {
    it.place = {place, 0, 0};
    it.alive = (int)it.size.x;
    it.arrived = 0;
    it.turn = 0;
    for (size_t w = 0; w < it.warps.size(); w++) {
        Warp &warp = it.warps[w];
        int lanes = it.size.x - w * LANES < LANES ? it.size.x - w * LANES : LANES;
        warp.alive = lanes;
        warp.arrived = 0;
        warp.turn = 1;
        memset(warp.given_in, 0, sizeof warp.given_in);
        for (int lane = 0; lane < LANES; lane++) warp.is_alive[lane] = lane < lanes;
    }
    memset(it.fast.data(), 0x7f, it.fast.size());
    for (Fiber &fiber : it.fibers) fiber.is_done = false;
    it.ended = 0;
    // Whoever ends comes back here, and the next one goes on.
    (void)__builtin_setjmp(it.end);
    for (; it.ended < (int)it.size.x; it.ended++) {
        Fiber &next = it.fibers[it.step > 0 ? it.ended : (int)it.size.x - 1 - it.ended];
        if (!next.is_done) enter(&next);
    }
}

inline void run_blocks(Named kernel, unsigned blocks, unsigned threads, unsigned shared, void **arguments,
                       std::atomic<unsigned> &next, int step) {
    Block it;
    it.fibers = std::vector<Fiber>(threads);
    it.warps.resize((threads + LANES - 1) / LANES);
    it.fast.resize(shared);
    it.size = {threads, 1, 1};
    it.grid = {blocks, 1, 1};
    it.kernel = kernel.call;
    it.arguments = arguments;
    it.step = step;
    char *stacks = (char *)mmap(nullptr, STACK * threads, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED) stop("no memory for lanes");
    for (unsigned number = 0; number < threads; number++) {
        Fiber &fiber = it.fibers[number];
        fiber.index = {number, 0, 0};
        fiber.number = (int)number;
        fiber.lane = (int)(number % LANES);
        fiber.warp = &it.warps[number / LANES];
        fiber.is_born = false;
        fiber.stack = stacks + STACK * number;
    }
    block() = &it;
    for (unsigned place; (place = next++) < blocks;) run_block(it, place);
    block() = nullptr;
    munmap(stacks, STACK * threads);
}

inline void launch(Named kernel, unsigned blocks, unsigned threads, unsigned shared, void **arguments, int step) {
    std::atomic<unsigned> next{0};
    auto work = [&] { run_blocks(kernel, blocks, threads, shared, arguments, next, step); };
    if (blocks == 1) return work();
    std::thread other(work);
    work();
    other.join();
}

}  // namespace software

#define threadIdx (software::block()->own->index)
#define blockIdx (software::block()->place)
#define blockDim (software::block()->size)
#define gridDim (software::block()->grid)

inline unsigned char *fast_memory() { return software::block()->fast.data(); }

inline void __syncwarp(unsigned mask = 0xffffffffu) {
    software::all_lanes(mask);
    software::meet();
}

inline void __syncthreads() {
    software::Block *it = software::block();
    software::Fiber *own = it->own;
    unsigned turn = it->turn;
    if (++it->arrived == it->alive) {
        it->arrived = 0;
        it->turn++;
        return;
    }
    int count = (int)it->fibers.size(), number = own->number;
    while (it->turn == turn) {
        do number = (number + count + it->step) % count; while (it->fibers[number].is_done);
        software::go_to(&it->fibers[number]);
        number = own->number;
    }
}

template <class T> T __shfl_sync(unsigned mask, T value, int from) {
    software::all_lanes(mask);
    return software::exchanged(value, from & (software::LANES - 1));
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, int bits) {
    software::all_lanes(mask);
    return software::exchanged(value, software::block()->own->lane ^ bits);
}

template <class T> T __shfl_up_sync(unsigned mask, T value, int steps) {
    software::all_lanes(mask);
    int lane = software::block()->own->lane;
    return software::exchanged(value, lane < steps ? lane : lane - steps);
}

template <class T> T __shfl_down_sync(unsigned mask, T value, int steps) {
    software::all_lanes(mask);
    int lane = software::block()->own->lane;
    return software::exchanged(value, lane + steps < software::LANES ? lane + steps : lane);
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
    software::all_lanes(mask);
    software::Gifts gifts = software::give((unsigned long long)(predicate != 0));
    unsigned votes = 0;
    for (int lane = 0; lane < software::LANES; lane++) {
        if (gifts.has(lane) && gifts.of(lane)) votes |= 1u << lane;
    }
    return votes;
}

inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }

inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __ffs(unsigned value) { return __builtin_ffs((int)value); }

inline float __int_as_float(int bits) { return same_bits<float>(bits); }
inline int __float_as_int(float value) { return same_bits<int>(value); }

template <class T> T atomicAdd(T *at, T more) { return __atomic_fetch_add(at, more, __ATOMIC_RELAXED); }

inline int atomicMax(int *at, int other) {
    int known = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (known < other && !__atomic_compare_exchange_n(at, &known, other, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return known;
}

using std::isfinite;
