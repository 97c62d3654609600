"""One-state games in the .nfg format of Gambit, read and written.

Read are the payoff form and the outcome form, both with numbers of strategies or with their names, for any number of
players. A number is an integer, a decimal or a fraction, and is rounded once, to the nearest float. The first player's
strategies run fastest. What is wrong is told as `file:line: sentence`.

Written is the payoff form with numbers of strategies, which Gambit and OpenSpiel read; OpenSpiel does not read names.

Memory: about 5 bytes for each byte of the file, and 64 for each number in its table.
"""

from tacit.games.nfg.read import load
from tacit.games.nfg.write import save

__all__ = ["load", "save"]
