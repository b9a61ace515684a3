"""The first kernel: the grid has whole blocks, so some threads have no number. Two minutes."""

from gpulessons.exercises.asking import a_kernel
from gpulessons.ops.activations import relu

text = '''\
@cuda.jit
def my_kernel(x, out):
    i = cuda.grid(1)
    ### BEGIN SOLUTION
    if i < x.size:
        out[i] = max(x[i], np.float32(0))
    ### STUB
    # Your turn: this line is for the threads that have a number.
    out[i] = max(x[i], np.float32(0))
    ### END SOLUTION

def my_relu(x):
    out = cuda.device_array_like(x)
    my_kernel[(x.size + 255) // 256, 256](x, out)
    return out
'''

hints = ("Thread i takes number i. How many numbers are there?", "if i < x.size:")
mistakes = (
    ("it is min, where max is expected.", "max(x[i], np", "min(x[i], np"),
    ("it is a copy: negative numbers are as they were.", "max(x[i], np.float32(0))", "x[i]"),
)

exercise = a_kernel(__name__, text, relu, "which threads have a number.", mistakes, hints, most=16)
