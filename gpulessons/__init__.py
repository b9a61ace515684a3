"""How GPUs accelerate deep learning, and when they don't: answered by measurement.

    from gpulessons import relu, compare
    compare(relu)

Every public name is loaded at its first use (PEP 562), so that `import gpulessons` costs nothing.
"""

import importlib

__version__ = "0.1.0"

HOMES = {
    "backends": "host gpu torch_cpu torch_gpu",
    "operation": "op",
    "measuring": "timings",
    "comparing": "compare",
    "checking": "check",
    "compiling": "assembly",
    "microscope": "trace tracing",
    "hardware": "machine",
    "reading": "source solution",
    "controls": "predict quiz live slider",
    "rooflines": "roofline",
    "peak": "peak_memory",
    "data": "digits",
    "networks": "Network train",
    "ops.activations": "relu leaky_relu sigmoid tanh gelu",
    "ops.attention": "attention",
    "ops.bias_activation": "bias_gelu",
    "ops.conv2d": "conv2d conv2d_backward",
    "ops.copy": "copy triad copy_offset copy_strided",
    "ops.dense": "dense dense_backward",
    "ops.layer_norm": "layer_norm layer_norm_backward",
    "ops.lstm_backward": "lstm_backward",
    "ops.lstm_cell": "lstm_cell",
    "ops.lstm_layers": "lstm_layers",
    "ops.lstm_sequence": "lstm_sequence",
    "ops.matmul": "matmul",
    "ops.optimizer_step": "momentum_step adam_step",
    "ops.reduce": "total dot",
    "ops.shade": "shade shade_sorted",
    "ops.softmax": "softmax softmax_backward",
    "ops.softmax_layer": "softmax_layer softmax_layer_backward",
    "ops.transpose": "transpose",
    "ops.vertex_transform": "vertex_transform",
    "workers.launching": "launch",
}
MODULES = ("exercises", "microscope", "pictures", "plots", "recordings", "texts", "units")

_home = {name: home for home, names in HOMES.items() for name in names.split()}
__all__ = sorted([*_home, *MODULES])


def __getattr__(name):
    if name in MODULES:
        return importlib.import_module(f"gpulessons.{name}")
    if name not in _home:
        raise AttributeError(f"gpulessons has no {name!r}; it has {', '.join(__all__)}.")
    value = getattr(importlib.import_module(f"gpulessons.{_home[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
