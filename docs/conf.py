"""How the site is built: `make docs`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")])  # of notebooks
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])  # for `!tacit`
os.environ.setdefault("TACIT_PROGRESS", "0")  # no line that moves on a page
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # a word less on stderr of every notebook

# notebooks start as on a new account, and without the kernel's warning about its own loopback sockets
os.environ["IPYTHONDIR"] = tempfile.mkdtemp(prefix="tacit-docs-")
_profile = Path(os.environ["IPYTHONDIR"], "profile_default")
_profile.mkdir()
(_profile / "ipython_kernel_config.py").write_text("c = get_config()\nc.IPKernelApp.log_level = 40\n", encoding="utf-8")

from tacit._version import __version__  # noqa: E402

project = "tacit"
author = "The tacit developers"
copyright = "The tacit developers, MIT licence"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "public_names",
    "command_line",
    "learner_table",
    "mathml",
]
exclude_patterns = ["figures", "_ext"]
suppress_warnings = ["ref.python"]  # words in the type of a parameter ("gap", "actions") are no links

# MyST and notebooks: executed at every build, offline, each in its own directory
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

# the reference
autodoc_typehints = "none"  # docstrings state types and shapes
autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
default_role = "code"
smartquotes_action = "qe"  # options begin with two hyphens

# looks
html_theme = "furo"
html_title = f"tacit {release}"
html_static_path = ["_static"]
html_css_files = ["tacit.css"]
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "native"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_math_renderer = "mathml"
