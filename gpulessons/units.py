"""Numbers as people read them: `warplens.units`, by the name that notebooks know."""

from warplens.units import *  # noqa: F403
