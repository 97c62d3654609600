"""Drawing on plain data: functions that take matplotlib axes and return them.

matplotlib is imported when one of them is called. One place draws curves, for `run.plot()`, `results.plot()`,
`tacit plot` and reports alike.
"""

from __future__ import annotations
