"""What single functions and namespaces need: by the longest name that fits (a function's, a namespace's, or a start with `*` behind it).

A rule has the theme of the tensors (`dtypes`, `ranks`, `shapes`, `style`) and, under `of`, hints of its own by parameter.
"""
from draw import ANY, COMPLEX, FLOAT, INT, NUMBER, REAL
from hints import (distribution, folding, kernel, nd_indices, of, one_of, ragged, records, reshape_list, same, seed_pair, segment_ids, sparse,
                   square, structure, text)
from programs import py, ref

SQUARE = {"dtypes": REAL + REAL + COMPLEX + ["float16"], "shapes": [[2, 2], [3, 3], [1, 1], [2, 3, 3], [0, 0]], "of": {
    "matrix": square, "input": square, "tensor": square, "rhs": same("rhs"), "chol": square, "a": square, "adjoint": one_of(True, False)}}
IMAGES = {"dtypes": ["float32"] * 4 + ["uint8", "uint8", "float64", "float16", "int32"],
"shapes": [[4, 5, 3], [2, 4, 4, 3], [6, 3, 1], [1, 3, 4, 3]], "style": None, "of": {
    "size": lambda draw: py([draw.rng.randint(1, 7), draw.rng.randint(1, 7)]), "seed": seed_pair, "delta": one_of(0.1, 0.3, -0.2),
    "max_delta": one_of(0.1, 0.3), "lower": one_of(0.2, 0.5), "upper": one_of(0.9, 1.5), "k": one_of(0, 1, 2, 3, 5),
    "central_fraction": one_of(0.5, 0.7, 1.0), "factor": one_of(0.5, 1.5), "gamma": one_of(0.5, 1.0, 2.0), "gain": one_of(1.0, 2.0),
    "saturation_factor": one_of(0.5, 1.5), "contrast_factor": one_of(0.5, 1.5), "max_val": one_of(1.0, 255),
    "method": one_of("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"),
    "boxes": lambda draw: draw.tensor("boxes", "float32", [2, 4], "unit"), "scores": lambda draw: draw.tensor("scores", "float32", [2], "unit"),
    "max_output_size": one_of(1, 2), "box_indices": lambda draw: draw.ints("box_indices", draw.shape[0], [2], ("int32",)),
    "crop_size": one_of([2, 2], [3, 1]), "bounding_boxes": lambda draw: draw.tensor("boxes", "float32", [draw.shape[0], 1, 4], "unit"),
    "colors": None, "sizes": one_of([1, 2, 2, 1]), "strides": one_of([1, 1, 1, 1], [1, 2, 2, 1]), "rates": one_of([1, 1, 1, 1]),
    "padding": one_of("SAME", "VALID"), "image_size": one_of([4, 5, 3]), "jpeg_quality": one_of(50, 95), "min_jpeg_quality": one_of(50),
    "max_jpeg_quality": one_of(90), "contents": None}}


def conv(rank, shapes, strides, **more):
    """The rule of a convolution or a pooling over so many dimensions."""
    return {"dtypes": ["float32"] * 5 + FLOAT, "shapes": shapes, "of": {
        "filters": kernel(rank), "filter": kernel(rank), "kernel": kernel(rank), "strides": one_of(*strides), "stride": one_of(*strides),
        "ksize": one_of(*strides), "window_shape": one_of([2] * rank), "pool_size": one_of(1, 2), "pooling_type": one_of("MAX", "AVG"),
        "dilations": one_of(1, 1, 2), "dilation_rate": one_of(1, 2), "padding": one_of("SAME", "VALID", "same", "valid"),
        "data_format": None, "rate": one_of(1, 2), "output_shape": None, "depthwise_filter": kernel(rank), "pointwise_filter": None, **more}}


