"""teaching/: its plans agree with the notebooks, its commands with the command line."""

import re
import shlex
from pathlib import Path

import pytest

import save_notebooks
from collect import home_of
from gpulessons import cli
from gpulessons.hardware import budget, machine
from gpulessons.measure.recordings import Recording

TEACHING = Path(__file__).parents[1] / "teaching"
PAGES = sorted(TEACHING.glob("*.md"))
LESSONS = {
    path.name: save_notebooks.read(path).cells[0].source for path in save_notebooks.lessons()
}
ROW = re.compile(r"\| (\d+:\d\d|at home) \| (?:(\d+) )?\| (.*) \|")
WEEK = re.compile(r"\| (\d+|at home) \| (\d+) \| (.*?) \| (?:(\d+) )?\|")
LESSON = 90  # minutes, of a week
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def plans(text):
    """{a plan's heading: its tables}, each a list of (at, minutes, what)."""
    found = {}
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        tables = [ROW.findall(table) for table in part.split("\n\n")]
        if any(tables):
            found[part.splitlines()[0]] = [table for table in tables if table]
    return found


PLANS = plans((TEACHING / "plans.md").read_text(encoding="utf-8"))
TERM = WEEK.findall((TEACHING / "term.md").read_text(encoding="utf-8"))
each_plan = pytest.mark.parametrize("plan", PLANS)


def lesson_in(what):
    """The file name of the notebook that a row is about; "" for none."""
    found = re.search(r"\]\(\.\./notebooks/([^)]+)\)", what)
    return found[1] if found else ""


def minutes_of(first):
    return int(re.search(r"\*\*Time\*\* (\d+) minutes", first)[1])


def counted(name):
    """A page's minutes up to "Further": its words, its cells of code, what its exercises name."""
    named = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    found = -0.5  # the first cell of code installs
    for cell in save_notebooks.read(TEACHING.parent / "notebooks" / name).cells:
        if cell.cell_type == "code":
            found += 0.5
            continue
        text, *further = re.split(r"^## Further$", cell.source, flags=re.M)
        asked = re.findall(r"^\*\*[^*]*?(\w+) minutes", text, re.M)
        found += len(text.split()) / 180
        found += sum(named.index(n.lower()) for n in asked if n.lower() in named)
        if further:
            return found


@pytest.mark.parametrize("name", LESSONS)
def test_a_page_has_at_most_1800_words_and_40_cells_of_code_before_it_goes_further(name):
    words = code = 0
    for cell in save_notebooks.read(TEACHING.parent / "notebooks" / name).cells:
        text, *further = re.split(r"^## Further$", cell.source, flags=re.M)
        words += len(text.split()) * (cell.cell_type == "markdown")
        code += cell.cell_type == "code"
        if further:
            break
    assert words <= 1_800 and code <= 41, (words, code)  # the first cell of code installs


def needed(first):
    """The numbers of the notebooks that one names as what you need, or what helps."""
    said = re.search(r"\*\*You need\*\* (.*?)\.(?:\s|$)", first.replace("_memory.ipynb", ""), re.S)
    return set(re.findall(r"\b\d\d\b", said[1]))


def strays(tables):
    """Where the minutes of a plan are not those of the notebook, in words."""
    rows = [row for table in tables for row in table if lesson_in(row[2])]
    return [
        f"{what}: {minutes} minutes, and the notebook says {minutes_of(LESSONS[lesson_in(what)])}"
        for _, minutes, what in rows if int(minutes) != minutes_of(LESSONS[lesson_in(what)])
    ]  # fmt: skip


def gaps(table):
    """Where a row does not begin when the one before ends, in words."""
    timed = [(at, int(minutes or 0)) for at, minutes, _ in table if at != "at home"]
    clock = [60 * int(at.split(":")[0]) + int(at.split(":")[1]) for at, _ in timed]
    return [
        f"{timed[n][0]} and {timed[n][1]} minutes is not {timed[n + 1][0]}"
        for n in range(len(timed) - 1) if clock[n] + timed[n][1] != clock[n + 1]
    ]  # fmt: skip


def test_there_are_plans_for_half_a_day_a_day_and_five_evenings():
    assert list(PLANS) == ["Half a day", "Three hours", "One day", "Five evenings"]
    assert len(PLANS["Five evenings"]) == 5
    assert minutes_of(LESSONS["00_start_here.ipynb"]) > 0  # else nothing would be compared


