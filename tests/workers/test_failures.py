"""What is told of a failure, from an exception, a stack or bytes alone: no process is started."""

import json
import pickle

import pytest

from gpulessons.workers import WorkersFailed
from gpulessons.workers.launcher.failures import blamed, innermost, matters, place, told, waits
from gpulessons.workers.launcher.launching import hear, unpacked
from gpulessons.workers.worker import MARK

TORCH = "/home/me/.local/lib/python3.12/site-packages/torch"


def raised_in(file):
    with pytest.raises(RuntimeError) as trouble:
        exec(compile("raise RuntimeError('out of range')", file, "exec"))
    return trouble.value


def test_a_call_to_the_others_that_fails_has_lost_them_and_a_gpus_own_error_has_not():
    assert told(raised_in(f"{TORCH}/distributed/distributed_c10d.py"))["waiting"]
    own = told(raised_in(f"{TORCH}/cuda/streams.py"))
    assert own["words"].startswith("raised\n") and not own["waiting"]


@pytest.mark.parametrize(
    ("file", "waiting"),
    [
        (f"{TORCH}/distributed/distributed_c10d.py", True),
        (f"{TORCH}/autograd/graph.py", True),  # DistributedDataParallel sends from in there
        (f"{TORCH}/cuda/streams.py", True),
        (f"{TORCH}/nn/modules/linear.py", False),
    ],
)
def test_who_is_in_torchs_calls_to_others_or_in_its_backward_pass_is_kept_waiting(file, waiting):
    stack = f'Current thread 0x7f (most recent call first):\n  File "{file}", line 4 in f\n'
    assert waits(f'{stack}  File "/home/me/mine.py", line 2 in main\n') == waiting


@pytest.mark.parametrize(
    "file", [f"{TORCH}/cuda/streams.py", "/usr/lib/python3/dist-packages/torch/x.py", json.__file__]
)
def test_libraries_are_no_part_of_a_program_wherever_they_are_installed(file):
    assert not matters(file)
    assert matters("/home/me/mine.py")


def test_a_stack_names_a_file_as_it_is_called_and_not_as_ascii_has_it():
    stack = 'File "/home/\\u6587\\u6863/caf\\xe9/a\\x.py", line 7 in main\n'
    assert place(innermost(stack)) == "/home/文档/café/a\ufffd.py, line 7, in main"


def test_whatever_a_program_prints_is_for_the_reader_but_for_its_progress():
    shown, told, heard = [], [], {0: []}
    for line in ("\x1e[1, 2]", f'half a line{MARK}[1, 2, "steps"]'):
        hear(0, line, heard, shown.append, lambda *note: told.append(note))
    assert shown == ["worker 0: \x1e[1, 2]", "worker 0: half a line"]
    assert told == [(1, 2, "steps")]


def test_the_cause_is_told_before_its_consequences(tmp_path):
    for rank, waiting in enumerate([True, False, True]):
        trouble = json.dumps({"words": f"said {rank}", "waiting": waiting})
        (tmp_path / f"trouble-{rank}").write_text(trouble)
        (tmp_path / f"pid-{rank}").write_text("1")
    assert blamed(tmp_path, noise="", status=1) == (1, "said 1")


def test_a_result_whose_class_is_another_one_here_is_told_in_a_sentence():
    with pytest.raises(WorkersFailed, match=r"What worker 1 returned cannot .* restart Python"):
        unpacked(1, pickle.dumps(Gone).replace(b"Gone", b"Lost"))


class Gone:
    pass