LINE, PLANE, SPACE = [[1, 6, 2], [2, 5, 1]], [[1, 5, 5, 2], [2, 4, 6, 1], [1, 3, 3, 3]], [[1, 3, 4, 4, 1], [2, 3, 3, 3, 2]]
CLASSES = {"labels": lambda draw: draw.ints("labels", draw.shape[-1] if draw.shape else 2, draw.shape[:-1]), "logits": same("logits")}
STRINGS = {"dtypes": ["string"], "ranks": (0, 2), "of": {
    "input": text, "inputs": text, "source": text, "strings": text, "bytes": text, "pos": one_of(0, 1, -1), "len": one_of(0, 1, 3),
    "unit": one_of("BYTE", "UTF8_CHAR"), "ngram_width": one_of(1, 2), "num_buckets": one_of(1, 5, 100), "key": one_of([1, 2]),
    "delimiter": one_of("", " ", ","), "sep": one_of(None, " ", ","), "input_encoding": one_of("UTF-8", "UTF-16-BE"),
    "output_encoding": one_of("UTF-8", "UTF-16-BE", "UTF-32-BE"), "errors": one_of("replace", "ignore", "strict"),
    "encoding": one_of("", "utf-8"), "maxsplit": one_of(-1, 1), "axis": one_of(None, 0, -1),
    "out_type": lambda draw: draw.dtype_name(["float32", "int32", "int64", "float64"]), "template": one_of("{}", "a {} b"), "data": text,
    "ngrams": None, "placeholder": one_of("{}")}}
SEGMENTS = {"ranks": (1, 3), "of": {
    "indices": lambda draw: draw.ints("indices", draw.shape[0], [3]), "segment_ids": segment_ids}}
SPARSE = {"dtypes": ["float32"] * 3 + ["int32", "int64", "float64", "string", "bool"], "of": {
    "sp_input": sparse, "sp_a": sparse, "sp_b": sparse, "a": sparse, "sp_inputs": lambda draw: ["list", [sparse(draw), sparse(draw)]],
    "tensor": same("tensor"), "input": sparse, "x": sparse, "y": sparse, "sp_x": sparse, "data": sparse,
    "b": lambda draw: draw.tensor("b", None, [draw.rng.randint(2, 4), 2]), "axis": one_of(0, 1, -1, None), "start": one_of([0, 0], [1, 0]),
    "size": one_of([1, 2], [2, 2]), "new_shape": one_of([5, 5]), "shape": one_of([4, 4], [-1]), "perm": one_of([1, 0], None),
    "inputs": lambda draw: ["list", [sparse(draw), sparse(draw)]], "default_value": None, "num_split": one_of(1, 2)}}
RAGGED = {"dtypes": ["float32"] * 3 + ["int32", "int64", "string"], "of": {
    "data": ragged, "input": ragged, "rt": ragged, "starts": lambda draw: draw.ints("starts", 3, [3]),
    "limits": lambda draw: draw.ints("limits", 6, [3]), "values": lambda draw: ["list", [ragged(draw), ragged(draw)]], "mask": None,
    "pylist": lambda draw: py([[1, 2], [3], []]), "op": None, "splits": one_of([0, 2, 3]), "segment_ids": one_of([0, 0, 2])}}
RANDOM = {"of": {
    "seed": seed_pair, "shape": lambda draw: py(draw.any_shape(0, 2)),
    "dtype": lambda draw: draw.dtype_name(["float32", "float64", "int32", "int64", "float16"]),
    "logits": lambda draw: draw.tensor("logits", "float32", [2, 3]), "value": same("value"), "minval": one_of(0, 1),
    "maxval": one_of(3, 10, None), "alg": one_of("auto_select", "philox", "threefry"), "alpha": one_of(0.5, [1.0, 3.0]),
    "lam": one_of(0.5, [4.0, 12.0]), "counts": one_of(5.0), "delta": one_of(0, 3)}}
FFT = {"dtypes": COMPLEX * 3 + ["float32"], "shapes": [[4], [5], [2, 4], [2, 3, 4], [2, 2, 3, 4]], "style": "plain", "of": {
    "fft_length": None}}
BITS = {"dtypes": INT, "ranks": (0, 2)}

