"""The command line: what it prints, what it refuses in a sentence, and what it never loses."""

import io
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
from importlib import metadata
from pathlib import Path

import pytest

import gpulessons
from gpulessons import cli, hardware, progress
from gpulessons.cli import copies, health, main, opening, terminal
from gpulessons.hardware import why_no_gpu
from gpulessons.measure import compare as comparing
from gpulessons.measure.recordings import Recording, load, save

ROOT = Path(__file__).parents[1]
QUICK = ["--size", "100", "--seconds", "0.01"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Every command runs in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def three(tmp_path_factory, monkeypatch):
    """A package that came with three notebooks, in a wheel."""
    package = tmp_path_factory.mktemp("site") / "gpulessons"
    (package / "_notebooks").mkdir(parents=True)
    for name in ("00_start", "01_modes", "02_more"):
        (package / "_notebooks" / f"{name}.ipynb").write_text(f"the course's {name}")
    monkeypatch.setattr(hardware.files, "PACKAGE", package)
    return package / "_notebooks"


@pytest.fixture
def executed(monkeypatch):
    """The commands that `lab` hands the process over to."""
    commands = []
    monkeypatch.setattr(os, "execve", lambda program, command, settings: commands.append(command))
    return commands


@pytest.fixture
def interrupt(monkeypatch):
    """interrupt(n): Ctrl-C arrives after n entries have been measured."""

    def after(n):
        measured = comparing.timings

        def timings(*arguments, **options):
            for count, entry in enumerate(measured(*arguments, **options)):
                if count == n:
                    raise KeyboardInterrupt
                yield entry

        monkeypatch.setattr(comparing, "timings", timings)

    return after


@pytest.fixture
def read_only():
    """A folder that even root cannot write to: for the length of the test root is nobody."""
    root = os.geteuid() == 0
    gpulessons.machine(), gpulessons.relu, gpulessons.claims.judged  # what nobody may not even read
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        if root:
            os.seteuid(65534)
        yield Path(folder)
        if root:
            os.seteuid(0)


def refused(capsys, *arguments, status=1):
    """The one line on stderr with which a command refused."""
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == status
    captured = capsys.readouterr()
    said = [line.removeprefix("gpulessons: ") for line in captured.err.splitlines()]
    *before, last = [line for line in said if not line.startswith("Timing ")]
    assert (captured.out, before) == ("", [])
    return last


def files(folder):
    """What a learner sees in a folder: names that begin with a point are hidden."""
    seen = [path for path in Path(folder).iterdir() if path.name[0] != "."]
    return {path.name: path.read_text() for path in seen}


def environment(**more):
    """As a terminal has it: output is buffered, whatever runs the tests."""
    ours = {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "PYTHONUNBUFFERED": ""}
    return {**os.environ, **ours, **more}


def started(code, **more):
    """A process of its own that runs this code."""
    command = [sys.executable, "-c", "import sys\n" + textwrap.dedent(code)]
    pipe = subprocess.PIPE
    streams = {"stdout": pipe, "stderr": pipe, "encoding": "utf-8"}
    return subprocess.Popen(command, **streams, env=environment(**more))


# -- What was misspelled


def test_an_unknown_command_op_or_version_is_answered_with_the_nearest(capsys):
    assert "Did you mean 'compare'?" in refused(capsys, "comapre", "relu", status=2)
    assert "Did you mean 'attention'?" in refused(capsys, "compare", "attenton", status=2)
    assert "Did you mean 'relu'" in refused(capsys, "record", "ReLU", status=2)
    assert "Did you mean 'NumPy'?" in refused(
        capsys, "compare", "relu", "--version", "numpy", status=2
    )
    assert "Did you mean 'CUDA, a thread per element'" in refused(
        capsys, "compare", "relu", "--version", "cuda", status=2
    )
    assert "Choose from 'relu', 'gelu'" in refused(capsys, "compare", "zzz", status=2)


def test_what_is_left_out_or_too_much_is_named_and_nothing_else(capsys):
    assert "required: DIR. Try: gpulessons notebooks --help" in refused(
        capsys, "notebooks", status=2
    )
    assert "unrecognized arguments: relu. Try: gpulessons --help" in refused(
        capsys, "doctor", "relu", status=2
    )


def test_one_misspelled_op_stops_a_recording_before_anything_is_measured(capsys, tmp_path):
    refused(capsys, "record", "relu", "sigmod", status=2)
    assert files(tmp_path) == {}


@pytest.mark.parametrize("size", ["nan", "inf", "-5", "0", "1.5", "", "many", "1e400", "9" * 5000])
def test_a_size_that_is_none_is_refused(capsys, size):
    for command in (["compare", "relu"], ["record"]):
        words = refused(capsys, *command, "--size", size, status=2)
        assert "a size is a whole number of at least 1" in words


def test_sizes_are_read_as_people_write_them():
    assert {terminal.size(text) for text in ("1000", "1_000", "1,000", "1e3")} == {1000}


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_every_command(capsys, monkeypatch, arguments):
    monkeypatch.setenv("COLUMNS", "80")  # on a narrower terminal words begin where commands do
    with pytest.raises(SystemExit) as done:
        main(arguments)
    assert done.value.code == 0
    listed = re.findall(r"^ {4}(\w+)", capsys.readouterr().out, re.MULTILINE)
    assert listed == list(cli.COMMANDS)


# -- doctor


def test_doctor_says_what_works_and_why_the_rest_does_not(capsys):
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert repr(gpulessons.machine()) in said
    for name, backend in gpulessons.backends.BACKENDS.items():
        why = (name == "gpu" and why_no_gpu()) or backend.why_not()
        assert re.search(rf"^{name} .*{re.escape(why or 'ready')}$", said, re.M)
    assert "says more" not in said  # this is where more is said
    assert f"numpy {metadata.version('numpy')}" in said
    assert "The course can run here" in said


def test_without_a_gpu_doctor_names_those_whose_times_are_modelled(capsys, monkeypatch):
    for backend in gpulessons.backends.BACKENDS.values():
        monkeypatch.setattr(type(backend), "why_not", lambda self: "There is none.")
    assert main(["doctor"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "modelled" in line]
    assert "T4" in line and "A100" in line


def hide(monkeypatch, *missing):
    version = health.installed
    monkeypatch.setattr(health, "installed", lambda n: "" if n in missing else version(n))


def test_doctor_names_what_is_missing_and_how_to_install_it(capsys, monkeypatch):
    hide(monkeypatch, "numba", "tqdm")
    assert main(["doctor"]) == 1
    assert "cannot run without numba, tqdm. Try: " in (said := capsys.readouterr().out)
    assert "-m pip install numba tqdm" in said and "can run here" not in said


def test_doctor_lets_the_course_run_without_jupyterlab(capsys, monkeypatch):
    hide(monkeypatch, "jupyterlab")
    assert main(["doctor"]) == 0
    assert f"{sys.executable} -m pip install 'gpulessons[lab]'" in capsys.readouterr().out


# -- compare


def test_compare_prints_the_table_of_the_named_versions_and_sizes(capsys):
    wanted = ["--version", "NumPy", "Numba, one core", "--size", "100", "2e2", "--seconds", "0.01"]
    assert main(["compare", "relu", *wanted]) == 0
    title, head, *rows = capsys.readouterr().out.splitlines()
    assert title.startswith("relu, time of one call (live: ")
    assert re.split(r"  +", head)[:3] == ["version", "100 elements", "200"]
    assert [re.split(r"  +", row)[0] for row in rows[:2]] == ["NumPy", "Numba, one core"]


def imaginary(path, *comparisons):
    """A recording made on a machine that is not this one, of these comparisons."""
    machine = gpulessons.machine()
    changed = type(machine)(**{**vars(machine), "cpu": "Imaginary CPU"})
    return save(Recording(changed, comparisons), path)


def quick(op="relu", sizes=(100,), versions=("NumPy",)):
    return gpulessons.compare(getattr(gpulessons, op), sizes, versions, budget=0.01, recorded=())


def test_compare_lays_files_beside_and_says_which_hold_nothing_of_the_op(capsys, tmp_path):
    one, other = imaginary(tmp_path / "1.json", quick()), imaginary(tmp_path / "2.json")
    numpy = ["compare", "relu", "--version", "NumPy", *QUICK]
    assert main([*numpy, "--with", str(one), str(other)]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("relu, time of one call (live: ")
    assert re.search("^A +live: ", captured.out, re.M), "this machine comes first"
    assert re.search(rf"^B +recorded: Imaginary CPU.*, {one}$", captured.out, re.M)
    assert f"{other} holds no relu of these versions and sizes." in captured.err


def test_without_an_op_nothing_is_measured_and_all_that_files_share_is_compared(
    capsys, tmp_path, monkeypatch
):
    both = quick(), quick("copy")
    one, two = (imaginary(tmp_path / f"{n}.json", *both[n:]) for n in range(2))
    monkeypatch.setattr(gpulessons, "compare", None)
    assert main(["compare", "--with", str(one), str(two)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.startswith("2 machines side by side. ")
    assert "\ncopy, 100 " in captured.out and "relu" not in captured.out


def test_several_ops_are_measured_and_compared_only_they(capsys, tmp_path):
    path = imaginary(tmp_path / "1.json", *map(quick, ("relu", "copy", "gelu")))
    assert main(["compare", "copy", "relu", *QUICK, "--version", "NumPy", "--with", str(path)]) == 0
    said = capsys.readouterr().out
    assert said.count("time of one call (live: ") == 2
    assert said.index("\ncopy, 100 ") < said.index("\nrelu, 100 ") and "gelu" not in said


def test_a_progress_bar_is_drawn_on_a_terminal_and_not_into_a_file(monkeypatch):
    for watched in (True, False):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda watched=watched: watched, raising=False)
        monkeypatch.setattr(sys, "stderr", stream)
        moments = iter([0, 3, 3, 3, 3])
        monkeypatch.setattr(progress, "monotonic", lambda moments=moments: next(moments))
        with progress.progress_bar("comparing") as advance:
            advance(1, 2, "NumPy")
            advance(2, 2, "NumPy")
        assert ("comparing" in stream.getvalue()) == watched


def test_ctrl_c_in_a_terminal_prints_what_was_measured_and_exits_130():
    running = started("""
        from gpulessons.measure import compare as comparing
        from gpulessons.measure import rounds
        from gpulessons.cli import main
        measured, ended = comparing.timings, rounds.Run.ended
        def timings(*arguments, **options):
            for entry in measured(*arguments, **options):
                yield entry
                print("one is measured", file=sys.stderr, flush=True)
        comparing.timings = timings
        rounds.Run.ended = lambda run, budget: run.problem.size == 1000 and ended(run, budget)
        sys.exit(main("compare relu --version NumPy --size 1000 2000 3000".split()))
    """)
    while (line := running.stderr.readline()) and "one is measured" not in line:
        pass
    running.send_signal(signal.SIGINT)
    try:
        said, rest = running.communicate(timeout=300)
    finally:
        running.kill()
    assert running.returncode == 130, rest
    assert "interrupted: what was measured until then is here" in said
    assert re.search(r"^NumPy +[\d.]+ [nµ]s", said, re.M), said
    assert "3,000" not in said
    assert "Traceback" not in said + rest


# -- record


def test_record_writes_one_file_of_every_op_named(capsys, tmp_path):
    assert main(["record", "relu", "copy", *QUICK]) == 0
    (path,) = tmp_path.iterdir()
    assert re.fullmatch(r"recording-[\w.-]+-\d{4}-\d\d-\d\d-\d{6}\.json", path.name)
    recording = load(path)
    assert [each.op for each in recording.comparisons] == ["relu", "copy"]
    assert recording.machine == gpulessons.machine()
    assert all(each.timings for each in recording.comparisons)
    assert f"copy is recorded in {path}" in capsys.readouterr().err


def record(*arguments):
    return main(["record", *arguments, "--out", "r.json", *QUICK])


@pytest.fixture
def quickly(monkeypatch):
    """Only NumPy's versions are measured: what happens to the file is the question here."""

    whole = gpulessons.compare

    def compare(op, sizes=None, versions=("NumPy",), **how):
        return whole(op, sizes, versions, **how)

    monkeypatch.setattr(gpulessons, "compare", compare)


def test_a_file_that_is_there_is_refused_and_left_alone(capsys, tmp_path):
    (tmp_path / "r.json").write_text("precious notes")
    assert "It stays as it is" in refused(capsys, "record", "relu", "--out", "r.json")
    assert files(tmp_path) == {"r.json": "precious notes"}


def test_an_interrupted_recording_keeps_what_it_measured(capsys, interrupt, quickly):
    interrupt(1)
    assert main(["record", "relu", "triad", "--out", "r.json", "--size", "100", "200",
                 "--seconds", "0.01"]) == 130  # fmt: skip
    recording = load("r.json")
    assert [each.op for each in recording.comparisons] == ["relu"]
    assert [entry.size for entry in recording.of("relu")[0].entries] == [100]


def test_an_op_of_which_nothing_was_measured_leaves_no_file(interrupt, quickly, tmp_path):
    interrupt(0)
    assert record("relu") == 130
    assert files(tmp_path) == {}


def test_each_op_is_in_the_file_before_the_next_is_measured(monkeypatch, quickly):
    compare = gpulessons.compare

    def watched(op, *arguments, **how):
        if op.name == "triad":
            assert [each.op for each in load("r.json").comparisons] == ["relu", "copy"]
        return compare(op, *arguments, **how)

    monkeypatch.setattr(gpulessons, "compare", watched)
    assert record("relu", "copy", "triad") == 0


# -- notebooks, lab


def test_notebooks_are_copied_out_and_again_where_they_did_not_change(capsys, three):
    for _ in range(2):
        assert main(["notebooks", "course/mine"]) == 0
    assert files("course/mine") == files(three)
    assert f"3 notebooks are in {Path('course/mine').absolute()}\n" in capsys.readouterr().out


def test_a_changed_notebook_is_never_replaced(capsys, three):
    Path("course").mkdir()
    Path("course/01_modes.ipynb").write_text("my answers")
    words = refused(capsys, "notebooks", "course")
    assert "01_modes.ipynb" in words and "nothing was copied" in words
    assert files("course") == {"01_modes.ipynb": "my answers"}


def test_where_no_notebook_can_be_written_a_sentence_says_so(capsys, monkeypatch, read_only):
    monkeypatch.setattr(copies, "carried", lambda: [])  # nobody may not read them, either
    for command in ("notebooks", "lab"):
        words = refused(capsys, command, read_only / "course")
        assert f"Nothing can be written in {read_only / 'course'} (Permission denied)" in words


def renew(three, *names):
    """The course changes these notebooks."""
    for name in names:
        (three / name).write_text(f"the course's new {name}")


def test_lab_copies_what_is_not_there_and_opens_the_first(capsys, three, executed, tmp_path):
    main(["lab"])
    folder = tmp_path / "gpulessons-notebooks"
    assert files(folder) == files(three)
    said = capsys.readouterr().err
    assert f"Your notebooks are in {folder}" in said and "newer" not in said
    (command,) = executed
    assert command[:4] == [sys.executable, "-m", "jupyterlab", str(folder)]
    assert "--LabApp.default_url=/lab/tree/00_start.ipynb" in command


def test_lab_brings_in_what_is_new_and_keeps_what_was_changed(capsys, three, executed):
    main(["lab", "mine"])
    Path("mine/01_modes.ipynb").write_text("my answers")
    renew(three, "01_modes.ipynb", "02_more.ipynb", "03_new.ipynb")
    capsys.readouterr()
    main(["lab", "mine"])
    assert files("mine") == {**files(three), "01_modes.ipynb": "my answers"}
    said = capsys.readouterr().err
    assert "newer versions of 01_modes.ipynb, which you changed" in said
    Path("mine/01_modes.ipynb").rename("mine/answers.ipynb")  # as the sentence advises
    main(["lab", "mine"])
    assert files("mine") == {**files(three), "answers.ipynb": "my answers"}


def test_lab_in_a_checkout_opens_a_copy_that_git_ignores(three, executed, tmp_path):
    checkout = three.parents[1]
    (checkout / "pyproject.toml").write_text("")
    three.rename(checkout / "notebooks")
    main(["lab"])
    assert executed[0][3] == str(checkout / "my-notebooks")
    assert files(checkout / "my-notebooks") == files(checkout / "notebooks")
    assert files(tmp_path) == {}
    assert "my-notebooks/" in (ROOT / ".gitignore").read_text().splitlines()


def test_in_the_lab_a_notebook_finds_the_command_of_this_environment(three, monkeypatch):
    settings = {}
    monkeypatch.setattr(os, "execve", lambda program, command, given: settings.update(given))
    cli.main(["lab"])
    assert settings["PATH"].split(os.pathsep)[0] == sysconfig.get_path("scripts")


def test_without_a_screen_lab_opens_no_browser_and_says_what_to_do(
    monkeypatch, capsys, three, executed
):
    monkeypatch.setattr(sys, "platform", "linux")
    for screen in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(screen, raising=False)
    main(["lab"])
    assert "--no-browser" in executed[0] and "address" in capsys.readouterr().err
    for screen in ("DISPLAY", "WAYLAND_DISPLAY"):
        with monkeypatch.context() as patched:
            patched.setenv(screen, ":0")
            main(["lab"])
        assert "--no-browser" not in executed[-1]
    monkeypatch.setattr(sys, "platform", "darwin")  # a screen needs no variable there
    main(["lab"])
    assert "--no-browser" not in executed[-1]


def test_without_jupyterlab_a_sentence_says_how_to_get_it(capsys, monkeypatch, three, tmp_path):
    monkeypatch.setattr(opening.util, "find_spec", lambda name: None)
    assert "-m pip install 'gpulessons[lab]'" in refused(capsys, "lab")
    assert files(tmp_path) == {}


# -- As a process


def test_the_exit_status_reaches_the_shell():
    command = [sys.executable, "-m", "gpulessons", "compare", "rleu"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gpulessons: There is no op 'rleu'. Did you mean 'relu'?\n"


def test_a_misspelling_is_answered_without_loading_anything_heavy():
    said, _ = started("""
        from gpulessons.cli import main
        main(["compare", "rleu"])
        print(*{"numpy", "numba", "torch", "matplotlib", "ipywidgets"} & set(sys.modules))
    """).communicate()
    assert said == "\n"


PRINTING = """
    from gpulessons.cli import COMMANDS, main
    COMMANDS["claims"] = lambda options: print("12 \\xb5s, 3\\xd7")
    sys.exit(main(["claims", "3"]))
"""


def test_a_terminal_without_the_characters_still_shows_the_words():
    running = started(PRINTING, PYTHONIOENCODING="ascii")
    said, trouble = running.communicate()
    assert (running.returncode, said, trouble) == (0, "12 ?s, 3?\n", "")


@pytest.mark.parametrize("arguments", [["claims", "3"], ["--help"], ["--version"]])
def test_a_reader_who_has_read_enough_is_no_trouble(arguments):
    running = started(PRINTING.replace('["claims", "3"]))', f"{arguments}))"))
    running.stdout.close()  # long before the first word
    assert running.stderr.read() == ""
    assert running.wait() == 1


# claims


def test_claims_prints_each_statement_with_its_word(capsys):
    assert main(["claims", "3", "9"]) == 0
    told = capsys.readouterr().out
    assert "9a. " in told and "DEPENDS by 2 authors" in told and "is what the words mean" in told


def test_claims_says_why_one_has_no_verdict(capsys):
    assert main(["claims", "27"]) == 0
    told = capsys.readouterr().out
    assert "nobody has measured a brain" in told and "Statements" not in told
