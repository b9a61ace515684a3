"""Pictures of one notebook each. Nothing but notebooks imports them.

    00 samples, rivals · 01 kitchen, latency_hiding · 02 grid, transfers
    03 scenes · 22 roof_shares · 17 microbenchmarks
    03 to 07 matmul_ladder · 05 instruction_mix, tiles
    06 dense · 07 conv2d · 08 lstm
    09 attention, online_softmax · 10 frameworks
    11 huffman, roofs
    12 data_parallel, ring_all_reduce · 13 learning_curves · 14 pipeline
    15 buying · 16 verdicts · 04, 17 published_times · 17 waves
"""
