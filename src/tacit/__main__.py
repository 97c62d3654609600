"""`python -m tacit` is `tacit`."""

import sys

from tacit.cli.entry import main

if __name__ == "__main__":
    code = main()
    # CPython takes Ctrl-C inside an exec() (numba's, a dataclass's) for unhandled until the next exec(): it would end
    # `python -m` by a signal instead of with the exit code.
    exec("")
    sys.exit(code)