MATRIX = {**SQUARE, "of": {**SQUARE["of"], "x": square}}
KERAS = {"data_format": one_of("channels_last", None), "padding": one_of("same", "valid")}

RULES = {
    "tf": {"dtypes": ANY},
    "tf.math": {},
    "tf.nn": {"dtypes": ["float32"] * 5 + FLOAT + ["int32"]},
    "tf.linalg": SQUARE,
    "tf.image": IMAGES,
    "tf.strings": STRINGS,
    "tf.sparse": SPARSE,
    "tf.ragged": RAGGED,
    "tf.random.stateless*": RANDOM,
    "tf.random.experimental*": RANDOM,
    "tf.bitwise": BITS,
    "tf.signal": {"dtypes": REAL, "ranks": (1, 2), "of": {"signal": of(["float32", "float64"], [9]), "signals": of(["float32", "float64"], [9]),
        "window_length": one_of(1, 4, 5), "type": one_of(1, 2, 3), "num_mel_bins": one_of(4), "num_spectrogram_bins": one_of(5),
        "stfts": of(COMPLEX, [3, 3]), "type_": one_of(2)}},
    "tf.signal.fft*": FFT,
    "tf.signal.ifft*": FFT,
    "tf.signal.irfft*": FFT,
    "tf.signal.rfft*": {**FFT, "dtypes": REAL},
    "tf.keras.ops": {"dtypes": ANY, "of": KERAS},
    "tf.keras.ops.linalg": MATRIX,
    **{"tf.keras.ops." + word: MATRIX for word in (
        "eigh", "eig", "svd", "qr", "inv", "det", "cholesky", "cholesky_inverse", "solve", "lu_factor", "slogdet")},
    "tf.keras.ops.image": {**IMAGES, "of": {**IMAGES["of"], **KERAS}},
    "tf.keras.activations": {"dtypes": FLOAT, "ranks": (1, 3)},
    "tf.experimental.numpy": {"dtypes": ANY},
    "tf.nn.conv1d": conv(1, LINE, [1, 2]),
    "tf.nn.conv2d": conv(2, PLANE, [1, 2, [1, 2]]),
    "tf.nn.conv3d": conv(3, SPACE, [[1] * 5, [1, 2, 2, 2, 1]], dilations=None),
    "tf.nn.atrous_conv2d": conv(2, PLANE, [1]),
    "tf.nn.convolution": conv(2, PLANE, [1, 2], dilations=None),
    "tf.nn.max_pool1d": conv(1, LINE, [1, 2]),
    "tf.nn.max_pool": conv(2, PLANE, [1, 2]),
    "tf.nn.max_pool3d": conv(3, SPACE, [1, 2]),
    "tf.nn.avg_pool": conv(2, PLANE, [1, 2]),
    "tf.nn.avg_pool1d": conv(1, LINE, [1, 2]),
    "tf.nn.avg_pool3d": conv(3, SPACE, [1, 2]),
    "tf.nn.pool": conv(2, PLANE, [None, [1, 2]]),
    "tf.nn.max_pool_with_argmax": conv(2, PLANE, [1, 2]),
    "tf.nn.depthwise_conv2d": conv(2, PLANE, [[1, 1, 1, 1], [1, 2, 2, 1]], dilations=None),
    "tf.nn.dilation2d": conv(2, PLANE, [[1, 1, 1, 1]]),
    "tf.nn.erosion2d": conv(2, PLANE, [[1, 1, 1, 1]]),
    "tf.nn.depth_to_space": {"shapes": [[1, 2, 2, 4], [2, 1, 3, 8]], "of": {"block_size": one_of(2)}},
    "tf.nn.space_to_depth": {"shapes": [[1, 2, 2, 1], [2, 4, 6, 2]], "of": {"block_size": one_of(2)}},
    "tf.nn.local_response_normalization": {"dtypes": FLOAT, "shapes": PLANE},
    "tf.nn.bias_add": {"ranks": (2, 4), "of": {"bias": lambda draw: draw.tensor("bias", None, draw.shape[-1:]), "data_format": None}},
    "tf.nn.sparse_softmax_cross_entropy_with_logits": {"dtypes": FLOAT, "ranks": (1, 3), "of": CLASSES},
    "tf.nn.softmax_cross_entropy_with_logits": {"dtypes": FLOAT, "ranks": (1, 3), "of": {"labels": distribution,
        "logits": lambda draw: draw.tensor("logits")}},
    "tf.nn.moments": {"dtypes": FLOAT, "ranks": (1, 3), "of": {"axes": lambda draw: draw.axes(), "shift": None}},
    "tf.nn.in_top_k": {"dtypes": ["float32"], "shapes": [[2, 4], [3, 3]], "of": {"predictions": lambda draw: draw.tensor("predictions"),
        "targets": lambda draw: draw.ints("targets", 4, draw.shape[:1])}},
    "tf.nn.embedding_lookup": {"dtypes": FLOAT, "ranks": (1, 3), "of": {"ids": lambda draw: draw.ints("ids",
        draw.shape[0] if draw.shape else 1)}},
    "tf.nn.top_k": {"ranks": (1, 3)},
    "tf.math.top_k": {"ranks": (1, 3)},
    "tf.one_hot": {"of": {"indices": lambda draw: draw.ints("indices", 4, least=-1)}},
    "tf.gather": {"dtypes": ANY, "ranks": (1, 3), "of": {"axis": lambda draw: draw.axis() if draw.chance(0.2) else None}},
    "tf.gather_nd": {"dtypes": ANY, "ranks": (1, 3), "of": {"indices": nd_indices}},
    "tf.tensor_scatter_nd*": {"dtypes": ANY, "ranks": (1, 3), "of": {"indices": nd_indices, "tensor": lambda draw: draw.tensor("tensor")}},
    "tf.scatter_nd": {"dtypes": ANY, "ranks": (1, 3), "of": {"indices": nd_indices, "shape": lambda draw: py(draw.shape)}},
    "tf.math.segment*": SEGMENTS,
    "tf.math.unsorted_segment*": SEGMENTS,
    "tf.sparse.segment*": SEGMENTS,
    "tf.reshape": {"dtypes": ANY, "of": {"shape": reshape_list, "tensor": lambda draw: draw.tensor("tensor")}},
    "tf.keras.ops.reshape": {"dtypes": ANY, "of": {"newshape": reshape_list}},
    "tf.cast": {"dtypes": ANY},
    "tf.dtypes": {"dtypes": ANY},
    "tf.concat": {"dtypes": ANY, "ranks": (1, 3), "of": {"values": lambda draw: ["list", [draw.tensor("x"), draw.tensor("x")]]}},
    "tf.stack": {"dtypes": ANY, "of": {"values": lambda draw: ["list", [draw.tensor("x"), draw.either("x", shape=draw.shape)]]}},
    "tf.unstack": {"dtypes": ANY, "ranks": (1, 3), "of": {"num": None}},
    "tf.split": {"dtypes": ANY, "ranks": (1, 3), "of": {"num": None}},
    "tf.sequence_mask": {"of": {"lengths": lambda draw: draw.ints("lengths", 5)}},
    "tf.math.bincount": {"of": {"arr": lambda draw: draw.ints("arr", 5), "weights": None, "minlength": one_of(0, 3), "maxlength": one_of(2, 8)}},
    "tf.where": {"dtypes": ANY, "of": {"condition": of(["bool"])}},
    "tf.keras.ops.where": {"of": {"condition": of(["bool"])}},
    "tf.boolean_mask": {"dtypes": ANY, "ranks": (1, 3), "of": {"mask": lambda draw: draw.tensor("mask", "bool", draw.shape[:draw.rng.randint(1,
        max(1, len(draw.shape)))]), "axis": None}},
    "tf.transpose": {"dtypes": ANY},
    "tf.linalg.matmul": {"dtypes": NUMBER, "shapes": [[2, 2], [3, 3], [2, 3, 3], [1, 2, 2, 2]], "of": {"b": lambda draw: draw.tensor("b"),
        "a": lambda draw: draw.tensor("a")}},
    "tf.linalg.diag*": {"dtypes": ANY, "ranks": (1, 3)},
    "tf.linalg.norm": {"dtypes": FLOAT + COMPLEX},
    "tf.linalg.eye": {},
    "tf.linalg.cross": {"shapes": [[3], [2, 3]], "of": {"b": lambda draw: draw.tensor("b")}},
    "tf.linalg.matvec": {"shapes": [[2, 2], [3, 3], [2, 2, 2]], "of": {"b": lambda draw: draw.tensor("b", None, draw.shape[:-1])}},
    "tf.linalg.band_part": {"dtypes": ANY, "ranks": (2, 4)},
    "tf.linalg.tensor_diag*": {"dtypes": NUMBER, "ranks": (1, 2)},
    "tf.linalg.trace": {"ranks": (2, 3)},
    "tf.linalg.set_diag": {"dtypes": ANY, "shapes": [[2, 3], [3, 3]], "of": {"diagonal": lambda draw: draw.tensor("diagonal", None,
        [min(draw.shape[-2:])]), "input": lambda draw: draw.tensor("input"), "k": None}},
    "tf.linalg.einsum": {"shapes": [[2, 2], [3, 3]]},
    "tf.einsum": {"shapes": [[2, 2], [3, 3]]},
    "tf.linalg.solve": SQUARE,
    "tf.linalg.lstsq": {**SQUARE, "shapes": [[3, 3], [4, 2]]},
    "tf.math.special": {"dtypes": FLOAT},
    "tf.clip_by_value": {"ranks": (0, 3)},
    "tf.math.polyval": {"of": {"coeffs": lambda draw: ["list", [draw.tensor("c"), draw.tensor("c")]]}},
    "tf.histogram_fixed_width": {"dtypes": REAL + ["int32"]},
    "tf.searchsorted": {"dtypes": ["float32", "int32", "int64", "float64"], "of": {"sorted_sequence": lambda draw: draw.keep("s", ["tensor",
        draw.dtype, [4], [one if "int" in draw.dtype else float(one) for one in (-2, 0, 1, 3)]]), "values": lambda draw: draw.tensor("v", None,
        [3])}},
    "tf.io.decode_raw": {"of": {"input_bytes": lambda draw: draw.keep("b", ["tensor", "string", [2], ["abcdefgh", "12345678"]]),
        "out_type": lambda draw: draw.dtype_name(INT + FLOAT)}},
    "tf.audio": {"of": {"audio": lambda draw: draw.tensor("audio", "float32", [5, 1], "unit"), "sample_rate": one_of(8000)}},
    "tf.nest": {"of": {"structure": structure, "nest1": structure, "nest2": structure, "flat_sequence": one_of([1, 2, 3]),
        "func": lambda draw: ["lambda", "e", ref("e")], "structure1": structure, "structure2": structure, "element": structure}},
    "tf.io.decode_csv": {"of": {"records": records, "record_defaults": lambda draw: ["list", [draw.choice([py([0]), py(["d"])]), py([1.5])]],
        "select_cols": None, "na_value": one_of("", "x")}},
    "tf.keras.utils.pad_sequences": {"of": {"sequences": one_of([[1, 2], [3]], [[1], [2, 3, 4]], [])}},
    "tf.keras.utils.to_categorical": {"of": {"x": one_of([0, 2, 1], [[1], [0]])}},
    "tf.scan": {"of": {"fn": folding}},
    "tf.fold*": {"of": {"fn": folding}},
    "tf.quantization": {"dtypes": REAL, "of": {"inputs": lambda draw: draw.tensor("inputs"), "min": one_of(-1.0), "max": one_of(1.0, 6.0),
        "num_bits": one_of(4, 8)}},
    "tf.sets": {"dtypes": ["int32", "int64", "string"], "shapes": [[2, 3], [1, 4]], "of": {"a": lambda draw: draw.tensor("a"),
        "b": lambda draw: draw.tensor("b"), "set_operation": one_of("a-b")}},
}
