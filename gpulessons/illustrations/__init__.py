"""Pictures of one notebook each, and those of hints. Nothing but notebooks imports them.

    00 samples · 01 kitchen, latency_hiding, vector_widths · 02 grid, transfers
    02, 04, 05 puzzles · 03 scenes · 04 strides · 04, 05 roof_shares
    05 instruction_mix, matmul_ladder, systolic, tiles · 05 to 08 data_sheet
    06 dense, weight_reuse · 07 conv2d, halo · 08 lstm · 09 attention, online_softmax, transformer
    10 frameworks
    11 huffman, many_classes, neighbours, placement · 12 data_parallel, ring_all_reduce
    13 learning_curves · 14 pipeline · 15 brain, buying, cores, renting · 16 verdicts
    17 occupancy, published_times
"""
