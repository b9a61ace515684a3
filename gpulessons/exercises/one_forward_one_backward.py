"""Write the order of one stage under 1F1B: fill the pipe, then go backward and forward in turn."""

from gpulessons.exercises.asking import solved
from gpulessons.grader.answers import plain
from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, Wasteful
from gpulessons.units import percent
from gpulessons.workers import schedules

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
        orders = [tasks_of(order, stage, stages, batches) for stage in range(stages)]
        try:
            done = schedules.simulate(lambda stage, *_, orders=orders: orders[stage],
                                      stages, batches)  # fmt: skip
        except ValueError as circle:
            hint = "with how many forwards each stage begins, and the order of its backwards."
            raise Mismatch(str(circle), hint) from None
        for stage in range(stages):
            held, most = schedules.kept(done, stage), min(stages - stage, batches)
            if held > most:
                raise Wasteful(f"stage {stage}, {case}, keeps {held} micro-batches, and {most} "
                               "would do.",
                               "how many forwards come before the first backward.")  # fmt: skip
        lost, least = schedules.waiting(done), schedules.bubble(stages, batches)
        if lost > least + 1e-9:
            raise Wasteful(f"the pipe waits {percent(lost)} of the time {case}, not "
                           f"{percent(least)}.", "how many forwards fill it.")  # fmt: skip
    return "The smallest bubble, and never more kept than there are stages."


def tasks_of(order, *case):
    """What a stage does in turn; Mismatch unless that is what the solution does, in any order."""
    tasks = [tuple(task) for task in plain(run(order, case, {}))]
    expected = solved(text)(*case)
    if sorted(map(repr, tasks)) != sorted(map(repr, expected)):
        stage, stages, batches = case
        raise Mismatch(f"Stage {stage} of {stages} does {tasks}: each of {batches} micro-batches "
                       'once ("F", number) and once ("B", number) is expected.',
                       "its return, its range, and the last turns of its loop.")  # fmt: skip
    return tasks


ours = schedules.one_forward_one_backward
exercise = Exercise(__name__, text, judge=judge, forbidden=(ours,))
