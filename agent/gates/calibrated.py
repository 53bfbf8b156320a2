"""Settings shared by all gates that hold a score against a limit: where the limit was found."""

from __future__ import annotations

from pydantic import Field

from turngate.component import ComponentConfig

__all__ = ["CalibratedConfig"]


class CalibratedConfig(ComponentConfig):
    """Configuration of a gate with a limit that may come from `turngate calibrate`."""

    calibrated_on: list[str] | None = Field(default=None, max_length=10_000)
    """Pixel identities (`Picture.pixel_identity`) of the origins that the limit was found on; None: not said.

    The gate decides the same with and without it. It is recorded, so that an answer can say when a gate was judged on
    the photographs that it was calibrated on.
    """
