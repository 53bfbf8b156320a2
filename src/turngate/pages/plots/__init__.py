"""Figures for papers, made from a study's answer with matplotlib."""
