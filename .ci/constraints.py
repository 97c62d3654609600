"""Write constraints.txt: the versions that are installed in environments of several Pythons, for `pip --constraint`.

    python .ci/constraints.py .venv-python3.11 .venv-python3.12 .venv-python3.13 > constraints.txt

A package that has the same version with every Python has one line, another has a line for each Python.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict

HEAD = """# The versions that the tests were run with, a line for each Python where they differ.
# Made by .ci/constraints.py.
# A Python that is not listed takes the newest versions.
"""


def main() -> None:
    """Read every environment and print the lines."""
    versions: dict[str, dict[str, str]] = defaultdict(dict)
    pythons = []
    for environment in sys.argv[1:]:
        python = f"{environment}/bin/python"
        name = subprocess.check_output([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True)
        pythons.append(name.strip())
        for line in subprocess.check_output([python, "-m", "pip", "freeze", "--exclude-editable"], text=True).split():
            package, _, version = line.partition("==")
            if version:
                versions[package.lower().replace("_", "-")][name.strip()] = version
    newest = max(int(python.partition(".")[2]) for python in pythons)
    print(HEAD, end="")
    for package, by_python in sorted(versions.items()):
        if len(by_python) == len(pythons) and len(set(by_python.values())) == 1:
            print(f'{package}=={by_python[pythons[0]]} ; python_version < "3.{newest + 1}"')
            continue
        for python, version in by_python.items():
            print(f'{package}=={version} ; python_version == "{python}"')


if __name__ == "__main__":
    main()