def test_the_map_has_the_notebooks_own_minutes_parts_and_half_a_day():
    readme = (TEACHING.parent / "README.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| \[.*\]\(notebooks/(\d\d_\w+\.ipynb)\) .* \| (\d+) \|$", readme, re.M)
    assert told == [(name, str(minutes_of(first))) for name, first in LESSONS.items()]
    half = [lesson_in(what)[:2] for table in PLANS["Half a day"] for *_, what in table]
    assert f"Half a day: {', '.join(filter(None, half))}." in readme
    cells = save_notebooks.read(TEACHING.parent / "notebooks" / "00_start_here.ipynb").cells
    (own,) = [cell.source for cell in cells if "## The map of the course" in cell.source]
    parts = re.findall(r"^\| ([IVA][^|]*) \| (.*)", own, re.M)  # with the links to their notebooks
    map_of = re.search(r"^## The map$(.*?)^## ", readme, re.M | re.S)[1]
    ours = re.findall(r"^\| \*\*(.*)\*\* \| \| \|\n((?:\| \[.*\n)+)", map_of, re.M)
    numbers = re.compile(r"\[(\d\d) ·")
    assert [(part, numbers.findall(rows)) for part, rows in ours] == [
        (part, numbers.findall(row)) for part, row in parts
    ]


def test_no_notebook_states_fewer_minutes_than_are_counted():
    short = {name: counted(name) for name, first in LESSONS.items()
             if minutes_of(first) < 5 * round(counted(name) / 5)}  # fmt: skip
    assert not short


@each_plan
def test_its_minutes_are_the_notebooks_own(plan):
    assert not strays(PLANS[plan])


@each_plan
def test_each_row_begins_when_the_one_before_ends(plan):
    for table in PLANS[plan]:
        assert not gaps(table)
        assert [what for at, _, what in table if at != "at home"][-1] == "End"


@each_plan
def test_what_a_notebook_needs_comes_before_it(plan):
    done = set()
    for name in (lesson_in(what) for table in PLANS[plan] for _, _, what in table):
        if name:
            assert needed(LESSONS[name]) <= done, name
            done.add(name[:2])
    assert done


def test_the_evenings_and_what_is_at_home_are_the_whole_course():
    rows = [what for table in PLANS["Five evenings"] for _, _, what in table]
    assert sorted(filter(None, map(lesson_in, rows))) == sorted(LESSONS)


def test_the_weeks_of_a_term_are_the_whole_course_in_an_order_that_holds():
    weeks = [int(week) for week, *_ in TERM if week != "at home"]
    assert sorted(set(weeks)) == list(range(1, 15)) and weeks == sorted(weeks)
    done = set()
    for name in (lesson_in(what) for _, _, what, _ in TERM):
        assert needed(LESSONS[name]) <= done, name
        done.add(name[:2])
    assert done == {name[:2] for name in LESSONS}


def test_a_weeks_minutes_are_the_notebooks_own_and_what_is_left_of_ninety():
    assert not strays([[row[:3] for row in TERM]])
    for week in {week for week, *_ in TERM} - {"at home"}:
        rows = [row for row in TERM if row[0] == week]
        assert sum(int(row[1]) + int(row[3] or 0) for row in rows) == LESSON, week


def test_the_plans_name_every_exercise_of_a_notebook():
    part = (TEACHING / "plans.md").read_text(encoding="utf-8").partition("## Exercises")[2]
    told = {
        name: number for number, names in re.findall(r"^\| (\d\d) \|(.*)\|$", part, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", names)
    }  # fmt: skip
    assert told == {name: home[:2] for name, home in home_of().items()}
    assert len(re.findall(r"`\w+`", part)) == len(told)


def test_a_recording_names_no_host_and_no_user(monkeypatch):
    monkeypatch.setattr("platform.node", lambda: "adas-laptop")
    monkeypatch.setenv(budget.NAME, "0.001")
    text = Recording(machine(), ()).to_json()
    assert "adas-laptop" not in text and str(Path.home()) not in text


@each_page
def test_its_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


@each_page
def test_its_commands_are_those_of_the_command_line(page):
    text = page.read_text(encoding="utf-8")
    fenced = "\n".join(re.findall(r"```\w*\n(.*?)```", text, re.S)).splitlines()
    inline = re.findall(r"`(gpulessons [^`]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
    for words in (shlex.split(line, comments=True) for line in fenced):
        if words[:1] == ["gpulessons"]:
            cli.parser().parse_args(words[1:])  # Misspelled where there is no such thing
    for command, *more in (line.split()[1:] for line in inline):
        known = cli.parser().format_help() if command.startswith("-") else help_of(command)
        assert not [word for word in more if word.startswith("--") and word not in known]


def help_of(command):
    (commands,) = (each for each in cli.parser()._actions if each.dest == "command")
    return commands.choices[command].format_help()


def test_every_notebook_has_questions_with_answers():
    text = (TEACHING / "questions.md").read_text(encoding="utf-8")
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    titles = [re.match(r"# (\d\d · [^:\n]+)", first)[1] for first in LESSONS.values()]
    assert [part.splitlines()[0] for part in parts] == titles
    for part in parts:
        asked = re.findall(r"^\*\*(.+?)\*\*\n(?=\S)", part, re.MULTILINE | re.DOTALL)
        assert len(asked) >= 2 and len(asked) == len(re.split(r"\n\n", part.strip())) - 1, part[:40]
