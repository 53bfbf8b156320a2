"""Figures for papers, made from a study's answer with matplotlib."""

from turngate.pages.plots.plot import LeftOut, Plot
from turngate.pages.plots.study_plots import StudyPlots, Written, check_folder, study_plots, write_plots

__all__ = [
    "LeftOut",
    "Plot",
    "StudyPlots",
    "Written",
    "check_folder",
    "study_plots",
    "write_plots",
]
