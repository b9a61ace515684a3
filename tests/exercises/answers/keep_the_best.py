"""Answers to `keep_the_best`: its solution with one edit each."""

LOOP = """    for distance, index in stream:
        if len(best) == k and not distance < best[-1][0]:
            continue  # farther than all of them, and so are nearly all that come
        best.append((distance, index))
        best.sort()
        del best[k:]
    return best
"""
HEAP = """    import heapq
    for distance, index in stream:
        if len(best) < k:
            heapq.heappush(best, (-distance, -index))
        elif distance < -best[0][0]:
            heapq.heapreplace(best, (-distance, -index))
    return [(-distance, -index) for distance, index in sorted(best, reverse=True)]
"""
INSERT = """    for distance, index in stream:
        if len(best) == k and distance >= best[-1][0]:
            continue
        place = len(best)
        while place and distance < best[place - 1][0]:
            place -= 1
        best.insert(place, (distance, index))
        del best[k:]
    return best
"""

wrong = [
    (LOOP, "    return sorted(stream)[:k]\n", "Right, but after"),
    ("if len(best) == k and not distance < best[-1][0]:", "if False:", "Right, but after"),
    ("not distance <", "distance <", "Place 0 has"),
    ("len(best) == k and not", "best and not", "It kept"),
    ("best[-1][0]", "best[0][0]", "Place 2 has"),
    ("            continue  #", "            break  #", "left before the end"),
    ("        del best[k:]\n", "", "It kept"),
    ("        best.sort()\n", "        best.sort(key=lambda pair: (pair[0], -pair[1]))\n",
     "higher index"),
    (LOOP, INSERT.replace("distance < best[place", "distance <= best[place"), "higher index"),
    (LOOP, HEAP.replace(", reverse=True", ""), "wrong order"),
    (LOOP, "    return sorted(stream, key=lambda x: (x[0].value, x[1]))[:k]\n",
     "no attribute 'value'"),
    (LOOP, "    return sorted(stream, key=lambda x: (x[0].within(), x[1]))[:k]\n",
     "after 0 comparisons of 2,000"),
    (LOOP, "    return sorted(stream, key=lambda x: (float(repr(x[0])), x[1]))[:k]\n",
     "whoever stays out has to lose one"),
    (LOOP, "    return sorted(stream, key=lambda x: (hash(x[0]), x[1]))[:k]\n", "unhashable"),
    ("return best", "best", "returned nothing"),
    ("return best", "return [distance for distance, _ in best]", "not pairs"),
]  # fmt: skip
right = [
    (LOOP, INSERT, "nearly all are turned away"),
    (LOOP, HEAP),
    (LOOP, "    import heapq\n    return heapq.nsmallest(k, stream)\n"),
    ("not distance < best[-1][0]", "distance >= best[-1][0]"),
    ("        best.sort()\n", "        best.sort(key=lambda pair: pair[0])\n"),
]
