#!/usr/bin/env python3
"""Writes what the tests of images compare with, beside this script: small files, and
the pixels that they hold (NAME.rgb: row-major red, green, blue).

PNGs are encoded here, byte by byte, and their pixels are computed by the format's
definition. JPEGs are encoded and decoded by PIL (over libjpeg-turbo), the package
pillow, which tests do without.
"""

import io
import pathlib
import struct
import zlib

from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
SAMPLES = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
# Adam7: first column and row, steps to the right and down.
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
          (1, 0, 2, 2), (0, 1, 1, 2)]


def pattern(row, column, channel):
    """In [0, 2^16): slopes with edges in them. The tests know it, too."""
    return (row * 1543 + column * 2311 + channel * 9007 + (row * column * 97 ^ 0x2b31)) & 0xffff


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))


def paeth(left, above, corner):
    guess = left + above - corner
    return min((left, above, corner), key=lambda one: abs(guess - one))


def filtered(rows, pixel):
    """Each row after its filter's number, the five of them by turns."""
    out, before = b"", None
    for number, row in enumerate(rows):
        before = before or bytes(len(row))
        kind = number % 5
        out += bytes([kind])
        for i, byte in enumerate(row):
            left = row[i - pixel] if i >= pixel else 0
            corner = before[i - pixel] if i >= pixel else 0
            guess = [0, left, before[i], (left + before[i]) // 2,
                     paeth(left, before[i], corner)][kind]
            out += bytes([(byte - guess) & 255])
        before = row
    return out


def packed(samples, depth):
    """A row of samples, as bytes."""
    if depth == 16:
        return struct.pack(f">{len(samples)}H", *samples)
    bits = "".join(f"{sample:0{depth}b}" for sample in samples)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def png(kind, depth, height, width, sample, interlaced=False, extra=b""):
    count = SAMPLES[kind]
    pixel = max(1, count * depth // 8)
    data = b""
    for left, top, right, down in PASSES if interlaced else [(0, 0, 1, 1)]:
        columns = range(left, width, right)
        rows = [packed([sample(y, x, c) for x in columns for c in range(count)], depth)
                for y in range(top, height, down) if columns]
        data += filtered(rows, pixel)
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra
            + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def colours(kind, depth, pixel):
    """Red, green and blue of one pixel's samples, in eight bits."""
    most = 2 ** depth - 1
    scaled = [(sample * 255 + most // 2) // most for sample in pixel]
    return scaled[:3] if kind in (RGB, RGBA) else scaled[:1] * 3


def record_png(name, kind, depth, height, width, interlaced=False, extra=b""):
    def sample(row, column, channel):
        return pattern(row, column, channel) >> (16 - depth)

    write(f"{name}.png", png(kind, depth, height, width, sample, interlaced, extra))
    pixels = [colours(kind, depth, [sample(y, x, c) for c in range(SAMPLES[kind])])
              for y in range(height) for x in range(width)]
    write(f"{name}.rgb", bytes(value for pixel in pixels for value in pixel))


def record_palette(name, depth, height, width, interlaced=False):
    table = [[(7 * i + 60 * c) & 255 for c in range(3)] for i in range(2 ** depth)]
    extra = (chunk(b"PLTE", bytes(value for entry in table for value in entry))
             + chunk(b"tRNS", bytes(range(0, 2 ** depth, 2))))

    def sample(row, column, _):
        return pattern(row, column, 0) >> (16 - depth)

    write(f"{name}.png", png(PALETTE, depth, height, width, sample, interlaced, extra))
    write(f"{name}.rgb", bytes(value for y in range(height) for x in range(width)
                               for value in table[sample(y, x, 0)]))


def picture(height, width):
    data = bytes(pattern(y, x, c) >> 8 for y in range(height) for x in range(width)
                 for c in range(3))
    return Image.frombytes("RGB", (width, height), data)


def record_jpeg(name, image, **options):
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    write(f"{name}.jpg", file.getvalue())
    write(f"{name}.rgb", Image.open(io.BytesIO(file.getvalue())).convert("RGB").tobytes())


def write(name, data):
    (HERE / name).write_bytes(data)


def record_pngs():
    for depth in (1, 2, 4, 8, 16):
        record_png(f"grey{depth}", GREY, depth, 11, 13)
        record_png(f"grey{depth}_interlaced", GREY, depth, 11, 13, True)
    for depth in (8, 16):
        record_png(f"rgb{depth}", RGB, depth, 11, 13)
        record_png(f"rgba{depth}_interlaced", RGBA, depth, 9, 7, True)
        record_png(f"grey_alpha{depth}", GREY_ALPHA, depth, 5, 6)
    for depth in (1, 2, 4, 8):
        record_palette(f"palette{depth}", depth, 11, 13, depth == 4)
    record_png("one", RGB, 8, 1, 1, True)
    # A transparent colour, and what is passed over: gamma, a profile, texts.
    extra = (chunk(b"gAMA", struct.pack(">I", 100000)) + chunk(b"iCCP", b"x\0\0junk")
             + chunk(b"tRNS", struct.pack(">3H", 1, 2, 3)) + chunk(b"tEXt", b"a\0b"))
    record_png("chunks", RGB, 8, 5, 4, extra=extra)


def record_jpegs():
    image = picture(21, 27)
    record_jpeg("sampled", image, quality=90)
    record_jpeg("full", image, quality=95, subsampling=0)
    record_jpeg("restarts", image, quality=90, restart_marker_blocks=2)
    record_jpeg("progressive", image, quality=90, progressive=True)
    record_jpeg("grey", image.convert("L"), quality=90)
    record_jpeg("grey_progressive", image.convert("L"), quality=90, progressive=True)
    record_jpeg("cmyk", image.convert("CMYK"), quality=95)
    record_jpeg("pixel", picture(1, 1), quality=90)


def record_grey():
    write("luma.grey", picture(11, 13).convert("L").tobytes())


if __name__ == "__main__":
    record_pngs()
    record_jpegs()
    record_grey()
