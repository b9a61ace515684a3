"""Answers to `within_a_factor`: its solution with one edit each."""

FACTOR = "max(guess / true, true / guess) <= factor"
SHARE = "sum(near) / len(near) if near else None"

wrong = [
    (FACTOR, "guess / true <= factor", "too low is off by a factor too"),
    (FACTOR, "true / guess <= factor", "too high is off by a factor too"),
    (FACTOR, "abs(guess - true) <= factor", "That is a difference: 1,000 for 900"),
    (FACTOR, "guess - true <= factor", "a difference, and one way only"),
    (FACTOR, "abs(guess - true) / true <= factor - 1", "too low is off by a factor too"),
    (FACTOR, "abs(guess / true - 1) <= factor", "A relative difference is no factor"),
    ("<= factor", "< factor", "off by just that factor is within it"),
    (FACTOR, "round(max(guess / true, true / guess)) <= factor", "rounded before it was compared"),
    (FACTOR, "max(guess // true, true // guess) <= factor", "rounded before it was compared"),
    (SHARE, "round(sum(near) / len(near), 2) if near else None", "The share was rounded"),
    (SHARE, "round(sum(near) / len(near)) if near else None", "rounded: it is 0 or 1"),
    (SHARE, "sum(near) if near else None", "divide by how many guesses"),
    (SHARE, "100 * sum(near) / len(near) if near else None", "That is in percent"),
    (SHARE, "near", "is no share"),
    (SHARE, "None", "None is no share"),
    (SHARE, "sum(near) / len(near)", "divides by zero"),
    (SHARE, "sum(near) / max(1, len(near))", "No guesses have no share"),
    (SHARE, "sum(near) / len(near) if near else float('nan')", "No guesses have no share"),
    (SHARE, "sum(near) / len(factor)", "It raised TypeError"),
    ("zip(guesses, measured)", "zip(sorted(guesses), sorted(measured))", "is due"),
    (SHARE, "1 / 3", "factor of 16: it was 0.3333, where"),
]
right = [
    (FACTOR, "1 / factor <= guess / true <= factor"),
    (FACTOR, "guess <= factor * true and true <= factor * guess"),
    (FACTOR, "abs(np.log2(guess / true)) <= np.log2(factor)"),
    (FACTOR, "abs(np.log(guess) - np.log(true)) <= np.log(factor)"),
    (f"near = [{FACTOR} for guess, true in zip(guesses, measured)]\n    return {SHARE}",
     "if not guesses:\n        return None\n    ratio = np.array(guesses) / np.array(measured)\n"
     "    return np.mean(np.maximum(ratio, 1 / ratio) <= factor)"),
]  # fmt: skip
