"""Products by others on this GPU, beside the ladder's: PyTorch, Triton, CUTLASS and ThunderKittens, and which kernels
cuBLAS runs.

    python3 others.py h200-others.json --library others.so
    python3 others.py h200-others.json --library others.so --only bf16

Needs a GPU, PyTorch and Triton. Nothing here uses TF32. Times are medians of replayed CUDA graphs of many products,
with warm caches, as `cargo xtask bench` times short launches. In bf16 C is bf16 too; those of one size are measured in
turns, because the clock of a GPU at its limit of power depends on what ran before. A kernel of this book's step v12 is
among them: its PTX is read from `kernels/ptx`. `--only bf16` takes about a minute, and replaces what the record has in
bf16.

Without a library CUTLASS and ThunderKittens are left out. It is built for sm_90a, on any machine with nvcc, from
checkouts of both:

    sh others/build CUTLASS THUNDERKITTENS others.so

The record says with which version of one and revision of the other. Those on record were built by nvcc 13.0 from the
tag v4.7.0 of github.com/NVIDIA/cutlass and from the revision 0b55588d2769 of github.com/HazyResearch/ThunderKittens.
"""

import argparse
import ctypes
import datetime
import functools
import gc
import hashlib
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

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
# Of step v12: columns are those of BF16_CONFIGS. Blocks come in clusters of two or alone; a cluster has two tiles of C,
# one below the other, and each of its blocks copies half of the rows of a box of B. Behind the ring, boxes of C.
PLANS = {
    1024: ("v12_small", "gemm_v12_small_64x128_bf16", (64, 128, 64, 5, 9), 1, 0),
    2048: ("v12_ping_pong", "gemm_v12_ping_pong_bf16", (128, 128, 64, 9, 6), 2, 4 * 8192),
    4096: ("v12_ping_pong", "gemm_v12_ping_pong_bf16", (128, 128, 64, 9, 6), 2, 4 * 8192),
    8192: ("v12_ping_pong", "gemm_v12_ping_pong_192_bf16", (128, 192, 64, 12, 4), 2, 4 * 8192),
}
PTX = Path(__file__).parent / "../../kernels/ptx"
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


class Refused(Exception):
    """A kernel that does not take this product, or a result that is wrong."""


def pointer(x):
    return ctypes.c_void_p(x.data_ptr())


def stream():
    """The one that PyTorch is using: the captured one while a graph is made."""
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


class Library:
    """Products by CUTLASS or ThunderKittens, compiled ahead of time. `name` is what its functions begin with."""

    def __init__(self, library, name):
        function = lambda what: getattr(library, f"{name}_{what}")
        self.prepare, self.launch, about = function("prepare"), function("launch"), function("about")
        about.restype = function("version").restype = ctypes.c_char_p
        self.version = function("version")().decode()
        # What a record says of each kernel: `config`, as of Triton, and `how`.
        self.about = [json.loads(about(which).decode()) for which in range(function("count")())]

    def ready(self, which, a, b, c):
        """What launches one product. A kernel has one product at a time: the last that was made ready."""
        (m, k), n = a.shape, b.shape[1]
        status = self.prepare(which, m, n, k, pointer(a), pointer(b), pointer(c))
        if status != 0:
            raise Refused(f"{self.about[which]}: status {status} before its launch")

        def put():
            status = self.launch(which, stream())
            if status != 0:
                raise Refused(f"{self.about[which]}: status {status} at its launch")

        return put


