"""Vector addition and a tiled matrix product, compiled by NVRTC and launched with cuda.core."""

from pathlib import Path

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

# ANCHOR: compile
device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
# PTX runs on the emulated GPU and on every real one of this architecture or a later one.
options = ProgramOptions(std="c++17", arch="sm_80", name="kernels.cu", lineinfo=True)
module = Program(source, "c++", options=options).compile("ptx")
# ANCHOR_END: compile

# ANCHOR: buffers
pinned = LegacyPinnedMemoryResource()


def to_device(array):
    host = pinned.allocate(array.nbytes, stream=stream)
    np.from_dlpack(host).view(array.dtype)[:] = array.ravel()
    buffer = device.allocate(array.nbytes, stream=stream)
    buffer.copy_from(host, stream=stream)
    stream.sync()
    return buffer


def to_host(buffer, dtype):
    host = pinned.allocate(buffer.size, stream=stream)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    return np.from_dlpack(host).view(dtype).copy()
# ANCHOR_END: buffers


# ANCHOR: run
rng = np.random.default_rng(1)
a, b = rng.random((2, 100_000), dtype=np.float32)
c = device.allocate(a.nbytes, stream=stream)
config = LaunchConfig(grid=(a.size + 255) // 256, block=256)
launch(stream, config, module.get_kernel("add"), np.int32(a.size), to_device(a), to_device(b), c)
np.testing.assert_array_equal(to_host(c, a.dtype), a + b)

n, tile = 128, 16
A, B = rng.random((2, n, n), dtype=np.float32)
C = device.allocate(A.nbytes, stream=stream)
config = LaunchConfig(grid=(n // tile, n // tile), block=(tile, tile))
launch(stream, config, module.get_kernel("matmul"), np.int32(n), to_device(A), to_device(B), C)
np.testing.assert_allclose(to_host(C, A.dtype).reshape(n, n), A @ B, rtol=1e-5)
# ANCHOR_END: run

print(f"cuda.core on {device.name}: {a.size} sums and a {n}x{n} product, all right")
