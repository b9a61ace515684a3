"""How a value of this room shows itself: a title, and rows of a name and what it is."""

from html import escape


def as_text(title, rows):
    """Lines under a title: rows are (name, words)."""
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join([title, *(f"  {name:<{width}}  {words}" for name, words in rows)])


def as_html(title, rows):
    """The same as a table, in the page's own colors."""
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(words)}</td></tr>'
        for name, words in rows
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"


def sentence(title):
    """A title that is all there is to say."""
    return f"<p>{escape(title)}</p>"
