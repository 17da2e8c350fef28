"""Vector addition and a tiled matrix product with PyCUDA."""

from pathlib import Path

import numpy as np
import pycuda.autoinit  # makes a context on the first device
import pycuda.driver as driver
from cuda.core import Program, ProgramOptions

# ANCHOR: compile
# PyCUDA's SourceModule calls nvcc, which comes with the CUDA toolkit; NVRTC needs no toolkit.
source = Path(__file__).with_name("kernels.cu").read_text()
options = ProgramOptions(std="c++17", arch="sm_80", name="kernels.cu", lineinfo=True)
ptx = Program(source, "c++", options=options).compile("ptx").code
module = driver.module_from_buffer(ptx)
# ANCHOR_END: compile

# ANCHOR: run
rng = np.random.default_rng(1)
a, b = rng.random((2, 100_000), dtype=np.float32)
c = np.empty_like(a)
add = module.get_function("add")
grid = ((a.size + 255) // 256, 1)
add(np.int32(a.size), driver.In(a), driver.In(b), driver.Out(c), grid=grid, block=(256, 1, 1))
np.testing.assert_array_equal(c, a + b)

n, tile = 128, 16
A, B = rng.random((2, n, n), dtype=np.float32)
C = np.empty_like(A)
matmul = module.get_function("matmul")
grid = (n // tile, n // tile)
matmul(np.int32(n), driver.In(A), driver.In(B), driver.Out(C), grid=grid, block=(tile, tile, 1))
np.testing.assert_allclose(C, A @ B, rtol=1e-5)
# ANCHOR_END: run

name = pycuda.autoinit.device.name()
print(f"PyCUDA on {name}: {a.size} sums and a {n}x{n} product, all right")
