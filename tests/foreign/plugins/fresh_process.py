"""A plugin of pytest: a test that loses the CUDA context is the last one of its process.

The file named by TILE_DONE has the tests that were begun; these are left out, so that the next process has the rest.
"""

import os
import re
from pathlib import Path

import pytest

DONE = Path(os.environ["TILE_DONE"])
LOST = re.compile(
    "CUDA_ERROR_(ILLEGAL_ADDRESS|LAUNCH_TIMEOUT|ASSERT|HARDWARE_STACK_ERROR|ILLEGAL_INSTRUCTION|MISALIGNED_ADDRESS"
    "|INVALID_ADDRESS_SPACE|INVALID_PC|LAUNCH_FAILED)"
)
lost = False


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    done = set(DONE.read_text().splitlines()) if DONE.exists() else set()
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in done])
    items[:] = [item for item in items if item.nodeid not in done]


def pytest_runtest_logstart(nodeid):
    with DONE.open("a") as file:
        file.write(f"{nodeid}\n")


def pytest_runtest_logreport(report):
    global lost
    lost |= report.failed and bool(LOST.search(report.longreprtext))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    result = yield
    if lost:
        item.session.shouldstop = "the context is lost"
    return result
