"""Machine code: what a kernel (`cuda`) and a loop (`cpu`) become when a compiler is done with them."""
