"""A figure as SVG inside a page: text stays text, and ink is the page's own text color."""

import base64
import hashlib
import io
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

STYLED: Any = {"svg.fonttype": "none", "svg.hashsalt": "gpulessons"}
UNSIGNED = dict.fromkeys(("Creator", "Date", "Format", "Type"))  # no clock, no version
UNSEEN = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
NUMBER = re.compile(r"-?\d+\.\d+")
FEW_COLORS = 64  # of an image: with more it is a photograph


def vector(figure: "Figure", ink: str, dpi: int) -> str:
    """The <svg> of a figure, `ink` replaced by the page's text color; photographs at `dpi`."""
    import matplotlib

    written = io.StringIO()
    with matplotlib.rc_context(STYLED):
        figure.savefig(written, format="svg", dpi=dpi, transparent=True, metadata=UNSIGNED)
    text = written.getvalue()
    text = UNSEEN.sub("", text[text.index("<svg") :])
    text = re.sub(r">\s+<", "><", text.replace("xlink:href", "href"))
    text = TAG.sub(lambda tag: brief(tag[0]), text)
    text = re.sub(r' id="(lit[\w ]*)"', r' class="\1"', text)  # what a word lights
    used = set(re.findall(r'(?:url\(#|href="#)([\w-]+)', text))
    text = re.sub(r' id="([\w-]+)"', lambda name: name[0] if name[1] in used else "", text)
    width, height = figure.get_size_inches() * 72
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        'xml:space="preserve" font-family="DejaVu Sans, sans-serif" stroke-linejoin="round">'
    )
    return TAG.sub(root, text, count=1).replace(ink, "currentColor").strip()


def brief(tag: str) -> str:
    """One tag: its styles as attributes, its numbers in hundredths of a point; "" if unseen."""
    if 'href="data:' in tag:
        return re.sub(r'href="data:[^"]*"', lambda link: f'href="{repacked(link[0])}"', tag)
    tag = re.sub(r' transform="rotate\(-?0 [^"]*\)"', "", tag)
    tag = re.sub(r' style="([^"]*)"', lambda style: attributes(style[1]), tag)
    if tag.startswith("<path") and 'fill="none"' in tag and "stroke=" not in tag:
        return ""
    tag = NUMBER.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), tag)
    return re.sub(r" (?=[A-Zz\"])|\n|(?<=[A-Z]) (?=[-\d])", "", tag) if " d=" in tag else tag


def attributes(style: str) -> str:
    """The parts of a style, each as an attribute; of the fonts only those not for the whole."""
    parts = (part.strip().split(": ", 1) for part in style.split(";") if part.strip())
    return "".join(f' {name}="{value}"' if name != "font-family" else ' font-family="monospace"'
                   for name, value in parts
                   if name != "font-family" or "Mono" in value.split(",")[0])


def repacked(link: str) -> str:
    """An image in a link, packed; a photograph is what has many colors."""
    from PIL import Image

    packed = base64.b64decode(link.partition(",")[2])
    image = Image.open(io.BytesIO(packed)).convert("RGBA")
    return packed_image(image, photograph=not image.getcolors(FEW_COLORS))


def packed_image(image: "Image", photograph: bool) -> str:
    """An image as a link that holds it: a photograph as WebP, else its 64 main colors as PNG."""
    from PIL.Image import Quantize

    packed, kind = io.BytesIO(), "webp" if photograph else "png"
    if photograph:
        image.save(packed, "webp", quality=80, method=6)
    else:
        image.quantize(FEW_COLORS, Quantize.FASTOCTREE).save(packed, "png", optimize=True)
    return f"data:image/{kind};base64,{base64.b64encode(packed.getvalue()).decode()}"


def sign(text: str) -> str:
    """A short name for a text, the same for the same text."""
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
