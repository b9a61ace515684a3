"""Turn, project and divide in one kernel, a thread per coordinate, neighbors writing neighbors."""

import numpy as np

from gpulessons.exercises.asking import a_kernel, problem
from gpulessons.grader.waste import check_sectors, check_threads

text = '''\
@cuda.jit
def my_projection(points, matrix, out):
    k = cuda.grid(1)
    ### BEGIN SOLUTION
    if k < out.size:
        i, row = k // 3, k % 3
        value = w = np.float32(0)
        for j in range(4):
            value += matrix[row, j] * points[i, j]
            w += matrix[3, j] * points[i, j]
        out[i, row] = value / w
    ### STUB
    # Your turn: this thread computes one of out's numbers: a row of the matrix times point i,
    # divided by w, which is row 3 times point i. Which i, and which row?
    ### END SOLUTION

def my_project(points, matrix):
    out = cuda.device_array((points.shape[0], 3), points.dtype)
    my_projection[(out.size + 127) // 128, 128](points, matrix, out)
    return out
'''


def scene(size, rng):
    """points: (size, 4), w = 1; matrix: (4, 4) that leaves every w between 0.4 and 1.6."""
    points = rng.uniform(-1, 1, (size, 4)).astype(np.float32)
    points[:, 3] = 1
    matrix = rng.standard_normal((4, 4), np.float32)
    matrix[3] = 0.1, -0.2, 0.3, 1
    return points, matrix


def projected(points, matrix):
    """x/w, y/w, z/w of matrix · point. points: (n, 4), matrix: (4, 4); returns (n, 3)."""
    moved = points @ matrix.T
    return moved[:, :3] / moved[:, 3:]


def inspect(launches):
    """Right is not enough: what a warp writes at one moment must be 128 bytes in a row."""
    check_threads(launches)
    hint = "which numbers of out threads 0 to 31 write: they should be neighbors."
    check_sectors(launches, hint, access="write")


mistakes = (
    ("nothing is divided by w, or by the point's own, which is 1.", "value / w", "value"),
    ("the matrix is taken by its columns for x, y and z.", "matrix[row, j]", "matrix[j, row]"),
    ("three products are added, where four are expected: the last one moves the scene.",
     "range(4)", "range(3)"),
)  # fmt: skip

hints = (
    "out has three numbers to a row. Neighboring threads should write neighboring numbers: after "
    "how many of them does the next point begin?",
    "i, row = k // 3, k % 3",
)

exercise = a_kernel(
    __name__, text, problem(scene, projected, rtol=1e-5),
    "row 0, 1 or 2 of the matrix times the point, over row 3 times the point.",
    mistakes, hints, inspect,
)
