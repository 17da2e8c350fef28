"""FP32 products by others on this GPU, beside the ladder's: PyTorch, Triton, and which kernels cuBLAS runs.

    python3 others.py h200-others.json

Needs a GPU, PyTorch and Triton. Nothing here uses TF32. Times are medians of replayed CUDA graphs of many products,
with warm caches, as `cargo xtask bench` times short launches.
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

SIZES = [1024, 2048, 4096, 8192]
# M, N, K of the products on record.
SHAPES = [(n, n, n) for n in (256, 512, 1000, 1024, 1536, 2048, 3072, 4096, 6144, 8192)]
SHAPES += [(1023, 1025, 1021), (16384, 128, 1024), (128, 16384, 1024)]
SAMPLES = 15
WORKSPACE = 32 << 20
# A tile of C, a step of K, warps of a block, stages of the pipeline.
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
    tl.store(c + m[:, None] * N + n[None, :], acc)


def by_triton(config, a, b, c):
    (M, K), N = a.shape, b.shape[1]
    bm, bn, bk, warps, stages = config
    matmul[(M // bm * (N // bn),)](a, b, c, M, N, K, bm, bn, bk, 8, num_warps=warps, num_stages=stages)


def times(put, samples=SAMPLES):
    """Milliseconds of one, every sample: graphs of about 2 ms, the one before keeps the device busy."""
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
    found = []
    for _ in range(samples):
        graph.replay()
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        found.append(start.elapsed_time(end) / n)
    return found


def error(c, a, b):
    """The largest difference from FP64, as a part of what FP32 sums may be off in a row of 64 elements."""
    rows = slice(0, 64)
    want = a[rows].double() @ b.double()
    bound = (a.shape[1] + 2) * 2.0**-24 * a[rows].double().norm(dim=1)[:, None] * b.double().norm(dim=0)[None, :]
    return float(((c[rows].double() - want).abs() / bound).max())


def operands(shape, dtype=torch.float32):
    M, N, K = shape
    uniform = lambda rows, cols: torch.rand(rows, cols, device="cuda", dtype=dtype) * 2 - 1
    return uniform(M, K), uniform(K, N), torch.empty(M, N, device="cuda", dtype=dtype)


def measure(out):
    for size in SIZES:
        a, b, c = operands((size, size, size))
        torch.matmul(a, b, out=c)
        entry = {"by": "PyTorch", "size": size, "of_bound": error(c, a, b)}
        out["times"].append(entry | {"ms": times(lambda: torch.matmul(a, b, out=c))})
        tuned = []
        for config in CONFIGS:
            try:
                tuned.append((statistics.median(times(lambda: by_triton(config, a, b, c), 5)), config))
            except triton.runtime.errors.OutOfResources:
                continue
        _, config = min(tuned)
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
    for part in (names, measure):
        try:
            part(out)
        except Exception as wrong:  # What was found so far is kept, and says what is missing.
            out.setdefault("missing", []).append(f"{part.__name__}: {wrong!r}")
        save(out)


if __name__ == "__main__":
    main()
