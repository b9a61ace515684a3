"""Write the order of one stage under 1F1B: fill the pipe, then go backward and forward in turn."""

from collections.abc import Iterable

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, Wasteful
from gpulessons.units import percent
from gpulessons.workers.schedules import (
    BACKWARD,
    FORWARD,
    bubble,
    kept,
    one_forward_one_backward,
    simulate,
    waiting,
)

text = '''\
def my_order(stage, stages, batches):
    """[("F", 0), …, ("B", batches - 1)]: what stage number `stage`, from 0, does in turn."""
    ### BEGIN SOLUTION
    ahead = min(stages - stage, batches)
    order = [("F", m) for m in range(ahead)]
    for m in range(batches):
        order.append(("B", m))
        if ahead + m < batches:
            order.append(("F", ahead + m))
    return order
    ### STUB
    # Your turn. The last stage can go backward after its first forward. How many forwards has
    # the one before it done by then?
    raise NotImplementedError
    ### END SOLUTION
'''

SIZES = [(4, 8), (2, 4), (4, 4), (4, 2), (8, 3), (1, 1)]  # stages, micro-batches


def judge(order):
    """Run the orders of all stages, and compare the bubble and what is kept with 1F1B's."""
    for stages, batches in SIZES:
        case = f"with {stages} stages and {batches} micro-batches"
        orders = [tasks_of(run(order, (stage, stages, batches), {})) for stage in range(stages)]
        for stage, tasks in enumerate(orders):
            check_tasks(tasks, batches, f"Stage {stage}, {case},")
        try:
            done = simulate(lambda stage, *_, orders=orders: orders[stage], stages, batches)
        except ValueError as circle:
            hint = "with how many forwards each stage begins, and the order of its backwards."
            raise Mismatch(str(circle), hint) from None
        for stage in range(stages):
            held, most = kept(done, stage), min(stages - stage, batches)
            if held > most:
                raise Wasteful(f"stage {stage}, {case}, keeps {held} micro-batches, and {most} "
                               "would do.",
                               "how many forwards come before the first backward.")  # fmt: skip
        lost, least = waiting(done), bubble(stages, batches)
        if lost > least + 1e-9:
            raise Wasteful(f"the pipe waits {percent(lost)} of the time {case}, not "
                           f"{percent(least)}.", "how many forwards fill it.")  # fmt: skip
    return "The smallest bubble, and never more kept than there are stages."


def tasks_of(order):
    """As a list of tuples, where it is anything of that kind."""
    order = order if isinstance(order, Iterable) else [order]
    return [tuple(task) if isinstance(task, list | tuple) else (task,) for task in order]


def check_tasks(tasks, batches, who):
    """Mismatch, unless each micro-batch goes forward once, and then backward once."""
    expected = {(way, m) for way in (FORWARD, BACKWARD) for m in range(batches)}
    if others := [task for task in tasks if task not in expected]:
        raise Mismatch(f'{who} does {others[0]}, where ("F" or "B", number) is expected, up to '
                       f"{batches - 1}.", "its return, and its range.")  # fmt: skip
    if missing := expected - set(tasks) or len(tasks) > len(expected):
        what = f"never does {min(missing)}" if missing is not True else "does something twice"
        raise Mismatch(f"{who} {what}.", "the loop, and its last turns.")
    for way, m in tasks:
        if way == BACKWARD and tasks.index((FORWARD, m)) > tasks.index((BACKWARD, m)):
            raise Mismatch(f"{who} takes micro-batch {m} backward before it went forward.",
                           "how many forwards come first: the stage's own one counts.")  # fmt: skip


exercise = Exercise(__name__, text, judge=judge, forbidden=(one_forward_one_backward,))
