"""Doctests of files that need an extra are left out where it is not installed."""

from importlib.util import find_spec

NEEDS = {
    "src/tacit/games/openspiel.py": "pyspiel",
    "src/tacit/games/gymnasium.py": "gymnasium",
    "src/tacit/environments/exported.py": "pettingzoo",
    "src/tacit/environments/pettingzoo.py": "pettingzoo",
}
collect_ignore = [path for path, module in NEEDS.items() if find_spec(module) is None]
collect_ignore += ["docs/conf.py", "docs/_ext"]  # the site's own code, which needs Sphinx
