"""Metrics that compare a candidate with a reference, after registration."""

from turngate.evaluators.full_reference.geometry import FrameGeometry
from turngate.evaluators.full_reference.pixels import Ciede2000, Psnr
from turngate.evaluators.full_reference.regions import ControlRegions, OutsideEdit
from turngate.evaluators.full_reference.ssim import MsSsim, Ssim

__all__ = [
    "Ciede2000",
    "ControlRegions",
    "FrameGeometry",
    "MsSsim",
    "OutsideEdit",
    "Psnr",
    "Ssim",
]
