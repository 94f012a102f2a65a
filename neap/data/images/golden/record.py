#!/usr/bin/env python3
"""Writes what the tests of images compare with, beside this script: small files, and
the pixels that they hold (NAME.rgb: row-major red, green, blue).

PNGs are encoded here, byte by byte, and their pixels are computed by the format's
definition. JPEGs are encoded and decoded by PIL (over libjpeg-turbo), which also
resizes, blends and enhances: needs the package pillow, which tests do without, in
version 12 at most (13 resizes columns first where that is less work, which may round
by one step in another way).
"""

import io
import math
import pathlib
import struct
import zlib

from PIL import Image, ImageEnhance, ImageOps

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
    read = ImageOps.exif_transpose(Image.open(io.BytesIO(file.getvalue())))
    write(f"{name}.rgb", read.convert("RGB").tobytes())


ORIENTATION = 0x0112  # a tag of EXIF


def record_turned():
    """NAME_ORIENTATION: a picture of 5 rows and 4 columns, and a file."""
    for orientation in range(2, 9):
        image = picture(5, 4)
        image.getexif()[ORIENTATION] = orientation
        write(f"upright_{orientation}.rgb", ImageOps.exif_transpose(image).tobytes())
    exif = Image.Exif()
    exif[0x010f], exif[ORIENTATION] = "a camera's maker", 6
    record_jpeg("turned", picture(21, 27), quality=90, exif=exif)


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


BILINEAR = Image.Resampling.BILINEAR
SIZES = [(16, 10), (50, 61), (37, 10), (80, 23), (1, 1), (36, 22), (5, 90)]


def record_resized():
    """NAME_HEIGHTxWIDTH: a picture of 37 rows and 23 columns, whole or in part."""
    image = picture(37, 23)
    for height, width in SIZES:
        write(f"resized_{height}x{width}.rgb",
              image.resize((width, height), BILINEAR).tobytes())
    write("resized_9x14.grey", image.convert("L").resize((14, 9), BILINEAR).tobytes())
    part = image.crop((3, 5, 3 + 11, 5 + 29))  # left, top, right, bottom
    write("part_12x13.rgb", part.resize((13, 12), BILINEAR).tobytes())
    pixel = picture(1, 1)
    write("pixel_3x4.rgb", pixel.resize((4, 3), BILINEAR).tobytes())


def record_middle(name, image, shorter, height, width):
    """torchvision's Resize(shorter) and CenterCrop((height, width))."""
    w, h = image.size
    short, long = min(w, h), max(w, h)
    size = (shorter, int(shorter * long / short))
    image = image.resize(size if w <= h else size[::-1], BILINEAR)
    w, h = image.size
    top, left = int(round((h - height) / 2.0)), int(round((w - width) / 2.0))
    write(f"{name}.rgb", image.crop((left, top, left + width, top + height)).tobytes())


def record_enhanced():
    image = picture(13, 17)
    for kind, factors in (("Brightness", (0.0, 0.6, 1.7)), ("Contrast", (0.0, 0.3, 1.9)),
                          ("Color", (0.0, 0.45, 1.8))):
        for factor in factors:
            changed = getattr(ImageEnhance, kind)(image).enhance(factor)
            write(f"{kind.lower()}_{int(100 * factor + 0.5)}.rgb", changed.tobytes())


def record_hues():
    """NAME_SHIFT: as torchvision's adjust_hue, by shifts of 1/255 of the circle."""
    for shift in (0, 25, 127, -127, -63):
        h, s, v = picture(13, 17).convert("HSV").split()
        h = Image.frombytes("L", h.size, bytes((hue + shift) & 255 for hue in h.tobytes()))
        write(f"hue_{shift}.rgb", Image.merge("HSV", (h, s, v)).convert("RGB").tobytes())


def philox(counter, key):
    for _ in range(10):
        p0, p1 = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(p1 >> 32) ^ counter[1] ^ key[0], p1 & 0xffffffff,
                   (p0 >> 32) ^ counter[3] ^ key[1], p0 & 0xffffffff]
        key = [(key[0] + 0x9E3779B9) & 0xffffffff, (key[1] + 0xBB67AE85) & 0xffffffff]
    return counter


def words(seed, epoch, index, block):
    """Four of a sample: 32 blocks each, of the draw 11 * 2^60 + epoch."""
    count, draw = 32 * index + block, (11 << 60) + epoch
    return philox([count & 0xffffffff, count >> 32, draw & 0xffffffff, draw >> 32],
                  [seed & 0xffffffff, seed >> 32])


def uniform(high, low):
    return ((high << 21) ^ (low >> 11)) * 2.0 ** -53


def crop(height, width, area, ratio, seed, epoch, index):
    """torchvision's RandomResizedCrop.get_params, over numbers of ours."""
    for block in range(10):
        w = words(seed, epoch, index, block)
        target = height * width * (area[0] + (area[1] - area[0]) * uniform(w[0], w[1]))
        logs = math.log(ratio[0]), math.log(ratio[1])
        aspect = math.exp(logs[0] + (logs[1] - logs[0]) * uniform(w[2], w[3]))
        across, down = round(math.sqrt(target * aspect)), round(math.sqrt(target / aspect))
        if 0 < across <= width and 0 < down <= height:
            place = words(seed, epoch, index, 10)
            return ((place[0] * (height - down + 1)) >> 32,
                    (place[1] * (width - across + 1)) >> 32, down, across)
    own, across, down = width / height, width, height
    if own < min(ratio):
        down = round(width / min(ratio))
    elif own > max(ratio):
        across = round(height * max(ratio))
    return (height - down) // 2, (width - across) // 2, down, across


def record_crops():
    """Lines of: height width low high (of area) low high (of ratio) seed epoch index,
    and top left height width of the part."""
    lines = []
    for height, width, area, ratio in (
            (375, 500, (0.08, 1.0), (0.75, 4 / 3)), (64, 48, (0.5, 1.0), (0.9, 1.1)),
            (20, 300, (0.9, 1.0), (0.75, 4 / 3)), (300, 20, (0.9, 1.0), (0.75, 4 / 3)),
            (7, 7, (1e-4, 1e-3), (0.5, 2.0))):
        for seed, epoch, index in ((7, 0, 0), (7, 0, 1), (7, 1, 0), (2 ** 40 + 3, 5, 90000),
                                   (0, 123, 4000000000)):
            part = crop(height, width, area, ratio, seed, epoch, index)
            lines.append([height, width, *area, *ratio, seed, epoch, index, *part])
    write("crops.txt", "".join(" ".join(map(repr, line)) + "\n" for line in lines).encode())


if __name__ == "__main__":
    record_pngs()
    record_jpegs()
    record_grey()
    record_resized()
    record_middle("middle_24", picture(37, 23), 24, 20, 17)
    record_middle("middle_31", picture(23, 40), 31, 30, 31)
    record_enhanced()
    record_hues()
    record_turned()
    record_crops()
