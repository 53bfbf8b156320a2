"""Pictures as files: what a file says of itself is kept, whatever is wrong with the rest of it."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms
from tests.traces.runs import photograph

from turngate.decoding import TooManyPixels
from turngate.errors import BadImage, ConfigError
from turngate.graphs.config import OriginConfig
from turngate.graphs.origin import load_origin
from turngate.pages.report import thumbnail
from turngate.picture import Picture

PIXELS = photograph(48)
IMAGE = Image.fromarray(PIXELS)


def encoded(kind: str, image: Image.Image = IMAGE, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def with_exif(*fields: tuple[int, int, int, bytes]) -> bytes:
    """A JPEG whose EXIF has these fields (tag, type, count, four bytes)."""
    body = b"II*\0\x08\0\0\0" + struct.pack("<H", len(fields))
    body += b"".join(struct.pack("<HHI", *field[:3]) + field[3] for field in sorted(fields))
    payload = b"Exif\0\0" + body + b"\0\0\0\0"
    plain = encoded("JPEG", quality=95)
    return plain[:2] + b"\xff\xe1" + struct.pack(">H", 2 + len(payload)) + payload + plain[2:]


UPRIGHT = (0x112, 3, 1, struct.pack("<HH", 6, 0))


@pytest.mark.parametrize(
    "stranger",
    [
        (0x100, 5, 1, struct.pack("<I", 8)), (0x128, 2, 4, b"inch"), (0x13B, 3, 2, b"abcd"),
        (0x8769, 7, 4, b"abcd"), (0x8825, 3, 1, struct.pack("<HH", 5, 0)),
    ],
)  # fmt: skip
def test_a_mistyped_field_of_exif_is_no_fault_of_the_pixels(stranger: tuple[int, int, int, bytes]) -> None:
    found = Picture.from_bytes(with_exif(UPRIGHT, stranger))
    assert found.normalised == ("exif_orientation:6",)
    plain = Picture.from_bytes(encoded("JPEG", quality=95))
    assert np.array_equal(found.rgb, np.rot90(plain.rgb, -1))


@pytest.mark.parametrize("value", [0, 1, 9, 77])
def test_an_orientation_that_turns_nothing_is_no_step(value: int) -> None:
    assert Picture.from_bytes(with_exif((0x112, 3, 1, struct.pack("<HH", value, 0)))).normalised == ()


def test_a_broken_later_frame_costs_nothing() -> None:
    moving = encoded("GIF", save_all=True, append_images=[IMAGE.rotate(90), IMAGE.rotate(180)])
    whole, cut = Picture.from_bytes(moving), Picture.from_bytes(moving[: 3 * len(moving) // 5])
    assert whole.normalised[0] == "first_frame"
    assert np.array_equal(whole.rgb, cut.rgb)


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_a_transparent_colour_is_transparency(mode: str) -> None:
    """As the same picture with alpha: white where it is transparent."""
    image = IMAGE.convert(mode)
    colour = image.getpixel((10, 10))
    found = Picture.from_bytes(encoded("PNG", image, transparency=colour))
    hidden = (np.asarray(image) == np.asarray(colour)).reshape(48, 48, -1).all(axis=2)
    assert (found.rgb[hidden] == 255).all() and hidden.any()
    expected = np.asarray(image.convert("RGB"))
    assert np.array_equal(found.rgb[~hidden], expected[~hidden])


def test_sixteen_bits_of_gray_and_of_colour_are_rounded_alike() -> None:
    values = (np.arange(48 * 48, dtype=np.uint32) * 28).reshape(48, 48).astype(np.uint16)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    def png(colour: int, planes: int) -> bytes:
        rows = np.repeat(values[:, :, None], planes, axis=2).astype(">u2")
        raw = b"".join(b"\0" + row.tobytes() for row in rows)
        head = struct.pack(">IIBBBBB", 48, 48, 16, colour, 0, 0, 0)
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")

    gray, colour = Picture.from_bytes(png(0, 1)), Picture.from_bytes(png(2, 3))
    assert np.array_equal(gray.rgb, colour.rgb)
    assert gray.normalised[0] == colour.normalised[0] == "depth:16->8"


def test_pixels_without_a_known_white_are_refused_in_one_line() -> None:
    for kind in (np.float32, np.int32):
        image = Image.fromarray(PIXELS[:, :, 0].astype(kind))
        with pytest.raises(BadImage, match=r"scan.tif has 32-bit pixels, whose white nobody knows"):
            Picture.from_bytes(encoded("TIFF", image), "scan.tif")


def wide_profile() -> bytes:
    """A profile that is not sRGB: Lab to itself is the only other one that Pillow makes."""
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()


def test_a_profile_is_a_recorded_step_and_an_unusable_one_a_remark() -> None:
    usual, other = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
    lab = ImageCms.profileToProfile(IMAGE, usual, other, outputMode="LAB")
    assert lab is not None
    found = Picture.from_bytes(encoded("TIFF", lab, icc_profile=wide_profile()))
    assert [step.partition(":")[0] for step in found.normalised] == ["icc"] and found.normalised[0].endswith("->sRGB")
    apart = np.abs(found.rgb.astype(int) - PIXELS)
    assert apart.mean() < 1 and apart.max() <= 6, "the colours that were meant"
    broken = Picture.from_bytes(encoded("PNG", icc_profile=b"no profile at all" * 9))
    assert (broken.remarks, broken.normalised) == (("icc_unusable",), ())
    same = ImageCms.ImageCmsProfile(usual).tobytes()
    assert Picture.from_bytes(encoded("PNG", icc_profile=same)).normalised == ()


def test_what_a_png_says_of_its_colours_is_remarked() -> None:
    plain = encoded("PNG")
    gamma = b"gAMA" + struct.pack(">I", 100_000)
    code = b"cICP" + bytes([9, 16, 0, 1])
    both = b"".join(struct.pack(">I", 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in (gamma, code))
    found = Picture.from_bytes(plain[:33] + both + plain[33:])
    assert found.remarks == ("gamma_not_applied:1", "cicp_not_applied")
    assert Picture.from_bytes(plain).remarks == ()


@pytest.mark.parametrize("kind", ["EPS", "TGA", "DDS", "ICO", "PCX"])
def test_what_is_no_picture_format_is_not_opened_whatever_it_is_called(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subprocess.check_call", lambda *_, **__: pytest.fail("a program was started"))
    with pytest.raises(BadImage, match=r"photo.png is no image that"):
        Picture.from_bytes(encoded(kind), "photo.png")


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [("AVIF", "image/avif"), ("JPEG2000", "image/jp2"), ("PPM", "image/x-portable-anymap"), ("WEBP", "image/webp")],
)
def test_formats_keep_their_name(kind: str, media_type: str) -> None:
    assert Picture.from_bytes(encoded(kind)).media_type == media_type


def bare_png(side: int) -> bytes:
    """The header of a PNG of that many pixels, and next to nothing behind it."""
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = [b"IHDR" + head, b"IDAT" + zlib.compress(b"\0"), b"IEND"]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(one) - 4) + one + struct.pack(">I", zlib.crc32(one)) for one in chunks
    )


@pytest.mark.parametrize("side", [10_000, 20_000])
def test_a_picture_that_is_too_large_names_its_size_the_limit_and_the_setting(side: int) -> None:
    size = side * side // 1_000_000
    words = rf"huge.png has {size} million pixels, and 89 million are the most: .* TURNGATE_MAX_MEGAPIXELS={size}"
    with pytest.raises(TooManyPixels, match=words):
        Picture.from_bytes(bare_png(side), "huge.png")


def test_the_limit_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNGATE_MAX_MEGAPIXELS", "0.002")
    with pytest.raises(TooManyPixels, match="has 0 million pixels, and 0 million"):
        Picture.from_bytes(encoded("PNG"), "photo.png")
    monkeypatch.setenv("TURNGATE_MAX_MEGAPIXELS", "500")
    with pytest.raises(BadImage, match="not a whole image"):  # opened, and found to be empty
        Picture.from_bytes(bare_png(15_000), "huge.png")
    monkeypatch.setenv("TURNGATE_MAX_MEGAPIXELS", "many")
    with pytest.raises(ConfigError, match="TURNGATE_MAX_MEGAPIXELS='many' is no number"):
        Picture.from_bytes(encoded("PNG"))


@pytest.mark.parametrize(("kind", "suffix"), [("JPEG", "jpg"), ("JPEG2000", "jp2")])
def test_a_size_is_honoured_before_the_limit(
    kind: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An origin that is too large as it is, and is shrunk anyhow, is decoded at a lower resolution."""
    large = Image.fromarray(np.kron(photograph(256), np.ones((4, 4, 1), np.uint8)))
    (tmp_path / f"large.{suffix}").write_bytes(encoded(kind, large))
    origin = OriginConfig(image=str(tmp_path / f"large.{suffix}"), size=128)
    whole = load_origin(origin)
    monkeypatch.setenv("TURNGATE_MAX_MEGAPIXELS", "0.3")
    found = load_origin(origin)
    assert (found.width, found.height) == (whole.width, whole.height) == (128, 128)
    assert np.abs(found.rgb.astype(int) - whole.rgb).mean() < 6
    with pytest.raises(TooManyPixels):
        load_origin(OriginConfig(image=origin.image))
    encoded_png = tmp_path / "large.png"
    encoded_png.write_bytes(encoded("PNG", large))
    with pytest.raises(TooManyPixels):  # a PNG has one resolution
        load_origin(OriginConfig(image=str(encoded_png), size=128))


SEEDS: dict[str, bytes] = {
    kind: encoded(kind) for kind in ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP", "AVIF", "JPEG2000")
}
READERS: list[Callable[[bytes], object]] = [Picture.from_bytes, lambda data: thumbnail(data, 32)]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    kind=st.sampled_from(sorted(SEEDS)),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=8),
    kept=st.floats(0.05, 1),
)
def test_a_damaged_file_is_a_bad_image_or_a_picture_and_nothing_else(
    kind: str, changes: list[tuple[float, int]], kept: float
) -> None:
    data = bytearray(SEEDS[kind])
    for place, value in changes:
        data[int(place * len(data))] = value
    for read in READERS:
        try:
            read(bytes(data[: max(1, int(kept * len(data)))]))
        except BadImage as error:
            assert "\n" not in str(error)


def test_a_file_is_named_where_it_is_bad(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(encoded("JPEG")[:200])
    with pytest.raises(BadImage, match=r"photo.jpg"):
        Picture.from_file(path)
