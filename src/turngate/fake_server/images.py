"""The images that the fake servers return: the one that was sent, with a little noise."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from turngate.errors import BadImage
from turngate.fake_server.asked import Asked, BadRequest, ReceivedImage
from turngate.fake_server.script import Script, ScriptedReply
from turngate.fakes import add_noise, save_as
from turngate.picture import Picture

__all__ = ["make_image"]

_BLANK = (256, 256)
"""Height and width of the gray square that is edited where no image was sent."""
_MEDIA_TYPES = {"jpeg": "image/jpeg", "cmyk": "image/jpeg", "exif": "image/jpeg", "webp": "image/webp"}
_NO_IMAGE = b"this is not an image"


def make_image(asked: Asked, answer: ScriptedReply, script: Script, variant: str = "final") -> ReceivedImage:
    """The image of an answer, with the media type to declare.

    A request with a seed gets the noise of that seed and turn, whatever the image: a seed that stays the same adds up.
    Without a seed the request names the noise. Either way the same request gets the same bytes.

    Raises `BadRequest` when the image that was sent cannot be read.
    """
    if answer.ending == "garbage":
        return ReceivedImage(_NO_IMAGE, answer.declared or "image/png")
    if answer.ending == "empty":
        return ReceivedImage(b"", answer.declared or "image/png")
    rgb = _sent(asked)
    if answer.ending == "same" and asked.images:
        return ReceivedImage(asked.images[-1].data, answer.declared or asked.images[-1].media_type)
    size = answer.size or asked.size
    if size and size != (rgb.shape[1], rgb.shape[0]):
        rgb = np.asarray(Image.fromarray(rgb).resize(size, Image.Resampling.LANCZOS))
    mode = answer.mode or asked.format or "png"
    data = save_as(mode, add_noise(rgb, script.noise, _seed(asked, variant)))
    return ReceivedImage(data, answer.declared or _MEDIA_TYPES.get(mode, "image/png"))


def _sent(asked: Asked) -> NDArray[np.uint8]:
    if not asked.images:
        return np.full((*_BLANK, 3), 128, dtype=np.uint8)
    try:
        return Picture.from_bytes(asked.images[-1].data).rgb
    except BadImage:
        raise BadRequest("Unable to process input image.", code="invalid_image_file", param="image") from None


def _seed(asked: Asked, variant: str) -> int:
    if asked.seed is None:
        name = asked.name(variant)
    else:
        name = hashlib.sha256(f"{asked.seed}/{asked.turn}/{variant}".encode()).digest()
    return int.from_bytes(name[:8])
