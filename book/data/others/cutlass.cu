// Products of bf16 by CUTLASS, for others.py: its collective builders, with a few tiles and schedules.
//
// A is M x K, B is K x N and C is M x N, all row-major; sums are FP32. `build` compiles it.
#include <cstdio>

#include "cute/tensor.hpp"
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"
#include "cutlass/version.h"

namespace {

using cute::Int;
using cute::Shape;
namespace mainloop = cutlass::gemm;
namespace epilogue = cutlass::epilogue;

// Which warpgroups multiply a tile, and which builder's words say so to the main loop and to what follows it.
struct PingPong {
    using Multiply = mainloop::KernelTmaWarpSpecializedPingpong;
    using Store = epilogue::TmaWarpSpecialized;
    static constexpr const char* NAME = "pingpong";
};

struct Cooperative {
    using Multiply = mainloop::KernelTmaWarpSpecializedCooperative;
    using Store = epilogue::TmaWarpSpecializedCooperative;
    static constexpr const char* NAME = "cooperative";
};

// What others.py asks of a kernel, whatever its types are.
struct Product {
    virtual void about(char* text, size_t size, int swizzle) const = 0;
    virtual cutlass::Status prepare(int m, int n, int k, const void* a, const void* b, void* c, int swizzle) = 0;
    virtual cutlass::Status launch(cudaStream_t stream) = 0;
};

// A tile of C, and how many blocks of a cluster lie below each other and beside each other.
template <class Schedule, int M, int N, int CLUSTER_M, int CLUSTER_N>
class Built final : public Product {
    using Number = cutlass::bfloat16_t;
    using Row = cutlass::layout::RowMajor;
    static constexpr int K = 64;                                // a row of 128 bytes, which is one of the swizzle
    static constexpr int ALIGNED = 16 / sizeof(Number);         // numbers: what a tensor map needs
    using Tile = Shape<Int<M>, Int<N>, Int<K>>;
    using Cluster = Shape<Int<CLUSTER_M>, Int<CLUSTER_N>, Int<1>>;

    // There is no matrix to be added: the source of the epilogue is void, so that no shared memory is kept for it.
    using Store = typename epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster, epilogue::collective::EpilogueTileAuto,
        float, float, void, Row, ALIGNED, Number, Row, ALIGNED, typename Schedule::Store>::CollectiveOp;
    using Multiply = typename mainloop::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Number, Row, ALIGNED, Number, Row, ALIGNED, float, Tile,
        Cluster, mainloop::collective::StageCountAutoCarveout<int(sizeof(typename Store::SharedStorage))>,
        typename Schedule::Multiply>::CollectiveOp;
    using Kernel = mainloop::kernel::GemmUniversal<Shape<int, int, int, int>, Multiply, Store>;
    using Gemm = mainloop::device::GemmUniversalAdapter<Kernel>;

    Gemm gemm;
    void* workspace = nullptr;

public:
    void about(char* text, size_t size, int swizzle) const override
    {
        std::snprintf(text, size,
                      "{\"config\": [%d, %d, %d, %d, %d], \"how\": \"%s, clusters of %d × %d, swizzle %d\"}", M, N, K,
                      int(Gemm::kThreadCount) / 32, int(Gemm::kStages), Schedule::NAME, CLUSTER_M, CLUSTER_N, swizzle);
    }

    cutlass::Status prepare(int m, int n, int k, const void* a, const void* b, void* c, int swizzle) override
    {
        cutlass::KernelHardwareInfo hardware;
        if (cudaGetDevice(&hardware.device_id) != cudaSuccess) return cutlass::Status::kErrorInternal;
        hardware.sm_count = cutlass::KernelHardwareInfo::query_device_multiprocessor_count(hardware.device_id);
        typename Gemm::Arguments arguments{
            mainloop::GemmUniversalMode::kGemm,
            {m, n, k, 1},
            {static_cast<const Number*>(a), cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1}),
             static_cast<const Number*>(b), cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1})},
            {{1.0f, 0.0f}, nullptr, {}, static_cast<Number*>(c),
             cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, {m, n, 1})},
            hardware};
        arguments.scheduler.max_swizzle_size = swizzle;
        if (auto status = Gemm::can_implement(arguments); status != cutlass::Status::kSuccess) return status;
        cudaFree(workspace);
        workspace = nullptr;
        const size_t bytes = Gemm::get_workspace_size(arguments);
        if (bytes > 0 && cudaMalloc(&workspace, bytes) != cudaSuccess) return cutlass::Status::kErrorMemoryAllocation;
        return gemm.initialize(arguments, workspace);
    }

    cutlass::Status launch(cudaStream_t stream) override { return gemm.run(stream); }
};

Built<Cooperative, 128, 256, 2, 1> cooperative_128x256;
Built<Cooperative, 256, 128, 2, 1> cooperative_256x128;
Built<PingPong, 64, 256, 2, 1> ping_pong_64x256;
Built<PingPong, 128, 128, 2, 1> ping_pong_128x128;
Built<PingPong, 64, 128, 2, 1> ping_pong_64x128;  // enough tiles for 1024

Product* const PRODUCTS[] = {
    &cooperative_128x256, &cooperative_256x128, &ping_pong_64x256, &ping_pong_128x128, &ping_pong_64x128,
};
// How many tiles side by side the blocks walk over before they go on: the order of tiles for L2, told at the launch.
constexpr int SWIZZLES[] = {1, 4, 8};
constexpr int N_SWIZZLES = sizeof SWIZZLES / sizeof *SWIZZLES;

}  // namespace

#define SEEN extern "C" __attribute__((visibility("default")))

SEEN const char* cutlass_version()
{
    static char text[32];
    std::snprintf(text, sizeof text, "%d.%d.%d", CUTLASS_MAJOR, CUTLASS_MINOR, CUTLASS_PATCH);
    return text;
}

SEEN int cutlass_count() { return sizeof PRODUCTS / sizeof *PRODUCTS * N_SWIZZLES; }

// JSON for the record.
SEEN const char* cutlass_about(int which)
{
    static char text[256];
    PRODUCTS[which / N_SWIZZLES]->about(text, sizeof text, SWIZZLES[which % N_SWIZZLES]);
    return text;
}

// All of it that is no launch. 0 if it went well.
SEEN int cutlass_prepare(int which, int m, int n, int k, const void* a, const void* b, void* c)
{
    return int(PRODUCTS[which / N_SWIZZLES]->prepare(m, n, k, a, b, c, SWIZZLES[which % N_SWIZZLES]));
}

SEEN int cutlass_launch(int which, void* stream)
{
    return int(PRODUCTS[which / N_SWIZZLES]->launch(static_cast<cudaStream_t>(stream)));
}
