"""What the model says of kernels that others have timed; no GPU is needed.

    make judge

Models each launch anew, some minutes in all, and writes two files: what pages show of the published
products, transposes and copies, by machine code and by source alone
(warplens/model/published_modelled.csv); and one row for every published time, microbenchmarks too,
beside two simple rules (gpulessons/measure/judged.csv), of which it prints the summary.
"""

import csv
import io
from datetime import date

from published_kernels import KERNELS, microbenchmarks
from published_kernels.engine import by_machine_code, by_source

from gpulessons.hardware import files
from gpulessons.hardware.system import commit
from gpulessons.measure.judged import COLUMNS as JUDGED_COLUMNS
from gpulessons.measure.judged import FILE, judgments
from warplens.model.devices import named, sheet
from warplens.model.published import MODELLED, PARTS, TIMES
from warplens.model.value import LAUNCH

WORDS = ("occupancy_limiter", "why_at_least")
NUMBERS = ("seconds", "low", "high", "occupancy", "waves")
COLUMNS = ("kernel", "gpu", "counted_from", *NUMBERS, *WORDS, *PARTS)
NAPKIN = 0.8  # of a sheet's rates


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
    """What the model says of a launch, and two rules by its bytes, FLOPs and the data sheet."""
    promised = sheet(found.gpu)
    roof = max(nbytes / promised.memory, flops / promised.peaks["float32"])
    rules = {"roofline": digits(roof + LAUNCH), "napkin": digits(roof / NAPKIN)} if roof else {}
    numbers = {name: digits(getattr(found, name)) for name in ("seconds", "low", "high")}
    return {"gpu": found.gpu, "limiter": found.limiter} | numbers | rules


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


if __name__ == "__main__":
    main()
    main(FILE, judged_rows, JUDGED_COLUMNS)
    print(judgments())
