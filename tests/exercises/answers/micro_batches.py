"""Answers to `micro_batches`: its solution with one edit each."""

wrong = [
    ('"1F1B", 32', '"GPipe", 32', "keeps 256 examples"),
    ('"1F1B", 32', '"1F1B", 16', "16%"),
    ('"1F1B", 32', '"1F1B", 64', "of 4 examples"),
    ('"1F1B", 32', '"1F1B", 31', "does not divide"),
    ('"1F1B", 32', '"1F1B", 4', "43%"),
    ('"1F1B", 32', '"pipe", 32', "no schedule"),
    ('"1F1B", 32', '["1F1B"], 32', "no schedule"),
    ('"1F1B", 32', '"1F1B", "32"', "no number of micro-batches"),
    ("= my_schedule, my_micro", "= my_schedule", "Two things are due"),
]
right = [
    ('"1F1B", 32', '"1F1B", 256 / 8'),
    ("= my_schedule, my_micro", "= [my_schedule, np.int64(my_micro)]"),
]
