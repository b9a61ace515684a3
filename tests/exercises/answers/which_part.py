"""Answers to `which_part`: its solution with one edit each."""

COST = "price * max(flops / flop_rate, bytes_moved / bandwidth)"
LAST = "return min(priced, key=cost)[0] if priced else None"

wrong = [
    (COST, "price * flops / flop_rate", "It looks at FLOP/s alone"),
    (COST, "price / flop_rate", "It looks at FLOP/s alone"),
    (COST, "price * bytes_moved / bandwidth", "It looks at bytes/s alone"),
    (COST, "price / bandwidth", "It looks at bytes/s alone"),
    (
        "max(flops / flop_rate, bytes_moved / bandwidth)",
        "(flops / flop_rate + bytes_moved / bandwidth)",
        "It adds both times",
    ),
    *(
        (
            COST,
            f"price * ((flops / flop_rate) ** {p} + (bytes_moved / bandwidth) ** {p}) ** (1/{p})",
            "It mixes both times",
        )
        for p in (2, 3, 4, 8)
    ),
    (COST, "price * np.hypot(flops / flop_rate, bytes_moved / bandwidth)", "It mixes both times"),
    ("bytes_moved / bandwidth", "1e10 / bandwidth", "the same whatever bytes_moved is"),
    ("flops / flop_rate", "1e11 / flop_rate", "costs least, and the answer was"),
    ("if device[3] is not None", "if device[3]", "A price of 0 is a price"),
    ("price * max(", "(price or float('inf')) * max(", "A price of 0 is a price"),
    ("price * max(", "price * min(", "the shorter of both times"),
    ("price * max(", "max(", "It names the fastest"),
    (COST, "price", "the lowest price"),
    (COST, "-flop_rate", "the most FLOP/s"),
    (COST, "-bandwidth", "the most bytes/s"),
    ("price * max(", "price / max(", "divides by the time"),
    ("return min(priced", "return max(priced", "costs most"),
    ("if device[3] is not None", "", "A price is None"),
    (
        "[device for device in devices if device[3] is not None]",
        "[(*device[:3], device[3] or 0) for device in devices]",
        "whose price nobody knows",
    ),
    (" if device[3] is not None", " if True", "A price is None"),
    (" if priced else None", "", "None is due"),
    ("if priced else None", "if priced else devices[0][0]", "and the answer was 'slate'"),
    ("key=cost)[0]", "key=cost)", "is not the name of a device"),
    ("min(priced, key=cost)[0]", "cost(priced[0])", "is not the name of a device"),
    (LAST, "return priced[0][0]", "the same whatever bytes_moved is"),
    (LAST, "pass", "None is not the name of a device"),
    ("flops / flop_rate", "flops * flop_rate", "costs least, and the answer was"),
]
right = [
    (LAST, "return sorted(priced, key=cost)[0][0] if priced else None"),
    (LAST, "return min(((cost(d), d[0]) for d in priced), default=(0, None))[1]"),
    ("    priced = [device for device in devices if device[3] is not None]\n    " + LAST,
     "    best, least = None, float('inf')\n    for device in devices:\n"
     "        if device[3] is not None and cost(device) < least:\n"
     "            best, least = device[0], cost(device)\n    return best"),
    ("price * max(flops / flop_rate, bytes_moved / bandwidth)",
     "max(price * flops / flop_rate, price * bytes_moved / bandwidth)"),
    (LAST, "return priced and min(priced, key=lambda d: cost(d))[0] or None"),
    ("        return price * max", "        if price is None:\n            return float('inf')\n"
     "        return price * max"),
]  # fmt: skip
