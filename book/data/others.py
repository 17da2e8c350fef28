"""Products by others on this GPU, beside the ladder's: PyTorch and Triton in FP32 and bf16, and which kernels cuBLAS runs.

    python3 others.py h200-others.json

Needs a GPU, PyTorch and Triton. Nothing here uses TF32. Times are medians of replayed CUDA graphs of many products,
with warm caches, as `cargo xtask bench` times short launches. In bf16 C is bf16 too; those of one size are measured in
turns, because the clock of a GPU at its limit of power depends on what ran before.
"""

import ctypes
import datetime
import json
import os
import statistics
import sys
import tempfile

import torch
import triton
import triton.language as tl
from torch.profiler import ProfilerActivity, profile
from triton.tools.tensor_descriptor import TensorDescriptor

SIZES = [1024, 2048, 4096, 8192]
# M, N, K of the products on record.
SHAPES = [(n, n, n) for n in (256, 512, 1000, 1024, 1536, 2048, 3072, 4096, 6144, 8192)]
SHAPES += [(1023, 1025, 1021), (16384, 128, 1024), (128, 16384, 1024)]
SAMPLES = 15
WORKSPACE = 32 << 20
# A tile of C, a step of K, warps of a block, stages of the pipeline.
BF16_CONFIGS = [
    (64, 128, 64, 4, 4),
    (128, 128, 64, 4, 4),
    (128, 128, 64, 8, 4),
    (128, 256, 64, 8, 3),
    (256, 128, 64, 8, 3),
    (128, 256, 64, 8, 4),
]
CONFIGS = [
    (64, 64, 16, 4, 3),
    (128, 64, 16, 4, 3),
    (128, 128, 16, 4, 3),
    (128, 128, 16, 8, 3),
    (128, 128, 32, 8, 3),
    (256, 128, 16, 8, 3),
]


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    # Blocks that run at the same time share rows of A and columns of B.
    block, wide = tl.program_id(0), tl.cdiv(N, BN)
    first = block // (GROUP * wide) * GROUP
    rows_here = min(tl.cdiv(M, BM) - first, GROUP)
    row, col = first + block % rows_here, block % (GROUP * wide) // rows_here
    m, n, k = row * BM + tl.arange(0, BM), col * BN + tl.arange(0, BN), tl.arange(0, BK)
    a_at = a + m[:, None] * K + k[None, :]
    b_at = b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(a_at), tl.load(b_at), acc, input_precision="ieee")
        a_at += BK
        b_at += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def matmul_boxes(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    # The same with descriptors of the matrices: tiles are copied as boxes (TMA).
    block, wide = tl.program_id(0), tl.cdiv(N, BN)
    first = block // (GROUP * wide) * GROUP
    rows_here = min(tl.cdiv(M, BM) - first, GROUP)
    row, col = (first + block % rows_here) * BM, (block % (GROUP * wide) // rows_here) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([row, k]), b.load([k, col]), acc)
    c.store([row, col], acc.to(c.dtype))


def by_triton(config, a, b, c):
    (M, K), N = a.shape, b.shape[1]
    bm, bn, bk, warps, stages = config
    matmul[(M // bm * (N // bn),)](a, b, c, M, N, K, bm, bn, bk, 8, num_warps=warps, num_stages=stages)


def by_triton_boxes(config, a, b, c):
    (M, K), N = a.shape, b.shape[1]
    bm, bn, bk, warps, stages = config
    box = lambda x, rows, cols: TensorDescriptor.from_tensor(x, [rows, cols])
    operands = box(a, bm, bk), box(b, bk, bn), box(c, bm, bn)
    matmul_boxes[(M // bm * (N // bn),)](*operands, M, N, K, bm, bn, bk, 8, num_warps=warps, num_stages=stages)


def sampler(put):
    """A function that gives the milliseconds of one: graphs of about 2 ms, the one before keeps the device busy."""
    put()
    torch.cuda.synchronize()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    put()
    end.record()
    end.synchronize()
    n = max(1, min(200, round(2 / start.elapsed_time(end))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(n):
            put()

    def sample():
        graph.replay()
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / n

    return sample


def times(put, samples=SAMPLES):
    """Milliseconds of one, every sample."""
    sample = sampler(put)
    return [sample() for _ in range(samples)]


def error(c, a, b):
    """The largest difference from FP64, as a part of what FP32 sums may be off in 64 rows; of a C of bf16 rounded, too."""
    rows = slice(0, 64)
    want = a[rows].double() @ b.double()
    bound = (a.shape[1] + 2) * 2.0**-24 * a[rows].double().norm(dim=1)[:, None] * b.double().norm(dim=0)[None, :]
    if c.dtype == torch.bfloat16:
        bound += 2.0**-8 * want.abs()
    return float(((c[rows].double() - want).abs() / bound).max())


def operands(shape, dtype=torch.float32):
    M, N, K = shape
    uniform = lambda rows, cols: torch.rand(rows, cols, device="cuda", dtype=dtype) * 2 - 1
    return uniform(M, K), uniform(K, N), torch.empty(M, N, device="cuda", dtype=dtype)


def fastest(configs, put):
    """The best of some configurations, each tried a few times."""
    tuned = []
    for config in configs:
        try:
            tuned.append((statistics.median(times(lambda: put(config), 5)), config))
        except triton.runtime.errors.OutOfResources:
            continue
    return min(tuned)[1]


def measure_bf16(out):
    for size in SIZES:
        a, b, c = operands((size, size, size), torch.bfloat16)
        ways = [("PyTorch", None, lambda: torch.matmul(a, b, out=c))]
        for by, put in (("Triton", by_triton), ("Triton, boxes", by_triton_boxes)):
            config = fastest(BF16_CONFIGS, lambda config: put(config, a, b, c))
            ways.append((by, config, lambda put=put, config=config: put(config, a, b, c)))
        entries, samplers = [], []
        for by, config, put in ways:
            c.zero_()
            put()
            entry = {"by": by, "size": size, "numbers": "bf16", "of_bound": error(c, a, b), "ms": []}
            entries.append(entry | ({"config": config} if config else {}))
            samplers.append(sampler(put))
        for _ in range(SAMPLES):
            for entry, sample in zip(entries, samplers):
                entry["ms"].append(sample())
        out["times"] += entries
        save(out)


def measure(out):
    for size in SIZES:
        a, b, c = operands((size, size, size))
        torch.matmul(a, b, out=c)
        entry = {"by": "PyTorch", "size": size, "of_bound": error(c, a, b)}
        out["times"].append(entry | {"ms": times(lambda: torch.matmul(a, b, out=c))})
        config = fastest(CONFIGS, lambda config: by_triton(config, a, b, c))
        c.zero_()
        by_triton(config, a, b, c)
        entry = {"by": "Triton", "size": size, "of_bound": error(c, a, b), "config": config}
        out["times"].append(entry | {"ms": times(lambda: by_triton(config, a, b, c))})
        save(out)


class Cublas:
    """The library that the steps find: the toolkit's, else PyTorch's own."""

    def __init__(self):
        toolkit = "/usr/local/cuda/lib64/libcublas.so.13"
        self.library = ctypes.CDLL(toolkit if os.path.exists(toolkit) else "libcublas.so.13")
        self.handle = ctypes.c_void_p()
        assert self.library.cublasCreate_v2(ctypes.byref(self.handle)) == 0
        self.workspace = torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda")
        pointer = ctypes.c_void_p(self.workspace.data_ptr())
        assert self.library.cublasSetWorkspace_v2(self.handle, pointer, ctypes.c_size_t(WORKSPACE)) == 0

    def version(self):
        number = ctypes.c_int()
        assert self.library.cublasGetVersion_v2(self.handle, ctypes.byref(number)) == 0
        return f"{number.value // 10000}.{number.value // 100 % 100}.{number.value % 100}"

    def product(self, a, b, c):
        """Row-major, by asking for the transpose."""
        (M, K), N = a.shape, b.shape[1]
        double = a.dtype == torch.float64
        real = ctypes.c_double if double else ctypes.c_float
        gemm = self.library.cublasDgemm_v2 if double else self.library.cublasSgemm_v2
        one, zero = real(1), real(0)
        p = lambda x: ctypes.c_void_p(x.data_ptr())
        status = gemm(
            self.handle, 0, 0, N, M, K, ctypes.byref(one), p(b), N, p(a), K, ctypes.byref(zero), p(c), N
        )
        assert status == 0, status


def names(out):
    cublas = Cublas()
    out["cublas"] = cublas.version()
    asked = [("sgemm", shape, torch.float32) for shape in SHAPES]
    asked += [("dgemm", (n, n, n), torch.float64) for n in (256, 1024, 4096, 8192)]
    for function, shape, dtype in asked:
        a, b, c = operands(shape, dtype)
        cublas.product(a, b, c)
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as seen:
            cublas.product(a, b, c)
            torch.cuda.synchronize()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            seen.export_chrome_trace(path)
            with open(path) as file:
                events = json.load(file)["traceEvents"]
        kernels = [
            {
                "name": event["name"],
                "grid": event["args"]["grid"],
                "block": event["args"]["block"],
                "registers": event["args"].get("registers per thread"),
                "shared": event["args"].get("shared memory"),
            }
            for event in sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])
        ]
        out["kernels"].append({"function": function, "shape": list(shape), "kernels": kernels})
        save(out)


def save(out):
    with open(sys.argv[1], "w") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    out = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "device": torch.cuda.get_device_name(),
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "triton": triton.__version__,
        "torch_cuda": torch.version.cuda,
        "cublas": None,
        "kernels": [],
        "times": [],
    }
    for part in (names, measure, measure_bf16):
        try:
            part(out)
        except Exception as wrong:  # What was found so far is kept, and says what is missing.
            out.setdefault("missing", []).append(f"{part.__name__}: {wrong!r}")
        save(out)


if __name__ == "__main__":
    main()
