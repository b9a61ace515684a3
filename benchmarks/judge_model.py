"""What the model says of kernels that others have timed; no GPU is needed.

    python benchmarks/judge_model.py

Models each launch, by machine code and by its source alone, and writes
warplens/model/published_modelled.csv, which pages show beside the published times.
"""

import csv
import io
from datetime import date

from published_kernels import KERNELS
from published_kernels.engine import by_machine_code, by_source

from gpulessons.hardware import files
from gpulessons.hardware.system import commit
from warplens.model.devices import named
from warplens.model.published import MODELLED, PARTS, TIMES, judged

WORDS = ("occupancy_limiter", "why_at_least")
NUMBERS = ("seconds", "low", "high", "occupancy", "waves")
COLUMNS = ("kernel", "gpu", "counted_from", *NUMBERS, *WORDS, *PARTS)


def rows():
    """A row for each published time and each way to count."""
    for model in (by_machine_code, by_source):
        for time in TIMES:
            found = model(KERNELS[time.kernel], named(time.gpu))
            yield {
                "kernel": time.kernel, "gpu": time.gpu, "counted_from": found.counted_from,
                **{name: getattr(found, name) for name in WORDS},
                **{name: digits(getattr(found, name)) for name in NUMBERS},
                **{part: digits(seconds) for part, seconds in found.bounds.items()},
            }  # fmt: skip


def digits(number):
    """A number to four digits: more is not known, and a diff shows every one of them."""
    return "" if number is None else f"{number:.4g}"


def main(file=MODELLED):
    text = io.StringIO()
    text.write(f"# modelled on {date.today()} with commit {commit()}\n")
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows())
    files.write(file, text.getvalue())


if __name__ == "__main__":
    main()
    for counted_from in ("machine code", "source"):
        print(judged(counted_from), end="\n\n")
