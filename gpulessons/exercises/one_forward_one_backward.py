"""Write the order of one stage under 1F1B: fill the pipe, then go backward and forward in turn."""

from collections import Counter
from collections.abc import Iterable

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble
from gpulessons.workers.schedules import (
    BACKWARD,
    FORWARD,
    bubble,
    kept,
    one_forward_one_backward,
    simulate,
    waiting,
)

stub = '''\
def my_order(stage, stages, batches):
    """[("F", 0), …, ("B", batches - 1)]: what stage number `stage`, from 0, does in turn."""
    # Your turn. The last stage can go backward after its first forward. How many forwards has
    # the one before it done by then?
    raise NotImplementedError
'''

solution = '''\
def my_order(stage, stages, batches):
    """[("F", 0), …, ("B", batches - 1)]: what stage number `stage`, from 0, does in turn."""
    ahead = min(stages - stage, batches)
    order = [("F", m) for m in range(ahead)]
    for m in range(batches):
        order.append(("B", m))
        if ahead + m < batches:
            order.append(("F", ahead + m))
    return order
'''

SIZES = [(4, 8), (2, 4), (4, 4), (4, 2), (8, 3), (1, 1)]  # stages, micro-batches


def judge(order):
    """Run the orders of all stages, and compare the bubble and what is kept with 1F1B's."""
    for stages, batches in SIZES:
        case = f"with {stages} stages and {batches} micro-batches"
        orders = [listed(order(stage, stages, batches)) for stage in range(stages)]
        for stage in range(stages):
            refuse_nonsense(orders[stage], batches, f"Stage {stage}, {case},")
        try:
            tasks = simulate(lambda stage, *_, orders=orders: orders[stage], stages, batches)
        except ValueError as circle:
            hint = "with how many forwards each stage begins, and the order of its backwards."
            raise Trouble(str(circle), hint) from None
        for stage in range(stages):
            held, due = kept(tasks, stage), min(stages - stage, batches)
            if held > due:
                raise Trouble(
                    f"Stage {stage}, {case}, keeps {held} micro-batches, and {due} would do.",
                    "how many forwards come before the first backward.",
                )
        lost, least = waiting(tasks), bubble(stages, batches)
        if lost > least + 1e-9:
            raise Trouble(f"The pipe waits {lost:.0%} of the time {case}, not {least:.0%}.",
                          "how many forwards fill it.")  # fmt: skip
    if any(listed(order(s, 4, 8)) != one_forward_one_backward(s, 4, 8) for s in range(4)):
        return "An order of your own, and it waits and keeps no more than 1F1B."
    return "The smallest bubble, and never more kept than there are stages."


def listed(order):
    """As a list of tuples, where it is anything of that kind."""
    order = list(order) if isinstance(order, Iterable) else [order]
    return [tuple(task) if isinstance(task, list) else task for task in order]


def refuse_nonsense(order, batches, who):
    """Trouble, unless each micro-batch goes forward once, and then backward once."""
    ways = FORWARD, BACKWARD
    if not all(isinstance(t, tuple) and len(t) == 2 and t[0] in ways for t in order):
        raise Trouble(f'{who} has no list of ("F" or "B", number).', "its return.")
    seen = Counter()
    for kind, m in order:
        if m not in range(batches):
            raise Trouble(f"{who} does {kind, m}, which is not in the minibatch.", "its range.")
        if kind == BACKWARD and not seen[FORWARD, m]:
            raise Trouble(f"{who} takes micro-batch {m} backward before it went forward.",
                          "how many forwards come first: the stage's own one counts.")  # fmt: skip
        seen[kind, m] += 1
    for kind, way in ((FORWARD, "forward"), (BACKWARD, "backward")):
        for m in range(batches):
            if not seen[kind, m]:
                raise Trouble(f"{who} never goes {way} with micro-batch {m}.", "the last ones.")
            if seen[kind, m] > 1:
                raise Trouble(f"{who} goes {way} twice with micro-batch {m}.", "the loop.")


exercise = Exercise(__name__, stub, solution, judge=judge, forbidden=(one_forward_one_backward,))
