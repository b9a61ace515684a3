"""Answers to `honest_clock`: its solution with one edit each."""

wrong = [
    ("    work()\n    sync()\n", "    work()\n", "before the work was done"),
    ("    sync()\n    start", "    start", "earlier work"),
    ("    work()\n    sync()\n", "    sync()\n    work()\n", "before the work was done"),
    ("return time", "return 1000 * time", "seconds"),
    ("return time", "time", "returned nothing"),
    ("    work()\n", "", "never ran"),
]  # fmt: skip