class V12:
    """Products by this book's kernels, launched as `steps/v12/src/main.rs` does it."""

    BFLOAT16, SWIZZLE_128B, PROMOTE_128B, SHARED = 9, 3, 2, 8  # of the enumerations of cuda.h

    def __init__(self, driver, processors):
        self.driver, self.processors, self.modules = driver, processors, {}

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        if status != 0:
            raise Refused(f"{name}: CUresult {status}")

    def function(self, file, entry):
        if file not in self.modules:
            module = ctypes.c_void_p()
            # The text ends with a zero, as bytes of Python do.
            self.call("cuModuleLoadData", ctypes.byref(module), (PTX / f"{file}.ptx").read_bytes())
            self.modules[file] = module
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), self.modules[file], entry.encode())
        return function

    def box(self, x, rows):
        """A tensor map of boxes of so many rows and 64 columns. It begins on 64 bytes."""
        memory = ctypes.create_string_buffer(128 + 64)
        map_at = (ctypes.c_char * 128).from_buffer(memory, -ctypes.addressof(memory) % 64)
        height, width = x.shape
        size, pitch = (ctypes.c_uint64 * 2)(width, height), (ctypes.c_uint64 * 1)(2 * width)
        boxes, steps = (ctypes.c_uint32 * 2)(64, rows), (ctypes.c_uint32 * 2)(1, 1)
        kind, swizzle, promotion = self.BFLOAT16, self.SWIZZLE_128B, self.PROMOTE_128B
        self.call(
            "cuTensorMapEncodeTiled", map_at, kind, 2, pointer(x), size, pitch, boxes, steps, 0, swizzle, promotion, 0
        )
        return map_at

    def ready(self, plan, a, b, c):
        """What launches one product."""
        file, entry, (bm, bn, bk, warps, stages), cluster, boxes_of_c = plan
        (m, k), n = a.shape, b.shape[1]
        function = self.function(file, entry)
        # A tile of A, one of B and two barriers for each stage.
        shared = stages * ((bm + bn) * bk * 2 + 2 * 8) + boxes_of_c
        self.call("cuFuncSetAttribute", function, self.SHARED, shared)
        tiles = -(-m // (cluster * bm)) * -(-n // bn)
        blocks = tiles if cluster == 1 else cluster * min(tiles, self.processors // cluster)
        values = [ctypes.c_int(m), ctypes.c_int(n), ctypes.c_int(k), ctypes.c_float(1)]
        values += [self.box(a, bm), self.box(b, bk // cluster), self.box(c, 64)]
        arguments = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))

        def put(values=values):
            # The kernel says itself how large its clusters are.
            self.call(
                "cuLaunchKernel", function, blocks, 1, 1, 32 * warps, 1, 1, shared, stream(), arguments, None
            )

        return put


class Extra:
    """What products of bf16 are measured with besides PyTorch and Triton; and why something of it is not."""

    def __init__(self, path):
        self.missing, self.libraries, self.v12 = [], {}, None
        # For all: the library takes functions of the driver from the process.
        driver = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
        self.v12 = V12(driver, torch.cuda.get_device_properties(0).multi_processor_count)
        for by in ("CUTLASS", "ThunderKittens"):
            if not path:
                self.miss(f"{by}: no library was given; the head of others.py says how to build it")
                continue
            try:
                self.libraries[by] = Library(ctypes.CDLL(os.path.abspath(path)), by.lower())
            except Exception as wrong:
                self.miss(f"{by}: {wrong!r}")

    def miss(self, what):
        print(what, file=sys.stderr)
        self.missing.append(what)

    def versions(self):
        return {by.lower(): library.version for by, library in self.libraries.items()}


def captured(put, n):
    """A graph of n."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(n):
            put()
    return graph


def sampler(put):
    """A function that gives the milliseconds of one: graphs of about 2 ms, the one before keeps the device busy."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def sample(graph, n):
        graph.replay()
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / n

    put()
    torch.cuda.synchronize()
    # How many follows from the time on the device: the host takes longer for some of them to launch than for others.
    n = max(1, min(400, round(2 / sample(captured(put, 4), 4))))
    return functools.partial(sample, captured(put, n), n)


def times(put, samples=SAMPLES):
    """Milliseconds of one, every sample."""
    sample = sampler(put)
    return [sample() for _ in range(samples)]


def error(c, a, b):
    """The largest difference from FP64, as a part of what FP32 sums may be off; of a C of bf16 rounded, too."""
    # 64 rows from all over C, each at another place in its tile: of 8192, one in each 128.
    step = c.shape[0] // 64
    rows = torch.tensor([i * step + i % step for i in range(64)], device="cuda")
    want = a[rows].double() @ b.double()
    bound = (a.shape[1] + 2) * 2.0**-24 * a[rows].double().norm(dim=1)[:, None] * b.double().norm(dim=0)[None, :]
    if c.dtype == torch.bfloat16:
        bound += 2.0**-8 * want.abs()
    return float(((c[rows].double() - want).abs() / bound).max())


def operands(shape, dtype=torch.float32):
    M, N, K = shape
    uniform = lambda rows, cols: torch.rand(rows, cols, device="cuda", dtype=dtype) * 2 - 1
    return uniform(M, K), uniform(K, N), torch.empty(M, N, device="cuda", dtype=dtype)


def fastest(configs, ready):
    """The best of some configurations, each tried a few times. `ready` makes the launch of one."""
    tuned = []
    for config in configs:
        try:
            tuned.append((statistics.median(times(ready(config), 5)), config))
        except (triton.runtime.errors.OutOfResources, Refused) as wrong:
            print(f"{config}: {wrong!r}", file=sys.stderr)
    return min(tuned)[1]


def ways_of_bf16(size, extra, a, b, c):
    """Who multiplies: a name, what else the record says of it, and a function that makes the launch."""
    yield "PyTorch", lambda: ({}, lambda: torch.matmul(a, b, out=c))
    for by, put in (("Triton", by_triton), ("Triton, boxes", by_triton_boxes)):

        def tuned(put=put):
            ready = lambda config: lambda: put(config, a, b, c)
            config = fastest(BF16_CONFIGS, ready)
            return {"config": config}, ready(config)

        yield by, tuned
    for by, library in extra.libraries.items():

        def tuned(library=library):
            which = fastest(range(len(library.about)), lambda which: library.ready(which, a, b, c))
            return library.about[which], library.ready(which, a, b, c)

        yield by, tuned

    def ours():
        file, entry, config, *_ = plan = PLANS[size]
        sha256 = hashlib.sha256((PTX / f"{file}.ptx").read_bytes()).hexdigest()
        return {"config": config, "kernel": entry, "ptx_sha256": sha256}, extra.v12.ready(plan, a, b, c)

    yield "v12", ours


def measure_bf16(out, extra):
    """All of one size in turns. What was on record is replaced, because the others of a size were measured with it."""
    about = about_this_machine() | extra.versions() | {"missing": extra.missing}
    out["bf16"] = about
    for size in SIZES:
        a, b, c = operands((size, size, size), torch.bfloat16)
        entries, samplers = [], []
        for by, way in ways_of_bf16(size, extra, a, b, c):
            try:
                more, put = way()
                c.zero_()
                put()
                found = error(c, a, b)
                if not found < 1:
                    raise Refused(f"C is wrong: {found} of the bound")
                samplers.append(sampler(put))
            except Exception as wrong:  # The others of this size are measured all the same.
                extra.miss(f"{by} at {size}: {wrong!r}")
                continue
            entries.append({"by": by, "size": size, "numbers": "bf16", "of_bound": found, "ms": []} | more)
        for _ in range(SAMPLES):
            for entry, sample in zip(entries, samplers):
                entry["ms"].append(sample())
        old = lambda time: time.get("numbers") == "bf16" and time["size"] == size
        out["times"] = [time for time in out["times"] if not old(time)] + entries
        save(out)


def measure(out):
    for size in SIZES:
        a, b, c = operands((size, size, size))
        torch.matmul(a, b, out=c)
        entry = {"by": "PyTorch", "size": size, "of_bound": error(c, a, b)}
        out["times"].append(entry | {"ms": times(lambda: torch.matmul(a, b, out=c))})
        config = fastest(CONFIGS, lambda config: lambda: by_triton(config, a, b, c))
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
        workspace = pointer(self.workspace)
        assert self.library.cublasSetWorkspace_v2(self.handle, workspace, ctypes.c_size_t(WORKSPACE)) == 0

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
        p = pointer
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


def about_this_machine():
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "device": torch.cuda.get_device_name(),
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "triton": triton.__version__,
        "torch_cuda": torch.version.cuda,
    }


def save(out):
    with open(ASKED.record, "w") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    gc.freeze()  # PyTorch collects garbage before each graph: what is here now need not be looked at again.
    extra = Extra(ASKED.library)
    bf16 = functools.partial(measure_bf16, extra=extra)
    functools.update_wrapper(bf16, measure_bf16)
    if ASKED.only:
        out = about_this_machine() | {"cublas": None, "kernels": [], "times": []}
        if os.path.exists(ASKED.record):
            with open(ASKED.record) as file:
                out = json.load(file)
        if out["device"] != torch.cuda.get_device_name():
            sys.exit(f"{ASKED.record} is about a {out['device']}, and this is a {torch.cuda.get_device_name()}")
        parts = [bf16]
    else:
        out = about_this_machine() | {"cublas": None, "kernels": [], "times": []}
        parts = [names, measure, bf16]
    for part in parts:
        try:
            part(out)
        except Exception as wrong:  # What was found so far is kept, and says what is missing.
            print(f"{part.__name__}: {wrong!r}", file=sys.stderr)
            out.setdefault("missing", []).append(f"{part.__name__}: {wrong!r}")
        save(out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("record", help="a file of JSON, written anew without --only")
    parser.add_argument("--library", help="CUTLASS and ThunderKittens, built by others/build")
    parser.add_argument("--only", choices=["bf16"], help="measure these, and leave the rest of the record, if there is one, as it is")
    ASKED = parser.parse_args()
    main()
