"""Images on their way to a judge: bytes as received where that is safe, and a record of what went out."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from turngate import Picture
from turngate.evaluators.judges import send


def encoded(image: Image.Image, kind: str, **more: object) -> Picture:
    buffer = io.BytesIO()
    image.save(buffer, kind, **more)
    return Picture.from_bytes(buffer.getvalue())


def turned() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: show it turned by 90 degrees
    return exif


RGB = Image.fromarray(np.random.default_rng(0).integers(0, 256, (60, 100, 3), dtype=np.uint8))


@pytest.mark.parametrize(("kind", "media_type"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp")])
def test_plain_images_go_out_as_received(kind: str, media_type: str) -> None:
    picture = encoded(RGB, kind)
    sent = send(picture, "candidate", 100)
    assert sent.data == picture.data
    assert sent.flag == f"sent:candidate:100x60:{media_type}"


def test_a_larger_image_is_shrunk_and_that_is_told() -> None:
    sent = send(encoded(RGB, "JPEG"), "origin", 50)
    assert sent.flag == "sent:origin:50x30:image/png:of 100x60"
    assert Picture.from_bytes(sent.data).rgb.shape == (30, 50, 3)
    assert (sent.width, sent.height) == (50, 30)
    assert send(encoded(RGB.resize((400, 1)), "PNG"), "origin", 50).height == 1


@pytest.mark.parametrize(
    "picture",
    [
        encoded(RGB.convert("RGBA"), "PNG"),
        encoded(RGB, "BMP"),
        encoded(RGB, "GIF"),
        encoded(RGB.convert("P"), "PNG"),
        encoded(RGB.transpose(Image.Transpose.ROTATE_90), "JPEG", exif=turned()),
    ],
    ids=["alpha", "bmp", "gif", "palette", "orientation"],
)  # fmt: skip
def test_a_judge_sees_the_pixels_that_every_evaluator_sees(picture: Picture) -> None:
    sent = send(picture, "candidate", None)
    assert sent.media_type == "image/png"
    received = Picture.from_bytes(sent.data)
    assert received.normalised == ()
    assert np.array_equal(received.rgb, picture.rgb)
    assert sent.flag.startswith("sent:candidate:100x60:image/png")
