"""Answers to `parallel_count`: its solution with one edit each."""

MINE = "        mine = sum(x < 0 for x in numbers)  # Nobody else's: no lock needed.\n"
LOCKED = "        with lock:\n"
ADD = "            tally.value += mine"

wrong = [
    (f"{LOCKED}    ", "", "overwrote"),
    ("with lock:", "with Lock():", "overwrote"),
    (ADD, "            seen = tally.value\n        tally.value = seen + mine", "overwrote"),
    (f"{MINE}{LOCKED}", f"{LOCKED}    {MINE}", "took turns"),
    ("        thread.start()", "        thread.start(); thread.join()", "took turns"),
    ("    for thread in threads:\n        thread.join()\n", "", "still counting"),
    (f"{LOCKED}    ", "        lock.acquire()\n", "never came back"),
    ("tally.value += mine", "tally += mine", "UnboundLocalError"),
    ("x < 0", "x <= 0", "are negative"),
]
