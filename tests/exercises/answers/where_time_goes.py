"""Answers to `where_time_goes`: its solution with one edit each."""

wrong = [
    ("(10 - 3) + (14 - 12)", "(10 - 2) + (14 - 12)", "first millisecond is Python"),
    ("(16 - 0) - compute", "(16 - 0) + (10 - 2) - compute", "counted twice"),
    ("(16 - 0) - compute", "(16 - 0)", "counted as Python, too"),
    ("(20 - 16) / 20", "0", "Idle is forgotten"),
    ('compute / 20, "Python": python / 20, "idle": (20 - 16) / 20',
     'compute / 16, "Python": python / 16, "idle": 0', "Idle is forgotten"),
    ("(20 - 16) / 20", "(20 - 14) / 20", "add up to 110%"),
    ("(10 - 3) + (14 - 12)", "(10 - 3)", "compute and Python took another"),
    ("compute / 20", "compute", "A share is a part of 1"),
    ("compute / 20", "100 * compute / 20", "write 0.5 for 50 %"),
    ('"idle": (20 - 16) / 20', '"waiting": (20 - 16) / 20', "Three shares are due"),
    ("(20 - 16) / 20}", '"20 %"}', "is not a number"),
    ("my_shares = {", "my_shares = 0.5, {", "Three shares are due"),
]  # fmt: skip
right = [
    ('{"compute": compute / 20, "Python": python / 20, "idle": (20 - 16) / 20}',
     '{"idle": 0.2, "compute": 0.45, "Python": 0.35}'),
]  # fmt: skip
