"""What notebooks train with the course's ops, and the data: one lesson a file.

    06  digits         two layers that read handwritten digits; data.py has them
    08  letters        an LSTM that writes
    10  six_networks   the networks of a comparison from 2017, in PyTorch
    11  many_classes   a task with very many answers, and outputs/, the layers that learn it
        skip_gram      words as vectors, by a tree
        index          a forest of trees kept in a file, and what it buys
        hybrid         a table in one place and a network in another; placement.py is its model
"""
