"""Figures for papers, made from a study's answer with matplotlib."""

from turngate.pages.plots.plot import Plot
from turngate.pages.plots.study_plots import Written, check_folder, study_plots, write_plots

__all__ = [
    "Plot",
    "Written",
    "check_folder",
    "study_plots",
    "write_plots",
]
