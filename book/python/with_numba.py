"""Vector addition and a tiled matrix product, written in Python with numba-cuda."""

import numpy as np
from numba import cuda, float32

# ANCHOR: add
@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
# ANCHOR_END: add


# ANCHOR: matmul
TILE = 16


@cuda.jit
def matmul(A, B, C):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for k0 in range(0, A.shape[1], TILE):
        a_tile[ty, tx] = A[row, k0 + tx]
        b_tile[ty, tx] = B[k0 + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()
    C[row, col] = acc
# ANCHOR_END: matmul


# ANCHOR: run
rng = np.random.default_rng(1)
a, b = rng.random((2, 100_000), dtype=np.float32)
c = cuda.device_array_like(a)
add[(a.size + 255) // 256, 256](cuda.to_device(a), cuda.to_device(b), c)
np.testing.assert_array_equal(c.copy_to_host(), a + b)

n = 128
A, B = rng.random((2, n, n), dtype=np.float32)
C = cuda.device_array_like(A)
matmul[(n // TILE, n // TILE), (TILE, TILE)](cuda.to_device(A), cuda.to_device(B), C)
np.testing.assert_allclose(C.copy_to_host(), A @ B, rtol=1e-5)
# ANCHOR_END: run

name = cuda.get_current_device().name
print(f"numba-cuda on {name}: {a.size} sums and a {n}x{n} product, all right")
