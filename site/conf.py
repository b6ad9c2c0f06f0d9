# SPDX-License-Identifier: MIT
# Sphinx's settings. script/site sets GATHER_SITE_VERSION and the path of the Python package.
import os
import sys

from sphinx.ext.autodoc.mock import _MockModule

project = "libgather"
copyright = "the authors of libgather"  # noqa: A001
version = release = os.environ["GATHER_SITE_VERSION"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
exclude_patterns = ["**/.*"]

# Markdown: the anchors of headings are those that forges make.
myst_heading_anchors = 6
myst_enable_extensions = []
suppress_warnings = ["ref.python"]  # types in docstrings are words: "path" is no link to one of the attributes of that name

# The reference.
default_role = "literal"
autodoc_mock_imports = ["torch", "jax", "jaxlib", "mpi4py", "duckdb", "onnxruntime", "openvino", "onnx"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# libgather.torch asks for PyTorch's version; without one that it knows it registers nothing and has its functions all the same.
sys.modules["torch"] = _MockModule("torch")
sys.modules["torch"].__version__ = "0.0"
add_module_names = False
toc_object_entries_show_parents = "hide"
c_maximum_signature_line_length = 96
maximum_signature_line_length = 96

# Pages: nothing comes from another machine, and everything works from a folder of files.
html_theme = "furo"
html_title = f"libgather {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
html_search_scorer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False
html_baseurl = ""
html_theme_options = {"navigation_with_keys": False}
templates_path = ["templates"]
html_sidebars = {"**": ["sidebar/brand.html", "versions.html", "sidebar/search.html", "sidebar/scroll-start.html", "sidebar/navigation.html", "sidebar/scroll-end.html"]}
