"""What is told of a failure, from an exception, a stack or bytes alone: no process is started."""

import json
import os
import pickle
import time

import pytest
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure

from gpulessons.workers import WorkersFailed
from gpulessons.workers.launcher.failures import (
    Ended,
    Failure,
    hung,
    innermost,
    matters,
    place,
    record,
    told,
    waits,
    why,
)
from gpulessons.workers.launcher.launching import hear, unpacked
from gpulessons.workers.launcher.torchrun import failures
from gpulessons.workers.worker import MARK

TORCH = "/home/me/.local/lib/python3.12/site-packages/torch"


def raised_in(file):
    with pytest.raises(RuntimeError) as trouble:
        exec(compile("raise RuntimeError('out of range')", file, "exec"))
    return trouble.value


def test_a_call_to_the_others_that_fails_has_lost_them_and_a_gpus_own_error_has_not():
    assert told(raised_in(f"{TORCH}/distributed/distributed_c10d.py"))[1]
    words, waiting = told(raised_in(f"{TORCH}/cuda/streams.py"))
    assert words.startswith("raised\n") and not waiting


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


def lost(rank, nanoseconds):
    return Failure(rank, 1, "lost the others at …", True, nanoseconds)


@pytest.mark.parametrize(
    ("failures", "elsewhere", "due"),
    [
        ([lost(0, 1), Failure(1, 1, "raised late", False, 3), Failure(2, 1, "raised", False, 2)],
         False, "worker 2 raised"),
        ([lost(0, 1), Failure(1, -9), Failure(2, -15)], False, "worker 1 was killed (SIGKILL)"),
        ([lost(0, 1), Failure(1, 3)], False, "worker 1 ended without a word (exit status 3)."),
        # By torchrun, when the others failed elsewhere; else by somebody, who was told first.
        ([lost(0, 1), Failure(1, -15)], True, "worker 0 lost the others"),
        ([lost(0, 1), Failure(2, -15), Failure(1, -15)], False, "worker 2 was ended by SIGTERM"),
        ([Failure(2, -15), lost(0, 1), Failure(1, -15)], True, "worker 2 was ended by SIGTERM"),
    ],
)  # fmt: skip
def test_the_cause_is_told_before_its_consequences(failures, elsewhere, due, tmp_path):
    told = why(tmp_path, Ended(tuple(failures)), 1, {}, elsewhere)
    assert told.startswith(due)


def test_who_left_as_if_all_were_well_is_missed_by_its_result(tmp_path):
    for rank in range(3):
        (tmp_path / f"pid-{rank}").write_text("1")
    (tmp_path / "result-1").write_bytes(b"")
    told = why(tmp_path, Ended((lost(0, 1),)), 1, {2: ["so long"]}, False)
    assert told == "worker 2 ended without a word (exit status 0).\nIts last lines:\n  so long"


@pytest.mark.parametrize(
    ("begun", "sentence"),
    [
        (False, "torchrun ended before its workers began: OSError: no"),
        (True, "torchrun failed: OSError: no"),
    ],
)
def test_what_torchrun_itself_raised_is_told_and_no_worker_is_blamed(begun, sentence, tmp_path):
    if begun:
        (tmp_path / "pid-0").write_text("1")
    assert why(tmp_path, Ended(raised="OSError: no"), 1, {}, False) == sentence


def test_workers_that_have_ended_are_not_said_to_hang(tmp_path):
    (tmp_path / "pid-0").write_text(str(2**30))
    (tmp_path / "stack-0").write_text("")
    assert hung(tmp_path, 5, {}) == (
        "No word for 5 s: torchrun does not tell how its workers ended. Was it stopped?"
    )


def test_what_is_recorded_has_the_form_of_torchs_own_error_files(tmp_path):
    file = tmp_path / "error.json"
    before = int(time.time())
    record(raised_in(f"{TORCH}/distributed/distributed_c10d.py"), str(file))
    after = time.time()
    found = ProcessFailure(local_rank=1, pid=1, exitcode=1, error_file=str(file))
    assert before <= found.timestamp <= after  # whole seconds, however long it all took
    (failure,) = failures({5: found})
    assert (failure.rank, failure.waiting) == (5, True)
    assert failure.words.startswith("lost the others at ")
    assert failure.words in str(ChildFailedError("hello", {5: found}))  # as torchrun prints it


def test_nothing_is_recorded_in_place_of_the_null_device(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "devnull", str(tmp_path / "null"))
    record(ValueError("unheard"), os.devnull)
    assert not list(tmp_path.iterdir())


def test_a_worker_that_recorded_nothing_has_no_words_but_its_exit_status(tmp_path):
    found = ProcessFailure(local_rank=0, pid=1, exitcode=-11, error_file=str(tmp_path / "none"))
    assert failures({0: found}) == (Failure(0, -11),)


def test_a_result_whose_class_is_another_one_here_is_told_in_a_sentence():
    with pytest.raises(WorkersFailed, match=r"What worker 1 returned cannot .* restart Python"):
        unpacked(1, pickle.dumps(Gone).replace(b"Gone", b"Lost"))


class Gone:
    pass
