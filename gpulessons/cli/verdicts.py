"""`gpulessons claims`: the course's claims, put to the test on this machine."""

import gpulessons

from .copies import writing
from .terminal import Misspelled, say


def claims(options):
    """put the course's claims to the test here: the verdicts, and the figures behind them"""
    from gpulessons import claims, money, recordings

    for number in options.number:
        if number not in claims.CLAIMS:
            raise Misspelled(f"There is no claim {number}: they are 1 to {len(claims.CLAIMS)}.")
    given = claims.Given(
        tuple(map(recordings.load, options.files)),
        tuple(money.load(options.devices) if options.devices else ()),
    )
    if not options.number:
        say("Some three minutes. Ctrl-C stops and keeps what there is.")
    found = claims.judge(*options.number, given=given, told=lambda one: print(one, end="\n\n"))
    print(*found.notes, found.sentence, f"({found.label})", sep="\n")
    for path, text in ((options.json, found.to_json()), (options.html, page(found))):
        if path:
            keep(path, text)
    return 130 if found.interrupted else 0


def keep(path, text):
    from pathlib import Path

    from gpulessons.measure import files

    with writing(Path(path).absolute().parent):
        say(f"Kept in {files.write(path, text)}")


def page(found):
    """The findings as a page of its own, for a browser in light or dark."""
    title = f"The claims of gpulessons, {gpulessons.__version__}"
    style = (
        "body {font-family: sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em} "
        "td, th {padding: 0.4em 0.6em; border-bottom: 1px solid} caption {padding: 1em}"
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" '
        f'content="light dark"><title>{title}</title><style>{style}</style></head>'
        f"<body><h1>{title}</h1>{found._repr_html_()}</body></html>\n"
    )
