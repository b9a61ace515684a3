"""Pictures of one notebook each. Nothing but notebooks imports them.

    00 samples · 01 kitchen · 03 scenes · 04 strides · 05 instruction_mix, matmul_ladder, systolic
    06 dense · 07 conv2d · 08 lstm · 09 attention · 10 frameworks
    11 huffman, many_classes, neighbours, placement · 12 data_parallel, ring_all_reduce
    13 learning_curves · 14 pipeline · 15 brain, buying, cores, renting · 16 verdicts
    17 occupancy, published_times
"""
