"""The ops: each a lesson that is read from top to bottom.

A formula, its specification in NumPy, then every version from the slowest to the fastest, a kernel
above its launcher, and the gradient last.

Start with activations.py, where ReLU is spelled out whole. The order of the notebooks:

    02  activations          one element at a time: a loop, vectors, cores, the first kernel
        activations_more     GELU: the same with another body
        bias_activation      two passes over memory become one
        shade                threads of one warp that do not agree
    04  copy                 memory's own speed, in order
        transpose            order turned across itself, and the tile that saves it
        reduce               many numbers to one: the tree, and warps that exchange registers
        optimizer_step       seven arrays, one pass
    05  matmul               the CUDA ladder, one idea a step, up to …
        matmul_tensor_cores  … the instruction that multiplies matrices, in TF32
        matmul_cpu           the same plan on a CPU, with a cache in place of shared memory
        vectors              many numbers as one value, which waits in registers
    06  dense                a product with a bias and a sigmoid behind it
        dense_8_bits         its weights in a quarter of the bytes
    07  conv2d               by columns written and not, and shared tiles
        im2col               what the columns are, in NumPy
        conv2d_direct        the CPU's way: no columns, or a few at a time
    08  lstm_cell            one step
        lstm_sequence        a chain of steps, and what need not wait
    09  softmax              rows: read three times, or twice
        layer_norm           the other op of rows; rows.py has what both share
        attention            all scores in memory, or none
    11  huffman              a tree of classes, the frequent ones near its root
        tree_softmax         a probability as a walk: a few rows of a large table
        tree_update          and those rows learn, in place
        neighbours           a product, and a selection that never sees all of it
        forest               trees of planes: look only where the query would have been put

Below them: common.py (compiler options, exp and tanh for vectors), and load4.py and mma.py, two
instructions of a GPU that Numba does not offer.
"""
