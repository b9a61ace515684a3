"""Pictures of one notebook each, and those of hints. Nothing but notebooks imports them.

    00 samples, rivals · 01 kitchen, latency_hiding · 02 grid, transfers
    02, 04 puzzles · 03 scenes · 04 trees · 04 roof_shares · 01, 04, 17 microbenchmarks
    03 to 07 matmul_ladder · 05 instruction_mix, tiles · 06 to 08 data_sheet
    06 dense · 07 conv2d · 08 lstm
    09 attention, online_softmax · 10 frameworks
    11 huffman, neighbours, roofs
    12 data_parallel, ring_all_reduce · 13 learning_curves · 14 pipeline
    15 buying, cores · 16 verdicts · 17 occupancy, published_times, waves
"""
