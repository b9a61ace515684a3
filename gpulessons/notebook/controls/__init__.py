"""Predict, quiz and live: what a learner touches in a notebook.

Each control is a pure value that tests call, under a thin shell of widgets. Only this package knows
ipywidgets, and it keeps to what versions 7.7 (hosted notebooks) and 8 share. A saved notebook keeps
no widgets, so every control also reads as a static page.
"""

from .interactive import Live, live
from .predictions import Prediction, Reveal, predict
from .quizzes import Answer, Quiz, quiz
from .sketches import Sketch, sketch
from .sliders import slider
from .switches import on_paper

__all__ = [
    "Answer", "Live", "Prediction", "Quiz", "Reveal", "Sketch", "live", "on_paper", "predict",
    "quiz", "sketch", "slider",
]  # fmt: skip
