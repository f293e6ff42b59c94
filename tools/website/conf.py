"""Sphinx's settings for the site; main.py puts this file beside the pages."""
project = "leat"
extensions = ["myst_parser"]
templates_path = ["."]
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "sidebar_width": "260px", "fixed_sidebar": False}
html_static_path = ["site.css", "search.js"]
html_css_files = ["site.css"]
html_js_files = ["search.js"]
html_sidebars = {"**": ["navigation.html"]}
html_title = "leat"
html_show_copyright = False
html_show_sourcelink = False
html_use_index = False
html_domain_indices = False
html_show_search_summary = False  # it fetches pages, which a browser refuses of files
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
