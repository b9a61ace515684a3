"""What notebooks train with the course's ops, and the data: one lesson a file.

    06  data           handwritten digits
    11  many_classes   a softmax over all classes and one along a path, and what a step costs
    18  decoder        a decoder of a real model's shape, with random weights
"""
