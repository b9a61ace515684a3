"""The rooms of the package and who imports whom, read from the code; drawn in ARCHITECTURE.md.

    python tools/rooms.py     draw the picture there anew
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gpulessons"
PAGE = ROOT / "ARCHITECTURE.md"
DOOR = {"cli", "__init__", "__main__"}  # what may import everything


def room_of(path, package=PACKAGE):
    """Return the room that a file stands in: "ops" for gpulessons/ops/copy.py."""
    return path.relative_to(package).parts[0].removesuffix(".py")


def imports(path, package=PACKAGE, home="gpulessons"):
    """Yield (line, room) for each import of a module of the package `home` anywhere in a file."""
    parents = (*home.split("."), *path.relative_to(package).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = parents[: len(parents) + 1 - node.level] if node.level else ()
            module = ".".join([*start, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if f"{name}.".startswith(f"{home}."):
                yield node.lineno, name.removeprefix(home).removeprefix(".").partition(".")[0]


def arrows(package=PACKAGE, home="gpulessons"):
    """Return {room: the rooms that its files import}, the door left out."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        room = room_of(path, package)
        if room not in DOOR:
            beyond = {name for _, name in imports(path, package, home)} - {room}
            found.setdefault(room, set()).update(beyond)
    return found


def drawn(found):
    """Return a Mermaid diagram of the arrows, less those that a longer way implies."""

    def beyond(room):
        return set().union(*({step} | beyond(step) for step in found[room]))

    lines = ["flowchart TD"]
    for room, to in sorted(found.items()):
        implied = set().union(*map(beyond, to))
        lines += [f"    {room} --> {other}" for other in sorted(to - implied)]
        lines += [f"    {room}"] * (not to)
    return "\n".join(lines)


def main():
    """Put today's picture into ARCHITECTURE.md."""
    page = PAGE.read_text(encoding="utf-8")
    picture = f"```mermaid\n{drawn(arrows())}\n```"
    PAGE.write_text(re.sub(r"```mermaid\n.*?```", picture, page, flags=re.S), encoding="utf-8")


if __name__ == "__main__":
    main()
