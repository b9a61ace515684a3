"""A figure as SVG inside a page: its ink is the page's own text color, and it takes little room.

Matplotlib writes an SVG file; a page with twenty figures needs less. So: coordinates in a tenth of
a point, steps instead of positions, one outline for each letter, no groups that only group.
"""

import base64
import hashlib
import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

STYLED: Any = {"svg.fonttype": "path", "svg.hashsalt": "gpulessons"}  # letters as outlines
UNSIGNED = dict.fromkeys(("Creator", "Date", "Format", "Type"))  # no clock, no version
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
PART = re.compile(rf"[A-Za-z]|{NUMBER.pattern}")
NAMED = re.compile(r'(?:url\(|href=")#([\w-]+)')
POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3}  # that a letter of a path takes
# What a browser does without being told, and what is told once for a whole figure.
USUAL = {
    "stroke-linecap": "butt", "stroke-linejoin": "round", "opacity": "1", "stroke-opacity": "1",
    "fill-opacity": "1", "stroke-dashoffset": "0",
}  # fmt: skip
TENTH, LETTER = 0.1, 8.0  # grids: a tenth of a point; 1/512 of a letter's height
FEW_COLORS = 64  # of an image: with more it is a photograph


def vector(figure: "Figure", ink: str, dpi: int) -> str:
    """The <svg> of a figure, `ink` replaced by the page's text color; photographs at `dpi`."""
    import matplotlib

    written = io.StringIO()
    with matplotlib.rc_context(STYLED):
        figure.savefig(written, format="svg", dpi=dpi, transparent=True, metadata=UNSIGNED)
    root = ElementTree.fromstring(written.getvalue())
    for element in root.iter():
        shorten(element)
    named = definitions(root)
    flatten(root)
    return markup(root, named).replace(ink, "currentColor")


def shorten(element: Element) -> None:
    """Write one element's names, numbers, styles, path and photograph briefly, in place."""
    element.tag = element.tag.rpartition("}")[2]
    element.text = element.tail = None
    for name, value in list(element.items()):
        del element.attrib[name]
        short = name.rpartition("}")[2]
        if short == "style":
            for part in value.rstrip(";").split(";"):
                name, _, told = (words.strip() for words in part.partition(":"))
                if USUAL.get(name) != told:
                    element.set(name, short_numbers(told))
        else:
            element.set(short, value)
    if element.get("href", "").startswith("data:"):
        element.set("href", repacked(element.get("href", "")))
    letter = element.get("transform") == "scale(0.015625)"
    if letter:
        element.set("transform", f"scale({short_numbers(str(LETTER / 64))})")
    if path := element.get("d"):
        element.set("d", steps(path, LETTER if letter else TENTH))
    for name in {"transform", "x", "y", "width", "height"} & set(element.attrib):
        element.set(name, short_numbers(element.get(name, "")))
    slid = re.fullmatch(r"translate\((\S+) 0\)", element.get("transform", ""))
    if element.tag == "use" and slid:  # a letter in its line, in hundredths of its size
        element.attrib.pop("transform")
        element.set("x", brief(float(slid[1]), 0))


def short_numbers(text: str) -> str:
    """A text with its numbers at three decimals at most; colors and names stay as they are."""
    return text if "#" in text else NUMBER.sub(lambda found: brief(float(found[0]), 3), text)


def brief(number: float, digits: int) -> str:
    written = f"{number:.{digits}f}"
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    return re.sub(r"^(-?)0\.", r"\1.", "0" if written == "-0" else written)


