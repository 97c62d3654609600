"""The paper, reproduced: what is measured of its experiments, how its claims are judged, its figures and the page."""
