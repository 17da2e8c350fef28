// Times kernels from PTX: graph replays, medians.
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <fstream>
#include <sstream>
#include <algorithm>
#define CK(x) do { CUresult r = (x); if (r) { const char* s; cuGetErrorName(r, &s); printf("{\"error\":\"%s at %d\"}\n", s, __LINE__); fflush(stdout); exit(1);} } while (0)
int main(int argc, char** argv) {
    CK(cuInit(0)); CUdevice d; CK(cuDeviceGet(&d, 0)); CUcontext c; CK(cuDevicePrimaryCtxRetain(&c, d)); CK(cuCtxSetCurrent(c));
    std::ifstream list(argv[1]); std::string line;
    while (std::getline(list, line)) {
        std::istringstream in(line); std::string name, ptx, entry; unsigned g[3], b[3], dyn; int n;
        in >> name >> ptx >> entry >> g[0] >> g[1] >> g[2] >> b[0] >> b[1] >> b[2] >> dyn >> n;
        std::vector<unsigned long long> values(n); std::vector<void*> args(n); std::vector<CUdeviceptr> bufs;
        for (int i = 0; i < n; ++i) {
            std::string a; in >> a;
            if (a[0] == 'i') { int v = atoi(a.c_str() + 1); memcpy(&values[i], &v, 4); }
            if (a[0] == 'f') { float v = atof(a.c_str() + 1); memcpy(&values[i], &v, 4); }
            if (a[0] == 'b') {
                size_t bytes = atoll(a.c_str() + 1); CUdeviceptr p; CK(cuMemAlloc(&p, bytes)); bufs.push_back(p);
                std::vector<float> h(bytes / 4); unsigned s = 1 + i; bool dbl = name.find("double") != std::string::npos;
                if (dbl) { double* q = (double*)h.data(); for (size_t k = 0; k < bytes / 8; ++k) { s = s * 1664525u + 1013904223u; q[k] = (s >> 8) / 16777216.0 - 0.5; } }
                else for (auto& x : h) { s = s * 1664525u + 1013904223u; x = (s >> 8) / 16777216.0f - 0.5f; }
                CK(cuMemcpyHtoD(p, h.data(), bytes)); memcpy(&values[i], &p, 8);
            }
            args[i] = &values[i];
        }
        std::ifstream f(ptx); std::stringstream ss; ss << f.rdbuf(); std::string text = ss.str();
        CUmodule m; CK(cuModuleLoadData(&m, text.c_str())); CUfunction fn; CK(cuModuleGetFunction(&fn, m, entry.c_str()));
        if (dyn > 49152) CK(cuFuncSetAttribute(fn, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dyn)); int regs; CK(cuFuncGetAttribute(&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, fn));
        CUstream s; CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
        CUevent e0, e1; CK(cuEventCreate(&e0, 0)); CK(cuEventCreate(&e1, 0));
        auto go = [&] { CK(cuLaunchKernel(fn, g[0], g[1], g[2], b[0], b[1], b[2], dyn, s, args.data(), 0)); };
        go(); CK(cuStreamSynchronize(s));
        float one; CK(cuEventRecord(e0, s)); go(); CK(cuEventRecord(e1, s)); CK(cuStreamSynchronize(s)); CK(cuEventElapsedTime(&one, e0, e1));
        int batch = std::max(1, std::min(200, (int)(2.0f / one)));
        CUgraph graph; CUgraphExec exec;
        CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL)); for (int i = 0; i < batch; ++i) go(); CK(cuStreamEndCapture(s, &graph));
        CK(cuGraphInstantiate(&exec, graph, 0));
        for (int w = 0; w < 25; ++w) CK(cuGraphLaunch(exec, s));
        CK(cuStreamSynchronize(s));
        std::vector<float> t;
        for (int i = 0; i < 20; ++i) { CK(cuEventRecord(e0, s)); CK(cuGraphLaunch(exec, s)); CK(cuEventRecord(e1, s)); CK(cuStreamSynchronize(s)); float ms; CK(cuEventElapsedTime(&ms, e0, e1)); t.push_back(ms * 1e3f / batch); }
        std::sort(t.begin(), t.end());
        printf("%s registers %d batch %d us %.3f low %.3f high %.3f\n", name.c_str(), regs, batch, (t[9] + t[10]) / 2, t[4], t[15]); fflush(stdout);
        CK(cuGraphExecDestroy(exec)); CK(cuGraphDestroy(graph)); for (auto p : bufs) CK(cuMemFree(p)); CK(cuModuleUnload(m)); CK(cuStreamDestroy(s));
    }
}
