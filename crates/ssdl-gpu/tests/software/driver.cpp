// The CUDA driver, as far as the crate calls it: memory, streams, events, modules and launches of one card.
//
// Every array lies before a page that nobody may touch, is filled with nonsense when it is made and gone when it is
// freed: what reads or writes past it, or reads what nothing wrote, shows. All calls are done when they return.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

enum {
    DONE = 0,
    INVALID = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 101,
    INVALID_IMAGE = 200,
    NOT_FOUND = 500,
    LAUNCH_FAILED = 719,
};

struct Array {
    void *mapped;
    size_t size, bytes;
};

struct Named {
    const char *name;
    void (*call)(void **);
};

struct Module {
    void *library;
    const Named *kernels;
    void (*launch)(Named, unsigned, unsigned, unsigned, void **, int);
};

struct Function {
    Module *module;
    Named kernel;
    unsigned shared;
};

std::mutex lock;
std::map<uint64_t, Array> arrays;
std::map<uint64_t, int> locked;  // pinned memory of the processor
size_t room = (size_t)1 << 32, used = 0;
std::map<std::string, int> failures;  // calls until the one that fails
int step = 1;

bool fails(const char *what) {
    std::lock_guard<std::mutex> guard(lock);
    auto found = failures.find(what);
    if (found == failures.end()) return false;
    if (found->second-- > 0) return false;
    failures.erase(found);
    return true;
}

int allocate(uint64_t *address, size_t bytes) {
    if (fails("allocate")) return OUT_OF_MEMORY;
    std::lock_guard<std::mutex> guard(lock);
    if (bytes == 0) return INVALID;
    if (used + bytes > room) return OUT_OF_MEMORY;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    char *mapped = (char *)mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return OUT_OF_MEMORY;
    mprotect(mapped + whole, page, PROT_NONE);
    memset(mapped, 0x7f, whole);
    char *start = mapped + (whole - bytes) / 16 * 16;
    *address = (uint64_t)start;
    arrays[*address] = {mapped, whole + page, bytes};
    used += bytes;
    return DONE;
}

int give_back(uint64_t address) {
    std::lock_guard<std::mutex> guard(lock);
    auto found = arrays.find(address);
    if (found == arrays.end()) return INVALID;
    munmap(found->second.mapped, found->second.size);
    used -= found->second.bytes;
    arrays.erase(found);
    return DONE;
}

// Whether these bytes lie within one array.
bool is_there(uint64_t address, size_t bytes) {
    std::lock_guard<std::mutex> guard(lock);
    auto after = arrays.upper_bound(address);
    if (after == arrays.begin()) return false;
    auto &found = *--after;
    return address + bytes <= found.first + found.second.bytes;
}

int copy(void *to, const void *from, size_t bytes, uint64_t on_card) {
    if (fails("copy")) return LAUNCH_FAILED;
    if (!is_there(on_card, bytes)) return INVALID;
    memcpy(to, from, bytes);
    return DONE;
}

char context, stream;

}  // namespace

extern "C" {

// For tests: how many bytes there are, which call fails, and in which order lanes run.
void software_card_room(size_t bytes) { room = bytes; }
size_t software_card_used() { return used; }
void software_card_fail(const char *what, int after) {
    std::lock_guard<std::mutex> guard(lock);
    failures[what] = after;
}
void software_card_order(int order) { step = order; }

int cuInit(unsigned) { return DONE; }

int cuDeviceGetCount(int *count) {
    *count = 1;
    return DONE;
}

int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return ordinal == 0 ? DONE : NO_DEVICE;
}

int cuDeviceGetAttribute(int *value, int attribute, int) {
    switch (attribute) {
        case 16: *value = 2; break;             // multiprocessors
        case 75: *value = 0; break;             // compute capability: no real card has it
        case 76: *value = 1; break;
        case 97: *value = 200 << 10; break;     // bytes of shared memory of a block
        case 115: *value = 1; break;            // memory pools
        default: *value = 0;
    }
    return DONE;
}

int cuDeviceGetName(char *name, int length, int) {
    snprintf(name, (size_t)length, "software card");
    return DONE;
}

int cuDevicePrimaryCtxRetain(void **it, int) {
    *it = &context;
    return DONE;
}

int cuDevicePrimaryCtxRelease_v2(int) { return DONE; }

int cuCtxGetCurrent(void **it) {
    *it = &context;
    return DONE;
}