def steps(path: str, grid: float) -> str:
    """A path's absolute positions as steps from point to point of a grid.

    Positions are put on the grid before their differences are taken, so that no error adds up.
    A letter's outline is then in units of its grid, all else in points still.
    """
    unit = grid if grid < 1 else 1
    here: tuple[int, ...] = (0, 0)
    start, last = here, ""
    written: list[str] = []
    parts = iter(PART.findall(path))
    for part in parts:
        if part == "z":
            here, last = start, ""
            written.append("z")
            continue
        corners = [tuple(round(float(next(parts)) / grid) for _ in "xy")
                   for _ in range(POINTS[part])]
        moves = [at - origin for corner in corners
                 for at, origin in zip(corner, here, strict=True)]
        here = corners[-1]
        start = here if part == "M" else start
        if part == "L" and not any(moves):
            continue
        letter = part.lower() if part != last else " " * (moves[0] >= 0)
        written.append(letter + beside(brief(move * unit, 1) for move in moves))
        last = part if part != "M" else ""
    return "".join(written)


def beside(numbers: Iterable[str]) -> str:
    """Numbers in a row, a space only where the next would run into the one before."""
    row = ""
    for number in numbers:
        row += f" {number}" if row and number[0] != "-" else number
    return row


def repacked(link: str) -> str:
    """An image in a link, packed; a photograph is what has many colors."""
    from PIL import Image

    image = Image.open(io.BytesIO(base64.b64decode(link.partition(",")[2]))).convert("RGBA")
    return packed_image(image, photograph=not image.getcolors(FEW_COLORS))


def packed_image(image: "Image", photograph: bool) -> str:
    """An image as a link that holds it: a photograph as WebP, else its 64 main colors as PNG."""
    packed = io.BytesIO()
    if photograph:
        image.save(packed, "webp", quality=80, method=6)
    else:
        from PIL.Image import Quantize

        image.quantize(FEW_COLORS, Quantize.FASTOCTREE).save(packed, "png", optimize=True)
    kind = "webp" if photograph else "png"
    return f"data:image/{kind};base64,{base64.b64encode(packed.getvalue()).decode()}"


def definitions(root: Element) -> list[Element]:
    """All that is drawn by its name (letters, marks, clips, hatches), taken out of the figure."""
    found: dict[str, Element] = {}
    for parent in list(root.iter()):
        for group in [child for child in parent if child.tag == "defs"]:
            parent.remove(group)
            found |= {each.get("id", ""): each for each in group if each.tag != "style"}
    return list(found.values())


def flatten(parent: Element) -> None:
    """Remove what nobody sees: names, groups without a look, shapes without fill and line."""
    children = list(parent)
    for child in children:
        parent.remove(child)
        flatten(child)
        child.attrib.pop("id", None)
        if child.tag in ("g", "a") and not child.attrib:
            parent.extend(child)
        elif not unseen(child):
            parent.append(child)


def unseen(element: Element) -> bool:
    if element.tag in ("metadata", "style") or (element.tag == "g" and not len(element)):
        return True
    bare = element.get("fill") == "none" and "stroke" not in element.attrib
    return element.tag == "path" and (bare or element.get("opacity") == "0")


def markup(root: Element, named: list[Element]) -> str:
    """The text of a figure. What is drawn by name is named after its own content: figures of one
    page may share a letter, and never a name for two things.
    """
    drawing = "".join(text_of(each) for each in root)
    known = {each.attrib.pop("id", ""): each for each in named}
    used = list(dict.fromkeys(NAMED.findall(drawing)))
    for name in used:  # a clip or a hatch may name others
        used += [more for more in NAMED.findall(text_of(known[name])) if more not in used]
    short = {name: f"f{sign(text_of(known[name]))}" for name in used}
    for name in used:
        known[name].set("id", name)
    body = f"<defs>{''.join(text_of(known[name]) for name in used)}</defs>{drawing}"
    body = re.sub(r'(url\(#|href="#| id=")([\w-]+)', lambda found: found[1] + short[found[2]], body)
    box = short_numbers(root.get("viewBox", ""))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" stroke-linejoin="round">'
            f"{body}</svg>")


def sign(text: str) -> str:
    """A short name for a text, the same for the same text."""
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def text_of(element: Element) -> str:
    return ElementTree.tostring(element, "unicode", short_empty_elements=True).replace(" />", "/>")
