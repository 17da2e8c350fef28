"""A Python kernel with a mistake: what the emulated GPU says about it."""

import numpy as np
from numba import cuda


# ANCHOR: kernel
@cuda.jit(lineinfo=True)
def shift(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i + 1]
# ANCHOR_END: kernel


x = cuda.to_device(np.arange(100, dtype=np.float32))
y = cuda.device_array_like(x)
shift[4, 32](x, y)
try:
    cuda.synchronize()
except cuda.cudadrv.driver.CudaAPIError as error:
    print(error)
