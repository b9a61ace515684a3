"""How Sphinx renders the website. tools/website.py gathers the pages and calls it (make site)."""

project = html_title = "gpulessons"
language = "en"
extensions = ["myst_nb", "sphinx.ext.githubpages"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # pages show what their cells showed when they were saved
nb_merge_streams = True
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["look.css"]
html_show_copyright = False
html_use_index = False  # there are no entries: the search finds words
html_copy_source = False  # a notebook is offered as it is, not as it was gathered
