"""Which of the five ways to a wrong number is it? Three reports to diagnose."""

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, number

text = '''\
# a  On a GPU: ten calls of net(x) untimed, then the median of a hundred:
#        start = perf_counter(); net(x); times.append(perf_counter() - start)
# b  "900 times faster than a CPU": a kernel, waited for, against [max(v, 0) for v in an_array];
#        medians of a hundred calls each, after one that is not counted
# c  "This memory reads 300 GB/s": the median of a hundred sums of the same 4 MB
### BEGIN SOLUTION
my_diagnosis = {"a": 2, "b": 5, "c": 3}  # which of the five ways is each?
### STUB
my_diagnosis = {"a": ..., "b": ..., "c": ...}  # which of the five ways is each?
### END SOLUTION
'''

RIGHT = {"a": 2, "b": 5, "c": 3}
WHY_NOT = {  # what each report has done right
    "a": "It left out the first calls, and timed a hundred. But what does a GPU's call return?",
    "b": "Both are warm, waited for and sampled. But who else could have run on that CPU?",
    "c": "The sum is done when it returns, and there are a hundred. But where are 4 MB by then?",
}
HINT = "the five headings above: each names one."


def judge(answer):
    for which, right in RIGHT.items():
        if not isinstance(answer, dict) or which not in answer:
            raise Mismatch(f"{which} has no number.", HINT)
        if number(answer[which], HINT) != right:
            raise Mismatch(f"{which} is another one. {WHY_NOT[which]}", HINT)
    return "Nobody waited; a loop over NumPy's elements; 4 MB that a cache holds."


exercise = Exercise(__name__, text, judge=judge)
