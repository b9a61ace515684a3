"""A progress bar for what takes longer than two seconds, and lines that stay clear of it.

It is drawn where someone can watch: in a notebook and on a terminal, never into a file or a pipe.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic

EMPTY = {"text/html": ""}  # a bar that is closed leaves nothing on the page, saved or not


@contextmanager
def progress_bar(words: str) -> Iterator[Callable[[int, int, str], None]]:
    """Gives advance(done, total, words), drawn by tqdm once two seconds have passed."""
    from tqdm.auto import tqdm

    began, bar = monotonic(), None
    with ExitStack() as closing:

        def advance(done: int, total: int, latest: str) -> None:
            nonlocal bar
            if bar is None and monotonic() - began > 2:
                look = "{desc}: {percentage:3.0f}%|{bar}|"
                seen = {"total": total, "leave": False, "bar_format": look, "disable": None}
                if any(each.__module__ == "tqdm.notebook" for each in tqdm.__mro__):
                    from IPython.display import display

                    bar = closing.enter_context(tqdm(**seen, display=False))
                    shown = display(bar.container, display_id=True)
                    closing.callback(shown.update, EMPTY, raw=True)
                else:  # disable=None: unless somebody watches
                    bar = closing.enter_context(tqdm(**seen))
            if bar is not None:
                bar.total, bar.n = total, done
                bar.set_description_str(f"{words}: {latest}" if latest else words)

        try:
            yield advance
        finally:  # in a notebook a bar that ends before its total stays, in red
            if bar is not None:
                bar.total = bar.n


def say(line: str) -> None:
    """print() a line, above whatever bars are drawn."""
    from tqdm.auto import tqdm

    tqdm.write(line)
    sys.stdout.flush()  # a pipe would keep it back
