// NVRTC, as far as the crate calls it: kernels are compiled for the processor by its C++ compiler.
//
// What NVRTC would return as machine code is here a length and the bytes of a shared library.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#ifndef FOLDER
#error "FOLDER has kernel.h"
#endif

namespace {

struct Program {
    std::string source, log, image;
};

std::string contents(const std::string &file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

// Shared memory that a launch asks for is no variable here; every kernel gets a name for the driver.
std::string for_processor(const std::string &source) {
    static const std::regex dynamic("extern\\s+__shared__[^;]*?(\\w+)\\[\\];");
    static const std::regex kernel("extern \"C\" __global__ void (?:__launch_bounds__\\([^)]*\\) )?(\\w+)\\(");
    std::string out = "#include \"" FOLDER "/kernel.h\"\n";
    out += std::regex_replace(source, dynamic, "unsigned char *$1 = fast_memory();");
    out += "\nextern \"C\" const software::Named kernels[] = {\n";
    for (std::sregex_iterator it(source.begin(), source.end(), kernel), end; it != end; ++it) {
        std::string name = (*it)[1];
        out += "{\"" + name + "\", [](void **arguments) { software::call(" + name + ", arguments); }},\n";
    }
    out += "{nullptr, nullptr}};\n"
           "extern \"C\" void launch(software::Named kernel, unsigned blocks, unsigned threads, unsigned shared,"
           " void **arguments, int step) { software::launch(kernel, blocks, threads, shared, arguments, step); }\n";
    return out;
}

}  // namespace

extern "C" {

int nvrtcCreateProgram(Program **program, const char *source, const char *, int, const char *const *,
                       const char *const *) {
    *program = new Program{source, "", ""};
    return 0;
}

int nvrtcCompileProgram(Program *program, int count, const char *const *options) {
    char folder[] = "/tmp/software-card-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    std::string base = std::string(folder) + "/kernels", definitions;
    for (int i = 0; i < count; i++) {
        if (!strncmp(options[i], "-D", 2)) definitions += std::string(" '") + options[i] + "'";
    }
    std::ofstream(base + ".cpp") << for_processor(program->source);
    const char *compiler = getenv("CXX");
    std::string command = std::string(compiler ? compiler : "c++") + " -std=c++17 -O2 -fPIC -shared -w" + definitions
        + " " + base + ".cpp -o " + base + ".so -lpthread > " + base + ".log 2>&1";
    int failed = system(command.c_str());
    program->log = contents(base + ".log");
    if (!failed) {
        std::string library = contents(base + ".so");
        uint64_t size = library.size();
        program->image.assign((const char *)&size, sizeof size);
        program->image += library;
    }
    for (const char *end : {".cpp", ".so", ".log"}) unlink((base + end).c_str());
    rmdir(folder);
    return failed ? 6 : 0;  // NVRTC_ERROR_COMPILATION
}

int nvrtcGetProgramLogSize(Program *program, size_t *size) {
    *size = program->log.size() + 1;
    return 0;
}

int nvrtcGetProgramLog(Program *program, char *log) {
    memcpy(log, program->log.c_str(), program->log.size() + 1);
    return 0;
}

int nvrtcGetCUBINSize(Program *program, size_t *size) {
    *size = program->image.size();
    return 0;
}

int nvrtcGetCUBIN(Program *program, char *image) {
    memcpy(image, program->image.data(), program->image.size());
    return 0;
}

int nvrtcDestroyProgram(Program **program) {
    delete *program;
    *program = nullptr;
    return 0;
}

const char *nvrtcGetErrorString(int) { return "compilation"; }

}
