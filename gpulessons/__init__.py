"""How GPUs accelerate deep learning, and when they don't: answered by measurement.

    from gpulessons import relu, compare
    compare(relu)

Every public name is loaded at its first use (PEP 562): `import gpulessons` costs nothing and
changes nothing in the process.
"""

import importlib

__version__ = "0.2.0"

HOMES = {
    "backends": "host gpu torch_cpu torch_gpu",
    "operation": "op",
    "measure.timings": "timings",
    "comparing": "compare",
    "grader.check": "check",
    "warplens.code.cuda": "assembly",
    "warplens": "trace tracing",
    "hardware": "machine",
    "notebook.source": "source solution",
    "notebook.hints": "hint",
    "notebook.controls": "predict sketch quiz live slider on_paper",
    "plots.roofline": "roofline",
    "measure.peak_memory": "peak_memory",
    "models.data": "digits",
    "ops.activations": "relu",
    "ops.activations_more": "gelu",
    "ops.attention": "attention",
    "ops.bias_activation": "bias_gelu",
    "ops.conv2d": "conv2d",
    "ops.dense": "dense",
    "ops.copy": "copy triad",
    "ops.dense_8_bits": "dense_8_bits",
    "ops.layer_norm": "layer_norm",
    "ops.lstm_cell": "lstm_cell",
    "ops.lstm_sequence": "lstm_sequence",
    "ops.matmul": "matmul",
    "ops.optimizer_step": "adam_step",
    "ops.shade": "shade",
    "ops.reduce": "total",
    "ops.softmax": "softmax",
    "ops.transpose": "transpose",
    "ops.tree_softmax": "tree_softmax",
    "warplens.model.devices": "devices",
    "warplens.model.modelling": "modelled",
    "warplens.model.occupancy": "occupancy",
    "workers.launcher.launching": "launch",
}
MODULES = {
    name: name for name in ("claims", "exercises", "microscope", "money", "plots", "units")
}
MODULES |= {"recordings": "measure.recordings", "predictions": "notebook.predictions"}
home_of = {name: home for home, names in HOMES.items() for name in names.split()}
__all__ = sorted([*home_of, *MODULES])


def __getattr__(name):
    if name in MODULES:
        return importlib.import_module(f"gpulessons.{MODULES[name]}")
    if name not in home_of:
        raise AttributeError(f"gpulessons has no {name!r}; it has {', '.join(__all__)}.")
    home = home_of[name]  # the instrument's modules are its own, all others the course's
    full = home if home.startswith("warplens") else f"gpulessons.{home}"
    value = getattr(importlib.import_module(full), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
