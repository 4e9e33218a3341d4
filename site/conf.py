# The site of the documentation: scripts/site.sh builds it with Sphinx, from pages that stage.py copies.
project = "Stowage"
html_title = "Stowage"
extensions = ["myst_parser"]
myst_heading_anchors = 6  # as GitHub makes them
root_doc = "index"
html_theme = "furo"  # brings its own fonts and scripts: nothing is fetched from other sites
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_css_files = ["site.css"]
html_static_path = ["static"]
html_extra_path = ["planner.html"]
suppress_warnings = [
    "misc.highlighting_failure",  # code with an ellipsis in it
    "myst.header",  # pages that begin with a part of another one
]
