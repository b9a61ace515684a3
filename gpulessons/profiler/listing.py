"""A table that can be looped over: what stands in its rows, as values."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from warplens.tables import Table


@dataclass(frozen=True, repr=False)
class Listing(Table):
    """A Table with the value behind each of its rows."""

    values: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)
