"""See `nvcc` beside this file."""

import sys
import sysconfig
from pathlib import Path

from cuda.bindings import nvrtc

NVIDIA = Path(sysconfig.get_path("purelib")) / "nvidia"


def check(result):
    code, *values = result
    if code != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(str(code))
    return values[0] if values else None


def text(size, fill, program):
    buffer = b" " * check(size(program))
    check(fill(program, buffer))
    return buffer.rstrip(b"\0")


def main(arguments):
    if "--version" in arguments:
        print("NVRTC in the place of nvcc,", *check_version())
        return 0
    source = Path(next(a for a in arguments if a.endswith(".cu")))
    if "--preprocess" in arguments:
        # Only hashed by the caller.
        print(source.read_text())
        return 0
    kind = next(a[2:] for a in arguments if a in ("--cubin", "--ptx", "--fatbin"))
    options = ["--std=c++17", "--gpu-architecture=compute_80", "-default-device"]
    options += [a for a in arguments if a.startswith(("-I", "-D", "--use_fast_math"))]
    # After those, empty headers of the host, which sources include out of habit.
    folders = [*sorted(NVIDIA.glob("*/include")), Path(__file__).with_name("include")]
    options += [f"-I{folder}" for folder in folders]
    program = check(nvrtc.nvrtcCreateProgram(source.read_bytes(), source.name.encode(), 0, [], []))
    (code,) = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])
    if code != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        sys.stderr.write(log.decode(errors="replace"))
        return 1
    ptx = text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    source.with_suffix(f".{kind}").write_bytes(ptx + b"\0")
    return 0


def check_version():
    code, major, minor = nvrtc.nvrtcVersion()
    return f"{major}.{minor}", code.name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
