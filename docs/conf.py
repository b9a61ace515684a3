"""How Sphinx renders the website. tools/website.py gathers the pages and calls it (make site)."""

import html
import re
from pathlib import Path

project = html_title = "gpulessons"
language = "en"
extensions = ["myst_nb", "sphinx.ext.githubpages"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # pages show what their cells showed when they were saved
nb_merge_streams = True
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["look.css"]
html_favicon = "static/icon.svg"
html_search_scorer = str(Path(__file__).with_name("search_order.js"))
html_show_copyright = False
html_use_index = False  # the glossary is one; its other words are for the search
html_copy_source = False  # a notebook is offered as it is, not as it was gathered


def finish(app, page, template, context, doctree):
    """What a page says of itself in a search, and where the way through the course ends."""
    first = re.search(r"<p>(.+?)</p>", context.get("body", ""), re.DOTALL)
    said = " ".join(html.unescape(re.sub("<[^>]*>", "", first[1])).split()) if first else ""
    said = (context.get("meta") or {}).get("description", said)
    said = said if len(said) <= 160 else said[:160].rpartition(" ")[0] + " …"
    # The theme has the other tags that Sphinx would put here.
    context["metatags"] = f'<meta name="description" content="{html.escape(said)}">' if said else ""
    if (context.get("next") or {}).get("link") == "glossary.html":  # after the last lesson
        context["next"] = None
    if page == "notebooks/glossary":
        context["prev"] = None


def setup(app):
    app.connect("html-page-context", finish)
