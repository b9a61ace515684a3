"""The page of all claims is what the shipped findings say: nobody types a verdict."""

from dataclasses import replace

import verdicts
from gpulessons import claims


def test_the_page_is_that_of_the_findings_that_ship():
    kept = verdicts.PAGE.read_text(encoding="utf-8")
    assert verdicts.page(claims.recorded()) == kept, "run: python tools/verdicts.py"


def test_a_second_machine_is_a_second_column():
    (found,) = claims.recorded()[:1]
    table = verdicts.table([found, replace(found, machine="another")])
    head = table.splitlines()[0]
    assert "verdict (a)" in head and "verdict (b)" in head and "Found (b) on another" in table


def test_readme_shows_three_of_the_findings_that_ship():
    readme = verdicts.README.read_text(encoding="utf-8")
    found = claims.recorded()[0]
    assert verdicts.filled(readme, found) == readme, "run: python tools/verdicts.py"
    turned = replace(found, found=tuple(replace(each, verdict="holds") for each in found.found))
    assert verdicts.filled(readme, turned) != readme
