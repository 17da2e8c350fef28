"""A plugin of pytest for the tests of cuda.core, with stand-ins for what is no part of libcuda.

- The tests compile to machine code (`Program.compile("cubin")`), which NVRTC makes for real GPUs. They get PTX.
- `Device.sync` calls the CUDA runtime inside cuda.bindings, which asks the driver for tables that have no documentation.
  It calls `cuCtxSynchronize`.
"""

import cuda.core
import pytest
from cuda.bindings import driver
from cuda.core import _program
from cuda.core._utils.cuda_utils import handle_return


class Program(cuda.core.Program):
    wanted = True

    def compile(self, target_type, *positional, **named):
        if Program.wanted and target_type == "cubin" and self.backend == "NVRTC":
            target_type = "ptx"
        return super().compile(target_type, *positional, **named)


def sync(self):
    handle_return(driver.cuCtxSynchronize())


cuda.core.Program = _program.Program = Program
cuda.core.Device.sync = sync


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    # These look at the bytes and load nothing.
    Program.wanted = not ("sample_object_code_cubin" in item.name or "test_program_compile_cache" in item.nodeid)
