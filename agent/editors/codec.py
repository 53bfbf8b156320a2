"""Re-encoding and nothing else: the control that shows what the file format alone does."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from PIL import Image
from pydantic import Field

from turngate.agent.editor import Edited, EditRequest, NoImage
from turngate.component import ComponentConfig
from turngate.picture import encode_png

__all__ = ["CodecConfig", "CodecEditor"]


class CodecConfig(ComponentConfig):
    """How to re-encode."""

    format: Literal["jpeg", "webp", "png"] = "jpeg"
    """`png` is lossless: its chain is exactly flat, byte-identical from turn 2 on."""
    quality: int = Field(default=90, ge=1, le=100)
    """Encoder quality of JPEG and WebP; no effect on PNG."""
    subsampling: Literal["4:4:4", "4:2:2", "4:2:0"] = "4:2:0"
    """Chroma subsampling of JPEG; no effect elsewhere."""
    resize_jitter: float = Field(default=0.0, ge=0, le=0.5)
    """Resize by a factor drawn from 1 - jitter .. 1 + jitter and back before encoding; 0 for none."""


class CodecEditor:
    """Re-encodes as JPEG, WebP or PNG: a control without any editing."""

    Config: ClassVar[type[ComponentConfig]] = CodecConfig
    requires: ClassVar[Mapping[str, str]] = {}
    simulated = False
    paid = False

    def __init__(self, config: CodecConfig) -> None:
        self.config = config
        self.stochastic = config.resize_jitter > 0
        self.model = f"codec-{config.format}" + ("" if config.format == "png" else f"-q{config.quality}")

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """Decode and encode; the size never changes. `NoImage("error")` for an image larger than the format allows."""
        image = Image.fromarray(request.image.rgb)
        if self.config.resize_jitter:
            jitter = self.config.resize_jitter
            factor = np.random.default_rng(request.seed).uniform(1 - jitter, 1 + jitter)
            between = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
            image = image.resize(between, Image.Resampling.BICUBIC).resize(image.size, Image.Resampling.BICUBIC)
        try:
            data = self._encode(image)
        except (OSError, ValueError) as error:
            return NoImage("error", f"{self.config.format} cannot hold this image: {error}", retryable=False)
        return Edited(data, model=self.model)

    def _encode(self, image: Image.Image) -> bytes:
        buffer = io.BytesIO()
        match self.config.format:
            case "png":
                return encode_png(np.asarray(image))
            case "jpeg":
                image.save(buffer, "JPEG", quality=self.config.quality, subsampling=self.config.subsampling)
            case "webp":
                image.save(buffer, "WEBP", quality=self.config.quality)
        return buffer.getvalue()
