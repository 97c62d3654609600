"""Team games in the .dpomdp format of the MADP toolbox, read and written.

A file gives agents, discount, values, states, start, actions and observations in this order, once each, and then any
number of T (transitions), O (observations) and R (rewards). Read beyond the toolbox's own grammar are: names in quotes,
names of agents in place of their number, `start` after the observations or with its vector or `uniform` on the same
line, `R: joint action : state : reward`, empty lines, tabs and CRLF.

Rows that sum to 1 within 1e-4 are taken, since published files round to few digits, and are rescaled if they miss it
by more than 1e-9. Errors are reported as `file:line: sentence`; nothing is taken for something else.

Memory: at most 5 bytes for each byte of the file and 64 for each character of its longest line; 96 + 16·N for each pair
of a state and a joint action; 96 for each probability that is written out, by wildcards and `uniform` too, zeros of
whole rows excepted; 1024 for each reward that depends on the next state or the observation; and 16 MB. Sizes are
compared with what is free before anything large is allocated.
"""

from tacit.games.dpomdp.read import load
from tacit.games.dpomdp.write import save

__all__ = ["load", "save"]
