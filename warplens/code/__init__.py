"""What a compiler makes of a kernel (`cuda`: PTX, registers; `sass`: machine code) and of a loop.

linking            PTX becomes machine code
sass               machine code, read: instructions, lines of the source, loops
operands, pipes    what an instruction reads and writes, and what carries it out
cuda               `assembly`: a kernel, compiled
cpu                a compiled loop of the CPU's: vector instructions
"""
