"""Questions whose every wrong answer is a real misconception, and is explained."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .showing import bundle, escape

if TYPE_CHECKING:
    from ipywidgets import HTML, Button, VBox


def quiz(question: str, choices: Mapping[str, str], right: str) -> "Quiz":
    """Ask `question`: `choices` maps every answer to its explanation, and `right` is one of them.

    The returned Quiz shows itself. Raises ValueError unless there are two answers or more, told
    apart by more than case, each explained, with `right` among them.
    """
    return Quiz(question, dict(choices), right)


@dataclass(frozen=True)
class Answer:
    """What a choice deserves: `passed`, and why, in words."""

    choice: str
    passed: bool
    words: str

    @property
    def mark(self) -> str:
        return "✓ Right." if self.passed else "✗ Not this one."

    def __repr__(self) -> str:
        return f"{self.mark} {self.words}"

    def _repr_html_(self) -> str:
        return f"<p><b>{self.mark}</b> {escape(self.words)}</p>"


class Quiz:
    """One question, a button for each choice, and the explanation of the one pressed."""

    def __init__(self, question: str, choices: dict[str, str], right: str):
        self.question, self.choices, self.right = question, choices, right
        check_choices(choices, right)

    def answer(self, choice: str) -> Answer:
        """The Answer to one of the choices. Raises ValueError for anything else."""
        if choice not in self.choices:
            raise ValueError(f"{choice!r} is not among the choices: {quoted(self.choices)}.")
        return Answer(choice, choice == self.right, self.choices[choice])

    @cached_property
    def widget(self) -> "VBox":
        """The question, the buttons, and an area that a screen reader announces when it changes."""
        from ipywidgets import HTML

        from gpulessons.plots.panel import panel

        question = HTML(f"<b>{escape(self.question)}</b>")
        return panel(question, *self.buttons, self.explanation)

    @cached_property
    def buttons(self) -> "list[Button]":
        from ipywidgets import Button

        buttons = [Button(description=choice, tooltip=choice) for choice in self.choices]
        for button in buttons:
            button.add_class("gpulessons-choice")
            button.on_click(self.pressed)
        return buttons

    @cached_property
    def explanation(self) -> "HTML":
        from ipywidgets import HTML

        return HTML('<div role="status"></div>')

    def pressed(self, button: "Button") -> None:
        answer = self.answer(button.tooltip)
        button.button_style = "success" if answer.passed else "warning"
        button.description = f"{'✓' if answer.passed else '✗'} {answer.choice}"
        self.explanation.value = f'<div role="status">{answer._repr_html_()}</div>'

    def __repr__(self) -> str:
        return "\n".join([self.question, *(f"  ○ {choice}" for choice in self.choices)])

    def _repr_html_(self) -> str:
        """The question as a static page: each choice opens to its explanation."""
        items = "".join(f"<li><details><summary>{escape(choice)}</summary>"
                        f"{self.answer(choice)._repr_html_()}</details></li>"
                        for choice in self.choices)
        return f"<p><b>{escape(self.question)}</b></p><ul>{items}</ul>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return bundle(repr(self), self._repr_html_(), self.widget)


def check_choices(choices: dict[str, str], right: str) -> None:
    if len(choices) < 2:
        raise ValueError("A quiz needs two choices or more.")
    if right not in choices:
        raise ValueError(f"right={right!r} is not among the choices: {quoted(choices)}.")
    if len({choice.strip().casefold() for choice in choices}) < len(choices):
        raise ValueError(f"Two choices read the same: {quoted(choices)}.")
    silent = [choice for choice, words in choices.items() if not words.strip()]
    if silent:
        raise ValueError(f"Explain every choice, right or wrong: {quoted(silent)} has no words.")


def quoted(choices: Iterable[str]) -> str:
    return ", ".join(f"“{choice}”" for choice in choices)
