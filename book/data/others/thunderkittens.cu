// Products of bf16 by ThunderKittens, for others.py: the template of its own example, with a few of its parameters.
//
// A is M x K, B is K x N and C is M x N, all row-major; sums are FP32. The template is no header: it stands in the
// example, kernels/gemm/bf16_h100/bf16_h100_gemm.cu, which is a program. It is included as a whole; `build` says where
// it lies, and compiles it.
#define main main_of_the_example
#include "bf16_h100_gemm.cu"
#undef main

#include <cstdio>
#include <optional>

namespace {

// What others.py asks of a kernel, whatever its types are.
struct Product {
    virtual void about(char* text, size_t size) const = 0;
    virtual int prepare(int m, int n, int k, bf16* a, bf16* b, bf16* c) = 0;
    virtual int launch(cudaStream_t stream) = 0;
};

// Tiles of 64 x 64 of a block, along M and along N; as many rows of blocks are walked over before the next column.
template <int ROWS, int COLS, int SUPER>
class Built final : public Product {
    using Template = matmul_template<ROWS, COLS, SUPER>;
    using Matrix = typename Template::layout::global_layout;
    using Globals = typename Template::layout::globals;
    static constexpr auto* KERNEL = lcf::kernel<Template>;
    static constexpr int SHARED = MAX_SHARED_MEMORY - 1024;  // as the example launches it
    static constexpr int EDGE = 64;                          // of the tiles that it is made of
    static constexpr int THREADS = kittens::prototype::detail::NUM_THREADS_v<Template>;

    std::optional<Globals> globals;  // three matrices with their tensor maps
    dim3 grid;

public:
    void about(char* text, size_t size) const override
    {
        std::snprintf(text, size, "{\"config\": [%d, %d, %d, %d, %d], \"how\": \"bands of %d\"}", ROWS * EDGE,
                      COLS * EDGE, EDGE, THREADS / 32, Template::INPUT_PIPE_STAGES, SUPER);
    }

    int prepare(int m, int n, int k, bf16* a, bf16* b, bf16* c) override
    {
        // It has no edges: blocks are counted by divisions.
        if (m % (ROWS * EDGE) != 0 || n % (COLS * EDGE) != 0 || k % EDGE != 0) return int(cudaErrorInvalidValue);
        const auto matrix = [](bf16* x, int rows, int cols) {
            return Matrix(x, nullptr, nullptr, size_t(rows), size_t(cols));
        };
        globals.reset();
        globals.emplace(Globals{matrix(a, m, k), matrix(b, k, n), matrix(c, m, n)});
        grid = Template::grid(m, n, k);
        return int(cudaFuncSetAttribute(KERNEL, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    }

    int launch(cudaStream_t stream) override
    {
        KERNEL<<<grid, THREADS, SHARED, stream>>>(*globals);
        return int(cudaGetLastError());
    }
};

Built<2, 4, 8> wide_8;
Built<2, 4, 12> wide_12;
Built<2, 2, 8> square;  // more tiles, for 1024

Product* const PRODUCTS[] = {&wide_8, &wide_12, &square};

}  // namespace

#define SEEN extern "C" __attribute__((visibility("default")))

SEEN const char* thunderkittens_version() { return THUNDERKITTENS_REVISION; }

SEEN int thunderkittens_count() { return sizeof PRODUCTS / sizeof *PRODUCTS; }

// JSON for the record.
SEEN const char* thunderkittens_about(int which)
{
    static char text[256];
    PRODUCTS[which]->about(text, sizeof text);
    return text;
}

// All of it that is no launch. 0 if it went well.
SEEN int thunderkittens_prepare(int which, int m, int n, int k, void* a, void* b, void* c)
{
    return PRODUCTS[which]->prepare(m, n, k, static_cast<bf16*>(a), static_cast<bf16*>(b), static_cast<bf16*>(c));
}

SEEN int thunderkittens_launch(int which, void* stream)
{
    return PRODUCTS[which]->launch(static_cast<cudaStream_t>(stream));
}
