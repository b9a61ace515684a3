"""Constants: a name that two files of ops have means the same in both."""

import importlib
import pkgutil

from gpulessons import ops


def test_a_constant_of_one_name_has_one_value():
    """Or who imports it, or reads on in the next file, takes one for the other."""
    values: dict[str, dict[str, str]] = {}
    for _, file, _ in pkgutil.iter_modules(ops.__path__):
        for name, value in vars(importlib.import_module(f"gpulessons.ops.{file}")).items():
            if name.isupper():
                values.setdefault(name, {})[file] = repr(value)
    twice = {name: files for name, files in values.items() if len({*files.values()}) > 1}
    assert not twice
