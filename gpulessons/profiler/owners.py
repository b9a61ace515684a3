"""Whose code runs: the library behind an operator on the CPU, or behind a kernel on the GPU.

Judged by names, which is all that the profiler gives; what no pattern knows is "unknown".
"""

import re
from functools import cache

UNKNOWN = "unknown"
# On a GPU the name of the kernel tells. The first pattern that fits decides: cuDNN and cuBLAS both
# bring kernels made with CUTLASS, and PyTorch has some of its own.
GPU_NAMES = {
    "NCCL": r"nccl",
    "cuDNN": r"cudnn|implicit_convolve|winograd|[dw]grad|fprop|xmma_conv|bn_(fw|bw)_|"
             r"(?i:elemwise)?RNN|LSTM_elementWise",
    "Triton, from torch.compile": r"^triton_",
    "FlashAttention, in PyTorch": r"flash_(fwd|bwd)|pytorch_flash|flash::",
    "PyTorch's attention": r"fmha_|AttentionKernel",
    "cuBLAS": r"cublas|gemv|gemmk1|splitK|nvjet|[sdhc]gemm|xmma_gemm|_gemm_|dot_kernel|gemmSN",
    "CUTLASS": r"cutlass",
    "PyTorch (ATen)": r"at::native|at::cuda|at_cuda_detail|c10::|vectorized_elementwise",
    "CUB and Thrust": r"\bcub::|thrust::",
    "Numba": r"cudapy|^_ZN\d+_?__main__",
}  # fmt: skip
BLAS = re.compile(r"aten::(addmm|mm|bmm|baddbmm|addbmm|mv|addmv|dot|vdot|addr|ger)_?$")
ONEDNN = re.compile(r"(aten::_?mkldnn|mkldnn|onednn|quantized)(::)?_?")
# Which of oneDNN and ATen computes is decided inside these, and their names do not tell.
HIDDEN = re.compile(r"aten::(convolution_backward|_weight_norm|lstm|gru)")


def owner_on_gpu(kernel: str) -> str:
    """The library that a kernel's name points to."""
    return next((who for who, names in GPU_NAMES.items() if re.search(names, kernel)), UNKNOWN)


def owner_on_cpu(operator: str) -> str:
    """The library that an operator's name points to, as this PyTorch was built."""
    if BLAS.match(operator):
        return blas()
    if ONEDNN.match(operator):
        return "oneDNN"
    if "nnpack" in operator:
        return "NNPACK"
    if operator.startswith("## Call CompiledFxGraph"):
        return "torch.compile's own C++"
    if HIDDEN.match(operator):
        return "oneDNN or ATen: the name does not tell"
    return "PyTorch (ATen)" if operator.startswith("aten::") else UNKNOWN


@cache
def blas() -> str:
    """The BLAS that this PyTorch multiplies with, as its own configuration says."""
    import torch

    found = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
    names = {"mkl": "MKL", "open": "OpenBLAS", "accelerate": "Accelerate", "flexi": "FlexiBLAS"}
    return f"BLAS: {names.get(found[1], found[1])}" if found else "BLAS"


def shortened(name: str, longest: int = 60) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
