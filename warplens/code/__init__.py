"""What a compiler makes of a kernel (`cuda`: PTX, registers; `sass`: machine code).

driver             the GPU that is here, if one is
linking            PTX becomes machine code
sass               machine code, read: instructions, lines of the source, loops
operands, pipes    what an instruction reads and writes, and what carries it out
mix                it counted
cuda               `assembly`: a kernel, compiled
"""
