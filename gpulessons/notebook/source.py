"""source() and solution(): the package's own text, shown where it is talked about."""

import inspect
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygments.style import Style


class Text:
    """A piece of the package's source, highlighted, with its file and line."""

    def __init__(self, text: str, place: str):
        self.text, self.place = text, place

    def __repr__(self) -> str:
        return f"# {self.place}\n{self.text}"

    def _repr_html_(self) -> str:
        return f"<p><small>{escape(self.place)}</small></p>{highlighted(self.text)}"


class Solution(Text):
    """The same, folded until it is asked for."""

    def __repr__(self) -> str:
        return f"A solution is in {self.place}"

    def _repr_html_(self) -> str:
        return f"<details><summary>A solution</summary>{super()._repr_html_()}</details>"


def source(*things: Any) -> Text:
    """Show the source of functions, kernels or versions, highlighted, with file and line."""
    pieces = [piece(unwrapped(thing)) for thing in things]
    return Text("\n\n".join(text for text, _ in pieces), ", ".join(place for _, place in pieces))


def solution(exercise: Any) -> Solution:
    """Show an exercise's solution, folded: open it after your own attempt."""
    return Solution(exercise.solution, f"exercises/{exercise.name}.py")


def piece(function: Callable) -> tuple[str, str]:
    """(text, place) of a function; TypeError with a sentence where there is no source."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as trouble:
        raise TypeError(f"The source of {function!r} cannot be found ({trouble}).") from trouble
    file = Path(str(inspect.getsourcefile(function)))
    place = f"{file.parent.name}/{file.name}, line {first}"
    return inspect.cleandoc("\n" + "".join(lines)), place


def unwrapped(thing: Any) -> Any:
    """The Python function inside a version, an op, or a kernel; an exercise's file."""
    thing = getattr(thing, "lesson", thing)
    thing = getattr(thing, "function", thing)
    return getattr(thing, "py_func", thing)


def highlighted(text: str) -> str:
    """HTML with colors that hold on a light page and on a dark one."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    # Pages set the font of highlighted code by a class of their own; here it travels along.
    # A long line scrolls in its own box, where a page would break it inside a word.
    box = "font-family: monospace; white-space: pre; overflow-x: auto"
    look = {"noclasses": True, "nobackground": True, "prestyles": box}
    return highlight(text, PythonLexer(), HtmlFormatter(style=style(), **look))


def style() -> "type[Style]":
    """Mid-tones only: each has a contrast of at least 4 on white and on #111."""
    from pygments.style import Style
    from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token

    class Mid(Style):
        styles = {  # noqa: RUF012
            Token: "",
            Comment: "italic #7a7a7a",
            Keyword: "bold #0a7aca",
            Name.Decorator: "#b26a00",
            Name.Function: "bold",
            String: "#bd5b22",
            Number: "#0e8a6a",
            Operator.Word: "bold #0a7aca",
        }

    return Mid
