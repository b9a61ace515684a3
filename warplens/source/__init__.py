"""In: a kernel's Python function, its source and the names around it. Out: a Python function that
runs whole warps with the instructions of `lanes`."""
