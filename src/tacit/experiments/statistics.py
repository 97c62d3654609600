"""Statistics over seeds: mean, standard deviation, and a bootstrap interval from a fixed seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.core.errors import TacitError

RESAMPLES = 10_000


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation (of the sample, n − 1) and 95 % bootstrap interval of the mean.

    Attributes
    ----------
    mean, std : float
    ci95 : (float, float)
    count : int

    Examples
    --------
    >>> from tacit.experiments import summarize
    >>> summarize([1.0, 2.0, 3.0]).count
    3
    """

    mean: float
    std: float
    ci95: tuple[float, float]
    count: int


def summarize(values: npt.ArrayLike) -> Summary:
    """Summarize one number for each seed.

    Parameters
    ----------
    values : array [n]

    Returns
    -------
    Summary

    Examples
    --------
    >>> from tacit.experiments import summarize
    >>> summarize([1.0, 2.0, 3.0]).mean
    2.0
    """
    x = np.asarray(values, dtype=float)
    if x.ndim != 1 or not len(x):
        raise TacitError(f"values has shape {x.shape}; it must be one number for each seed")
    if len(x) == 1:
        return Summary(float(x[0]), 0.0, (float(x[0]), float(x[0])), 1)
    from scipy.stats import bootstrap  # it takes longer to import than all the rest

    found = bootstrap((x,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(0))
    low, high = found.confidence_interval
    return Summary(float(x.mean()), float(x.std(ddof=1)), (float(low), float(high)), len(x))
