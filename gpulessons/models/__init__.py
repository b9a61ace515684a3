"""What notebooks train with the course's ops, and the data: one lesson a file.

    06  digits         two layers that read handwritten digits; data.py has them
    08  letters        an LSTM that writes
    11  many_classes   a task with a million answers, and outputs/, the layers that learn it
        index          a forest of trees kept in a file, and what it buys
"""
