#!/usr/bin/env python3
"""Record the cases of the operations on picture files from TensorFlow, into tests/conform/ops.

    picture_files.py [FOLDER]

GIFs are put together here, block by block, so that there is one of each kind: transparent colours, frames beside the canvas,
interlaced ones, tables of their own, and every way to be damaged. Whole pictures are in the recorded files of golden. Needs
TensorFlow 2.21.
"""
import os
import struct
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "conform"))

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from op_case_model import DTYPE, I32, I64, INVALID, SHAPE, U8, VALUE, case, write  # noqa: E402

FILES = os.path.join(HERE, "..", "..", "tests", "golden", "data", "image", "files")
RNG = np.random.RandomState(815)


def read(name):
    with open(os.path.join(FILES, name), "rb") as file:
        return file.read()


def record(op, name, inputs, attributes=None, fails=None):
    """A case with TensorFlow's answer; `fails`: reason and keyword of the library's failure where TensorFlow fails."""
    function = getattr(tf.io, op)
    try:
        answer = function(*[tf.constant(v) for v in inputs], **(attributes or {}))
        answer = answer.numpy()
    except (tf.errors.InvalidArgumentError, ValueError) as error:
        if fails is None:
            raise SystemExit(f"{op} {name}: {error}")
        case(op, name, inputs, attributes=attributes, error=(INVALID, *fails))
        return
    if fails is not None:
        raise SystemExit(f"{op} {name}: TensorFlow gives {answer.shape}")
    case(op, name, inputs, answer, attributes)


# ---- GIF ----

def codes(pixels, bits=2):
    """Pixels as codes of bits + 1 bits, with a clearing code before each, so that no string is ever defined."""
    size, out, kept, count = bits + 1, bytearray(), 0, 0
    stream = [code for pixel in pixels for code in (1 << bits, pixel)] + [(1 << bits) + 1]
    for code in stream:
        kept |= code << count
        count += size
        while count >= 8:
            out.append(kept & 255)
            kept >>= 8
            count -= 8
    if count:
        out.append(kept)
    blocks = b"".join(bytes([len(out[i:i + 255])]) + bytes(out[i:i + 255]) for i in range(0, len(out), 255))
    return bytes([bits]) + blocks + b"\0"


def packed(pixels, bits):
    """Pixels as an encoder packs them, with strings that grow."""
    size, out, kept, count, table, word = bits + 1, bytearray(), 0, 0, {}, ()
    stream = [1 << bits]
    next_code, widths = (1 << bits) + 2, [size]
    table = {(i,): i for i in range(1 << bits)}
    for pixel in list(pixels) + [None]:
        if pixel is not None and word + (pixel,) in table:
            word += (pixel,)
            continue
        stream.append(table[word])
        widths.append(size)
        if pixel is not None:
            if next_code < 4096:
                table[word + (pixel,)] = next_code
                if next_code == 1 << size and size < 12:
                    size += 1
                next_code += 1
            word = (pixel,)
    stream.append((1 << bits) + 1)
    widths.append(size)
    for code, width in zip(stream, widths):
        kept |= code << count
        count += width
        while count >= 8:
            out.append(kept & 255)
            kept >>= 8
            count -= 8
    if count:
        out.append(kept)
    blocks = b"".join(bytes([len(out[i:i + 255])]) + bytes(out[i:i + 255]) for i in range(0, len(out), 255))
    return bytes([bits]) + blocks + b"\0"


COLOURS = bytes([0, 0, 0, 255, 0, 0, 10, 200, 30, 7, 8, 250])


