"""In: a compiled kernel, its sizes and its arrays. Out: the results in those arrays, and a log of
what every warp did."""
