"""What the model says of kernels that others have timed; no GPU is needed.

    make judge

Models each launch anew, some minutes in all, and writes two files: what pages show of the published
products, transposes and copies, by machine code and by source alone
(warplens/model/published_modelled.csv); and one row for every published time, microbenchmarks too,
beside two simple rules (gpulessons/measure/judged.csv), whose summary it puts into docs/judged.md.
"""

import csv
import io
import re
from bisect import bisect
from collections import Counter
from datetime import date
from itertools import accumulate
from pathlib import Path
from statistics import mean

from published_kernels import KERNELS, microbenchmarks
from published_kernels.engine import by_machine_code, by_source

from gpulessons import units
from gpulessons.hardware import files
from gpulessons.hardware.system import commit
from gpulessons.measure.judged import FILE, Judgment, judgments
from warplens.model.devices import named, sheet
from warplens.model.published import MODELLED, PARTS, TIMES
from warplens.model.value import LAUNCH
from warplens.tables import Table

WORDS = ("occupancy_limiter", "why_at_least")
NUMBERS = ("seconds", "low", "high", "occupancy", "waves")
COLUMNS = ("kernel", "gpu", "counted_from", *NUMBERS, *WORDS, *PARTS)
NAPKIN = 0.8  # of a sheet's rates
PAGE = Path(__file__).parents[1] / "docs" / "judged.md"
FURTHER = 0.1  # than nine of ten times an interval's ends are: others are less alike; assumed


def published_rows():
    """A row for each time of a kernel that stands in published.csv, and each way to count."""
    for model in (by_machine_code, by_source):
        for time in TIMES:
            found = model(KERNELS[time.kernel], named(time.gpu))
            yield {
                "kernel": time.kernel, "gpu": time.gpu, "counted_from": found.counted_from,
                **{name: getattr(found, name) for name in WORDS},
                **{name: digits(getattr(found, name)) for name in NUMBERS},
                **{part: digits(seconds) for part, seconds in found.bounds.items()},
            }  # fmt: skip


def judged_rows():
    """A row for each published time. All of published.csv has shaped the model."""
    for time in TIMES:
        pair = KERNELS[time.kernel]
        kind = f"{time.kernel.partition(',')[0]}s".replace("copys", "copies")
        row = {"kind": kind, "kernel": time.kernel, "ladder": time.ladder, "fitted": "yes",
               "published": time.seconds, "within": time.within}  # fmt: skip
        yield row | said(by_machine_code(pair, named(time.gpu)), pair.bytes, pair.flops)
    for one in microbenchmarks.MEASURED:
        row = {"kind": one.kind, "kernel": one.name, "ladder": one.ladder,
               "fitted": "yes" if one.fitted else "no", "published": digits(one.seconds),
               "within": one.within}  # fmt: skip
        yield row | said(microbenchmarks.model(one), one.bytes, 0)


def said(found, nbytes, flops):
    """What the model says of a launch, and two rules by its bytes, FLOPs and the data sheet.

    Microbenchmarks launch again and again: what fits L2 is judged as found there.
    """
    promised = sheet(found.gpu)
    roof = max(nbytes / promised.memory, flops / promised.peaks["float32"])
    rules = {"roofline": digits(roof + LAUNCH), "napkin": digits(roof / NAPKIN)} if roof else {}
    told = {"seconds": found.again or found.known, "low": found.low, "high": found.high}
    return {"gpu": found.gpu, "limiter": found.limiter} | rules | {
        name: digits(number) for name, number in told.items()}  # fmt: skip


def digits(number):
    """A number to four digits: more is not known, and a diff shows every one of them."""
    return "" if number is None else f"{number:.4g}"


def main(file=MODELLED, rows=published_rows, columns=COLUMNS):
    text = io.StringIO()
    text.write(f"# modelled on {date.today()} with commit {commit()}\n")
    table = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    table.writeheader()
    table.writerows(rows())
    files.write(file, text.getvalue())


def left_out(found):
    """How often an interval made from all other sources, or from all other GPUs, holds."""
    closed, rows = [row for row in found if row.high], []
    for name in sorted({name for row in closed for name in (row.source, row.gpu)}):
        left = [row for row in closed if name in (row.source, row.gpu)]
        low, high = spread([row for row in closed if name not in (row.source, row.gpu)])
        held = units.percent(mean(low <= 1 / row.ratio <= high for row in left))
        rows.append([name, f"{len(left)}", f"{low:.2f} to {high:.2f}", held])
    head = ("left out", "times", "the others' interval, over the modelled time", "it held")
    return Table("Intervals made without what they judge", head, rows)


def spread(rows):
    """From where to where published over modelled times lie: nine of ten of each source's alike."""
    times = Counter(row.source for row in rows)
    ratios = sorted((1 / row.ratio, 1 / times[row.source]) for row in rows)
    reached = list(accumulate(weight for _, weight in ratios))
    low, high = (ratios[bisect(reached, part * reached[-1])][0] for part in (0.05, 0.95))
    return low * (1 - FURTHER), high * (1 + FURTHER)


def page(text, found):
    """The page with today's tables between its marks."""
    tables = {"groups": found.table(), "worst": found.worst(), "left out": left_out(found)}
    for name, table in tables.items():
        lines = [table.head, ["---"] * len(table.head), *table.rows]
        rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        notes = "".join(f"\n\n{note}" for note in table.notes)
        between = rf"(<!-- {name}: make judge -->\n)(.*?)(\n<!-- end -->)"
        text = re.sub(between, lambda m, new=rows + notes: f"{m[1]}\n{new}\n{m[3]}", text,
                      flags=re.DOTALL)  # fmt: skip
    return text


if __name__ == "__main__":
    main()
    main(FILE, judged_rows, Judgment._fields)
    files.write(PAGE, page(PAGE.read_text(encoding="utf-8"), judgments()))
    print(judgments(), judgments().worst(), sep="\n\n")
