// run.cpp: runs the cases of `tests::wgmma` on a GPU, and prints what the registers of all threads held afterwards.
//
//     cargo run -p tests --example wgmma_cases -- DIR
//     nvcc -o run tests/data/wgmma/run.cpp -lcuda && ./run DIR DIR/cases.ptx > DIR/answers.txt
//
// Two more arguments: how many cases to leave out at the start, and a file that gets all words of the smaller products.
// A line is `name: hash word word …` with the hash of all words (FNV-1a) and the first words of the threads 0 and 127.
// `h200.txt` has the lines of an H200 up to the hash: sed -E 's/(: [0-9a-f]{16}) .*/\1/' DIR/answers.txt
// A case that fails ends the context, so each answer is printed at once.
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static std::vector<char> read_file(const std::string& path)
{
    FILE* file = fopen(path.c_str(), "rb");
    if (!file) { fprintf(stderr, "cannot read %s\n", path.c_str()); exit(3); }
    std::vector<char> bytes;
    char buffer[1 << 16];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;) bytes.insert(bytes.end(), buffer, buffer + n);
    fclose(file);
    return bytes;
}

static void check(CUresult result, const char* what)
{
    if (result == CUDA_SUCCESS) return;
    const char* name = "?";
    cuGetErrorName(result, &name);
    printf("%s: %s\n", what, name);
    fflush(stdout);
    exit(1);
}

int main(int argc, char** argv)
{
    if (argc < 3) return 2;
    const std::string folder = argv[1];
    const int image_bytes = 48 << 10, threads = 128;
    std::vector<char> names = read_file(folder + "/cases.txt"), data = read_file(folder + "/cases.bin");
    std::vector<char> code = read_file(argv[2]);
    names.push_back(0), code.push_back(0);
    const int skip = argc > 3 ? atoi(argv[3]) : 0;
    FILE* all = argc > 4 ? fopen(argv[4], "ab") : nullptr;

    CUdevice device;
    CUcontext context;
    CUmodule module;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "context");
    check(cuCtxSetCurrent(context), "context");
    check(cuModuleLoadData(&module, code.data()), "module");
    CUdeviceptr input, output;
    const size_t out_bytes = threads * 128 * 4;
    check(cuMemAlloc(&input, data.size()), "memory");
    check(cuMemAlloc(&output, out_bytes), "memory");
    check(cuMemcpyHtoD(input, data.data(), data.size()), "copy");

    int number = 0;
    for (char* line = strtok(names.data(), "\n"); line; line = strtok(nullptr, "\n")) {
        if (number++ < skip) continue;
        char kernel[128];
        unsigned words, adds;
        unsigned long long a, b, image, sums;
        int name = 0;
        if (sscanf(line, "%127s %u %llu %llu %u %llu %llu %n", kernel, &words, &a, &b, &adds, &image, &sums, &name) != 7)
            return 3;
        CUfunction function;
        check(cuModuleGetFunction(&function, module, kernel), kernel);
        check(cuMemsetD8(output, 0, out_bytes), "memory");
        CUdeviceptr from = input + image, start = input + sums;
        void* parameters[] = {&from, &start, &output, &a, &b, &adds};
        CUresult result = cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, image_bytes, 0, parameters, nullptr);
        if (result == CUDA_SUCCESS) result = cuCtxSynchronize();
        check(result, line + name);
        std::vector<unsigned> out(threads * words);
        check(cuMemcpyDtoH(out.data(), output, out.size() * 4), "copy");
        unsigned long long hash = 0xcbf29ce484222325ull;
        for (size_t i = 0; i < out.size() * 4; ++i)
            hash = (hash ^ (out[i / 4] >> (i % 4 * 8) & 0xff)) * 0x100000001b3ull;
        printf("%s: %016llx", line + name, hash);
        for (unsigned i = 0; i < 4 && i < words; ++i) printf(" %08x", out[i]);
        for (unsigned i = 0; i < 4 && i < words; ++i) printf(" %08x", out[127 * words + i]);
        printf("\n");
        fflush(stdout);
        if (all && words <= 32) {
            fwrite(&number, 4, 1, all);
            fwrite(out.data(), 4, out.size(), all);
            fflush(all);
        }
    }
    return 0;
}
