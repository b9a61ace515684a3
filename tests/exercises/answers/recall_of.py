"""Answers to `recall_of`: its solution with one edit each."""

HITS = "[len(set(mine) & set(due)) for mine, due in zip(found, truth)]"

wrong = [
    (HITS, "[(mine[:len(due)] == due[:len(mine)]).sum() for mine, due in zip(found, truth)]",
     "in another order"),
    ("/ truth.size", "/ found.size", "one was found of each four"),
    ("/ truth.size", "/ len(truth)", "It says 4"),
    (HITS, "[sum(n in due for n in mine) for mine, due in zip(found, truth)]", "named twice"),
    (HITS, "[len(set(found.ravel()) & set(truth.ravel()))]", "the other's neighbors"),
    ("sum(hits) / truth.size", "min(1, sum(hits) / found.size)", "one was found of each four"),
    ("sum(hits) / truth.size", "sum(hits)", "It says 8"),
    ("return sum(hits) / truth.size", "print(sum(hits) / truth.size)", "returned nothing"),
    ("sum(hits) / truth.size", "'all'", "not a number"),
    ("sum(hits) / truth.size", "{4: 1, 0: 0}.get(hits[0], 0.5)", "three of eight"),
]  # fmt: skip
right = [
    (HITS, "[len(np.intersect1d(mine, due)) for mine, due in zip(found, truth)]"),
    (HITS, "[np.isin(due, mine).sum() for mine, due in zip(found, truth)]"),
    ("sum(hits) / truth.size",
     "(found[:, :, None] == truth[:, None, :]).any(axis=1).mean()"),
]  # fmt: skip