int cuCtxSetCurrent(void *) { return DONE; }
int cuCtxSynchronize() { return DONE; }

int cuStreamCreate(void **it, unsigned) {
    *it = &stream;
    return DONE;
}

int cuStreamDestroy_v2(void *) { return DONE; }
int cuStreamSynchronize(void *) { return DONE; }
int cuStreamWaitEvent(void *, void *, unsigned) { return DONE; }

int cuEventCreate(void **it, unsigned) {
    *it = new char;
    return DONE;
}

int cuEventDestroy_v2(void *it) {
    delete (char *)it;
    return DONE;
}

int cuEventRecord(void *, void *) { return DONE; }
int cuEventSynchronize(void *) { return DONE; }

int cuMemGetInfo_v2(size_t *free, size_t *total) {
    std::lock_guard<std::mutex> guard(lock);
    *free = room > used ? room - used : 0;
    *total = room;
    return DONE;
}

int cuMemAllocAsync(uint64_t *address, size_t bytes, void *) { return allocate(address, bytes); }
int cuMemAlloc_v2(uint64_t *address, size_t bytes) { return allocate(address, bytes); }
int cuMemFreeAsync(uint64_t address, void *) { return give_back(address); }
int cuMemFree_v2(uint64_t address) { return give_back(address); }

int cuMemHostAlloc(void **address, size_t bytes, unsigned) {
    if (fails("lock")) return OUT_OF_MEMORY;
    *address = malloc(bytes);
    return *address ? DONE : OUT_OF_MEMORY;
}

int cuMemFreeHost(void *address) {
    free(address);
    return DONE;
}

int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void *) {
    if (!is_there(address, bytes)) return INVALID;
    memset((void *)address, value, bytes);
    return DONE;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *) {
    return copy((void *)to, from, bytes, to);
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *) {
    return copy(to, (const void *)from, bytes, from);
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *) {
    return is_there(to, bytes) ? copy((void *)to, (const void *)from, bytes, from) : INVALID;
}

int cuModuleLoadData(Module **module, const void *image) {
    uint64_t size;
    memcpy(&size, image, sizeof size);
    const char *bytes = (const char *)image + sizeof size;
    if (size > ((uint64_t)1 << 30) || memcmp(bytes, "\177ELF", 4)) return INVALID_IMAGE;
    char file[] = "/tmp/software-card-XXXXXX";
    int open = mkstemp(file);
    if (open < 0) return INVALID_IMAGE;
    bool written = write(open, bytes, size) == (ssize_t)size;
    close(open);
    void *library = written ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : nullptr;
    unlink(file);
    if (!library) return INVALID_IMAGE;
    auto launch = (void (*)(Named, unsigned, unsigned, unsigned, void **, int))dlsym(library, "launch");
    *module = new Module{library, (const Named *)dlsym(library, "kernels"), launch};
    return DONE;
}

int cuModuleUnload(Module *module) {
    delete module;  // The library stays: threads may still hold its variables.
    return DONE;
}

int cuModuleGetFunction(Function **function, Module *module, const char *name) {
    for (const Named *kernel = module->kernels; kernel->name; kernel++) {
        if (strcmp(kernel->name, name)) continue;
        *function = new Function{module, *kernel, 48 << 10};
        return DONE;
    }
    return NOT_FOUND;
}

int cuFuncSetAttribute(Function *function, int attribute, int value) {
    if (attribute == 8) {
        if (value > 200 << 10) return INVALID;
        function->shared = (unsigned)value;
    }
    return DONE;
}

int cuLaunchKernel(Function *function, unsigned blocks, unsigned rows, unsigned layers, unsigned threads, unsigned more,
                   unsigned most, unsigned shared, void *, void **arguments, void **) {
    if (fails("launch") || fails(function->kernel.name)) return LAUNCH_FAILED;
    bool sound = blocks > 0 && threads > 0 && threads <= 1024 && rows * layers * more * most == 1;
    if (!sound || shared > function->shared) return INVALID;
    function->module->launch(function->kernel, blocks, threads, shared, arguments, step);
    return DONE;
}

int cuGetErrorName(int error, const char **name) {
    *name = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
        : error == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
        : error == INVALID ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR";
    return DONE;
}

int cuGetErrorString(int error, const char **text) { return cuGetErrorName(error, text); }

}