def screen(width, height, table=COLOURS):
    flags = 0x80 | (len(table) // 3).bit_length() - 2 if table else 0
    return b"GIF89a" + struct.pack("<HHBBB", width, height, flags, 0, 0) + table


def control(transparent=None):
    return b"!\xf9\x04" + bytes([0 if transparent is None else 1, 0, 0, transparent or 0]) + b"\0"


def frame(pixels, left=0, top=0, interlaced=False, table=b"", data=None):
    height, width = pixels.shape
    flags = (0x40 if interlaced else 0) | (0x80 | (len(table) // 3).bit_length() - 2 if table else 0)
    rows = pixels if not interlaced else pixels[[y for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(first, height, step)]]
    return b"," + struct.pack("<HHHHB", left, top, width, height, flags) + table + (data or codes(rows.reshape(-1).tolist()))


a, b = RNG.randint(0, 4, (4, 5)), RNG.randint(0, 4, (2, 3))
tall = RNG.randint(0, 4, (11, 3))
end = b";"
record("decode_gif", "one_frame", [screen(5, 4) + frame(a) + end])
record("decode_gif", "two_frames", [screen(5, 4) + frame(a) + frame(a[::-1]) + end])
record("decode_gif", "small_second_frame", [screen(5, 4) + frame(a) + frame(b, 1, 2) + end])
record("decode_gif", "frame_over_the_edge", [screen(5, 4) + frame(a) + frame(b, 4, 3) + end])
record("decode_gif", "frame_outside", [screen(5, 4) + frame(a) + frame(b, 9, 9) + end])
record("decode_gif", "small_first_frame", [screen(5, 4) + frame(b, 1, 1) + frame(a) + end])
record("decode_gif", "screen_larger_than_frames", [screen(9, 8) + frame(a, 2, 1) + end])
record("decode_gif", "transparent", [screen(5, 4) + frame(a) + control(2) + frame(a[::-1]) + end])
record("decode_gif", "not_transparent", [screen(5, 4) + control() + frame(a) + end])
record("decode_gif", "interlaced", [screen(3, 11) + frame(tall, interlaced=True) + end])
record("decode_gif", "interlaced_short", [screen(3, 2) + frame(b, interlaced=True) + end])
record("decode_gif", "own_table", [screen(5, 4) + frame(a, table=COLOURS[::-1]) + end])
record("decode_gif", "comment", [screen(5, 4) + b"!\xfe\x03abc\0" + frame(a) + b"!\xfe\x01x\0" + end])
large = (np.add.outer(np.arange(60), np.arange(50)) // 7 % 16).astype(int)
sixteen = bytes(RNG.randint(0, 256, 48).tolist())
record("decode_gif", "strings", [screen(50, 60, sixteen) + frame(large, data=packed(large.reshape(-1).tolist(), 4)) + end])
noise = RNG.randint(0, 256, (90, 80))
many = bytes(RNG.randint(0, 256, 768).tolist())
record("decode_gif", "full_table", [screen(80, 90, many) + frame(noise, data=packed(noise.reshape(-1).tolist(), 8)) + end])
record("decode_gif", "colour_beyond", [screen(5, 4, COLOURS[:6]) + frame(a) + end], fails=(VALUE, "colour"))
record("decode_gif", "no_table", [screen(5, 4, b"") + frame(a) + end], fails=(VALUE, "without"))
record("decode_gif", "no_frame", [screen(5, 4) + end], fails=(VALUE, "frame"))
record("decode_gif", "no_end", [screen(5, 4) + frame(a)])
record("decode_gif", "second_cut", [(screen(5, 4) + frame(a) + frame(a[::-1]))[:-6]])
record("decode_gif", "second_undefined", [screen(5, 4) + frame(a) + frame(b, data=b"\x02\x02\xfc\xff\0") + end])
record("decode_gif", "unknown_behind", [screen(5, 4) + frame(a) + b"?" + frame(a) + end])
record("decode_gif", "behind_the_end", [screen(5, 4) + frame(a) + end + b"xyz"])
record("decode_gif", "cut", [(screen(5, 4) + frame(a))[:-6]], fails=(VALUE, "GIF"))
record("decode_gif", "header_only", [b"GIF89a"], fails=(VALUE, "GIF"))
record("decode_gif", "unknown_block", [screen(5, 4) + b"?" + end], fails=(VALUE, "unknown"))
record("decode_gif", "too_few_codes", [screen(5, 4) + frame(a, data=codes([1, 2, 3])) + end], fails=(VALUE, "early"))
record("decode_gif", "undefined_code", [screen(5, 4) + frame(a, data=b"\x02\x02\xfc\xff\0") + end], fails=(VALUE, "GIF"))
record("decode_gif", "bitmap", [read("b_rgb.bmp")], fails=(VALUE, "BMP"))

# ---- BMP ----


def bitmap(pixels, top_down=False, header=54, more=b""):
    height, width, channels = pixels.shape
    rows = pixels if top_down else pixels[::-1]
    pad = b"\0" * (-width * channels % 4)
    data = b"".join(row.tobytes() + pad for row in rows)
    head = b"BM" + struct.pack("<IHHI", header + len(data), 0, 0, header)
    head += struct.pack("<IiiHHIIiiII", 40, width, -height if top_down else height, 1, channels * 8, 0, len(data), 0, 0, 0, 0)
    return head.ljust(header, b"\0")[:header] + data + more


for channels in (1, 3, 4):
    p = RNG.randint(0, 256, (3, 5, channels)).astype(U8)
    for wanted in (0, 3, 4):
        record("decode_bmp", "%d_as_%d" % (channels, wanted), [bitmap(p)], {"channels": wanted})
p = RNG.randint(0, 256, (3, 5, 3)).astype(U8)
record("decode_bmp", "top_down", [bitmap(p, True)])
record("decode_bmp", "long_header", [bitmap(p, header=70)])
record("decode_bmp", "grey", [bitmap(p)], {"channels": 1}, fails=(VALUE, "1"))
record("decode_bmp", "cut", [bitmap(p)[:-1]], fails=(VALUE, "BMP"))
record("decode_bmp", "longer", [bitmap(p, more=b"x")], fails=(VALUE, "BMP"))
record("decode_bmp", "header_only", [b"BM" + b"\0" * 20], fails=(VALUE, "BMP"))
record("decode_bmp", "two_channels", [bitmap(RNG.randint(0, 256, (2, 2, 2)).astype(U8))], fails=(VALUE, "16"))
record("decode_bmp", "another_format", [read("b.gif")], fails=(VALUE, "GIF"))

# ---- JPEG ----

record("is_jpeg", "some", [np.array([read("a_header_only.jpg")[:9], b"\xff\xd8", b"", b"\x89PNG"], object)])
record("is_jpeg", "scalar", [b"\xff\xd8\xff"])
record("is_jpeg", "matrix", [np.array([[b"\xff\xd8\xff\xe0", b"BM"]], object)])
record("is_jpeg", "nothing", [np.zeros((0, 2), object)])
case("is_jpeg", "numbers", [I32(1)], error=(INVALID, DTYPE, "string"))
jpeg = tf.io.encode_jpeg(RNG.randint(0, 256, (9, 13, 3)).astype(U8), quality=60).numpy()
grey = tf.io.encode_jpeg(RNG.randint(0, 256, (5, 4, 1)).astype(U8), quality=60).numpy()
record("extract_jpeg_shape", "colours", [jpeg])
record("extract_jpeg_shape", "grey", [grey])
record("extract_jpeg_shape", "int64", [jpeg], {"output_type": "int64"})
record("extract_jpeg_shape", "cut", [jpeg[:100]], fails=(VALUE, "JPEG"))
record("extract_jpeg_shape", "another_format", [read("b_rgb.bmp")[:40]], fails=(VALUE, "JPEG"))
case("extract_jpeg_shape", "dtype", [jpeg], attributes={"output_type": "float32"}, error=(INVALID, DTYPE, "int32"))
for i, window in enumerate(([0, 0, 9, 13], [1, 2, 3, 4], [8, 12, 1, 1], [2, 9, 7, 4])):
    record("decode_and_crop_jpeg", "window_%d" % i, [jpeg, np.array(window, I32)])
record("decode_and_crop_jpeg", "grey", [jpeg, np.array([1, 2, 3, 4], I32)], {"channels": 1})
record("decode_and_crop_jpeg", "accurate", [jpeg, np.array([1, 2, 7, 6], I32)], {"dct_method": "INTEGER_ACCURATE", "fancy_upscaling": False})
record("decode_and_crop_jpeg", "shrunk", [jpeg, np.array([1, 1, 3, 4], I32)], {"ratio": 2})
record("decode_and_crop_jpeg", "outside", [jpeg, np.array([1, 1, 9, 4], I32)], fails=(VALUE, "crop"))
record("decode_and_crop_jpeg", "empty", [jpeg, np.array([1, 1, 0, 4], I32)], fails=(VALUE, "crop"))
record("decode_and_crop_jpeg", "negative", [jpeg, np.array([-1, 1, 2, 4], I32)], fails=(VALUE, "crop"))
record("decode_and_crop_jpeg", "cut", [jpeg[:-30], np.array([0, 0, 2, 2], I32)], fails=(VALUE, "JPEG"))
record("decode_and_crop_jpeg", "another_format", [read("b.gif")[:99], np.array([0, 0, 2, 2], I32)], fails=(VALUE, "JPEG"))
case("decode_and_crop_jpeg", "three_numbers", [jpeg, np.array([0, 0, 2], I64)], error=(INVALID, SHAPE, "crop_window"))
p, one = RNG.randint(0, 256, (7, 9, 3)).astype(U8), RNG.randint(0, 256, (4, 3, 1)).astype(U8)
for name, attributes in (("default", {}), ("quality", {"quality": 12}), ("progressive", {"progressive": True}),
                         ("optimised", {"optimize_size": True}), ("chroma", {"chroma_downsampling": False}),
                         ("density", {"density_unit": "cm", "x_density": 1, "y_density": 700}), ("metadata", {"xmp_metadata": "<x/>"})):
    record("encode_jpeg", name, [p], attributes)
record("encode_jpeg", "grey", [one], {"format": "grayscale"})
record("encode_jpeg", "not_grey", [p], {"format": "grayscale"}, fails=(SHAPE, "1"))
record("encode_jpeg", "beyond", [p], {"quality": 101}, fails=(VALUE, "101"))
record("encode_jpeg", "unit", [p], {"density_unit": "mile"}, fails=(VALUE, "density_unit"))
record("encode_jpeg", "matrix", [p[0]], fails=(SHAPE, "3"))

# ---- WebP: files of every kind, made once by a public encoder ----

webp = {name: read("webp_%s.webp" % name) for name in ("lossless", "lossy", "alpha", "alpha_lossy", "animation", "opaque_animation")}
for name in ("lossless", "lossy", "alpha", "alpha_lossy", "animation"):
    stored = 4 if name.startswith("a") else 3
    for op in ("decode_webp", "decode_image"):
        record(op, "webp_" + name, [webp[name]])
        record(op, "webp_%s_channels" % name, [webp[name]], {"channels": stored})
        record(op, "webp_%s_other_channels" % name, [webp[name]], {"channels": 7 - stored}, fails=(VALUE, str(stored)))
    record("decode_image", "webp_%s_first" % name, [webp[name]], {"expand_animations": False})
record("decode_webp", "grey", [webp["lossy"]], {"channels": 1}, fails=(VALUE, "0"))
record("decode_webp", "cut", [webp["lossless"][:-60]], fails=(VALUE, "damaged"))
record("decode_webp", "cut_lossy", [webp["lossy"][:60]], fails=(VALUE, "damaged"))
record("decode_webp", "header_only", [webp["lossless"][:18]], fails=(VALUE, "damaged"))
record("decode_webp", "animation_cut", [webp["animation"][:-40]], fails=(VALUE, "damaged"))
record("decode_webp", "another_riff", [b"RIFF\x04\0\0\0WAVEfmt "], fails=(VALUE, "16"))
record("decode_webp", "nothing", [b""], fails=(VALUE, "empty"))
# TensorFlow writes four channels of an animation without alpha into memory for three, and dies: what the encoder was given.
opaque = tf.io.decode_webp(webp["lossless"]).numpy()
case("decode_webp", "opaque_animation", [webp["opaque_animation"]], np.concatenate([opaque, 255 - opaque]))
case("decode_image", "opaque_animation_first", [webp["opaque_animation"]], opaque[0], {"expand_animations": False})
# TensorFlow decodes other formats here, with another rank than it infers.
case("decode_webp", "another_format", [read("b.gif")], error=(INVALID, VALUE, "GIF"))

write({})
