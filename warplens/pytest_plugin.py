"""`pytest --warplens`: tests of Numba-CUDA kernels run without a GPU, and fail where a launch has a
race, a fault or a caution."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack
from typing import Any

import pytest

OPTION = "--warplens"
SESSION = pytest.StashKey[ExitStack]()
LAUNCHES = pytest.StashKey[list]()


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "run Numba-CUDA kernels under warplens, and fail where one has a race or a caution"
    parser.addoption(OPTION, action="store_true", help=text)


@pytest.hookimpl(tryfirst=True)  # before modules are collected: they may compile kernels
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption(OPTION):
        from .programs import tracing

        config.stash[SESSION] = ExitStack()
        config.stash[LAUNCHES] = config.stash[SESSION].enter_context(tracing())


def pytest_unconfigure(config: pytest.Config) -> None:
    if SESSION in config.stash:
        config.stash[SESSION].close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    launches = item.config.stash.get(LAUNCHES, None)
    if launches is None:
        return (yield)
    from .findings import findings

    launches.clear()
    result = yield
    if found := findings(launches):
        pytest.fail("\n".join(found), pytrace=False)
    return result
