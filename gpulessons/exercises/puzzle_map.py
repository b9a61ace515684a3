"""Puzzle: a thread for each element. Which one is this thread's?"""

from gpulessons.exercises.asking import a_kernel, normal, problem

square = problem(normal(lambda n: [n]), lambda x: x * x)

text = '''\
@cuda.jit
def my_square_kernel(x, out):
    block, width, thread = cuda.blockIdx.x, cuda.blockDim.x, cuda.threadIdx.x
    ### BEGIN SOLUTION
    i = block * width + thread
    if i < x.size:
        out[i] = x[i] * x[i]
    ### STUB
    # Your turn: which i is this thread's? Where there is such an i, out[i] is x[i] squared.
    ### END SOLUTION

def my_square(x):
    out = cuda.device_array_like(x)
    my_square_kernel[(x.size + 63) // 64, 64](x, out)
    return out
'''

hints = (
    "Block 0 takes the first 64 elements, thread 0 to 63. Where does block 1 begin?",
    "map_1d",
    "i = block * width + thread",
)
mistakes = (
    ("it is doubled, not squared.", "= x[i] * x[i]", "= x[i] + x[i]"),
    ("it is copied, not squared.", "= x[i] * x[i]", "= x[i]"),
)

exercise = a_kernel(__name__, text, square, "x[i] times x[i].", mistakes, hints)
