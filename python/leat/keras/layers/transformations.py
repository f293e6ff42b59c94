"""What layers of pictures draw for a call, and what pictures become of it (``get_random_transformation``).

Each kind that draws has two functions here: one draws, in Keras' order and under its keys, so that a transformation
may be looked at, made by hand or used for several inputs; the other computes floats [batch, height, width, channels]
of it. A call of a layer computes the same in one operation of the library.
"""

import random as python_random

from leat._core.tensor import convert_to_tensor
from leat.keras import ops, random
from leat.keras._base import calls, registry
from leat.keras._base.named import op as _op


class Replay(random.SeedGenerator):
    """A generator that gives what another one gives from a state on, without a state of its own to change: the noise of
    pictures again for their masks."""

    def __init__(self, state):
        self._from, self._calls = state, 0

    def next(self, ordered=True):
        """The seed of this call."""
        self._calls += 1
        return self._from + convert_to_tensor([0, self._calls - 1], "int64")

    def again(self):
        """One that begins where this one began."""
        return Replay(self._from)


class Start(tuple):
    """Where a part of pictures begins, (row, column), and the `shape` that the pictures had."""

    shape = None


class Pictures:
    """What draws are made for: the pictures' shape and number, the layer and a generator or seed."""

    def __init__(self, layer, images, seed):
        self.layer, self.images, self.seed = layer, images, seed
        self.shape = ops.shape(images)
        rank, first = len(self.shape), layer.data_format == "channels_first"
        if rank not in (3, 4):
            raise ValueError(f"Expected the input image to be rank 3 or 4. Received: inputs.shape={self.shape}")
        self.is_batch, self.count = rank == 4, self.shape[0] if rank == 4 else 1
        self.height, self.width = self.shape[-2 if first else -3], self.shape[-1 if first else -2]
        self.each = (self.count, 1, 1, 1) if self.is_batch else (1, 1, 1)

    def uniform(self, shape, low=0.0, high=1.0):
        """Numbers of [low, high)."""
        return random.uniform(shape, low, high, seed=self.seed)

    def by_chance(self, factor):
        """For each picture: is it changed, with a chance drawn from a range?"""
        chance = self.uniform((self.count,), *factor)
        return self.uniform((self.count,)) < chance


def pair(factor, is_around_zero=True):
    """A factor as its bounds."""
    if isinstance(factor, (int, float)):
        return (-abs(factor) if is_around_zero else 0.0, abs(factor))
    return tuple(sorted(factor))


def _rows(numbers):
    """A number for each picture, or one for all, as [n, 1, 1, 1]."""
    return ops.reshape(numbers, (-1, 1, 1, 1))


def _rescaled(x, source, target):
    if tuple(source) == tuple(target):
        return x
    return (x - source[0]) / (source[1] - source[0]) * (target[1] - target[0]) + target[0]


def _clipped(x, layer):
    return ops.clip(x, layer.value_range[0], layer.value_range[1])


# ---- colours ----

def _draw_brightness(p):
    low, high = p.layer.value_range
    return {"rgb_delta": p.uniform(p.each, *p.layer.factor) * (high - low)}


def _brighten(layer, x, found, _):
    return _clipped(x + ops.cast(_rows(found["rgb_delta"]), x.dtype), layer)


def _draw_contrast(p):
    low, high = pair(p.layer.factor, False) if not isinstance(p.layer.factor, tuple) else p.layer.factor
    return {"contrast_factor": p.uniform(p.each, 1.0 - low, 1.0 + high)}


def _contrast(layer, x, found, _):
    mean = ops.mean(ops.mean(x, axis=1, keepdims=True), axis=2, keepdims=True)
    return _clipped((x - mean) * ops.cast(_rows(found["contrast_factor"]), x.dtype) + mean, layer)


def _draw_factor(p):
    return {"factor": p.uniform((p.count,), *p.layer.factor)}


def _draw_degeneration(p):
    return {"factor": p.uniform((p.count, 1, 1, 1), *p.layer.factor)}


def _grey(x):
    return ops.image.rgb_to_grayscale(x, data_format="channels_last")


def _degenerate(layer, x, found, _):
    return _clipped(x + ops.cast(_rows(found["factor"]), x.dtype) * (_grey(x) - x), layer)


def _draw_hue(p):
    turned = p.uniform((p.count,)) > 0.5
    factor = p.uniform((p.count,), *p.layer.factor) * 0.5
    return {"factor": ops.where(turned, -factor, factor)}


def _of_hsv(x, change):
    """Pictures whose hue, saturation and value are changed by a function of the three."""
    parts = ops.split(ops.image.rgb_to_hsv(x, data_format="channels_last"), 3, axis=-1)
    return ops.image.hsv_to_rgb(ops.concatenate(change(*parts), axis=-1), data_format="channels_last")


def _shift_hue(layer, x, found, _):
    def change(hue, saturation, value):
        hue = hue + ops.cast(_rows(found["factor"]), hue.dtype)
        hue = ops.where(hue > 1.0, hue - 1.0, hue)
        return [ops.where(hue < 0.0, hue + 1.0, hue), saturation, value]
    x = ops.clip(_of_hsv(_rescaled(x, layer.value_range, (0, 1)), change), 0, 1)
    return _rescaled(x, (0, 1), layer.value_range)


def _draw_saturation(p):
    factor = p.uniform((p.count,), *p.layer.factor)
    return {"factor": factor / (1 - factor + 1e-7)}


def _saturate(layer, x, found, _):
    return _of_hsv(x, lambda hue, saturation, value: [
        hue, _clipped(saturation * ops.cast(_rows(found["factor"]), hue.dtype), layer), value])


def _sharpen(layer, x, found, _):
    beside, middle = 1.0 / 13.0, 5.0 / 13.0
    kernel = ops.convert_to_tensor([[beside] * 3, [beside, middle, beside], [beside] * 3], x.dtype)
    kernel = ops.tile(ops.reshape(kernel, (3, 3, 1, 1)), (1, 1, x.shape[-1], 1))
    smooth = ops.depthwise_conv(x, kernel, strides=1, padding="same", data_format="channels_last")
    return _clipped(x + (1.0 - _rows(ops.cast(found["factor"] * 2, x.dtype))) * (smooth - x), layer)


def _draw_inversion(p):
    return {"apply_inversion": p.by_chance(pair(p.layer.factor, False))}


def _invert(layer, x, found, _):
    return ops.where(_rows(found["apply_inversion"]), layer.value_range[1] - x, x)


def _draw_grey(p):
    return _rows(p.uniform((p.count,)) < p.layer.factor)


def _make_grey(layer, x, found, _):
    return ops.where(_rows(found), _grey(x), x)


def _draw_bits(p):
    low, high = p.layer.factor if isinstance(p.layer.factor, (list, tuple)) else (1, p.layer.factor)
    if low == high:
        kept = ops.full((p.count,), low, dtype="uint8")
    else:
        kept = random.randint((p.count,), low, high, "uint8", p.seed)
    return {"shift_factor": ops.subtract(ops.cast(8, "uint8"), kept)}


def _posterize(layer, x, found, _):
    dtype, shift = x.dtype, ops.cast(_rows(found["shift_factor"]), "uint8")
    x = ops.cast(_rescaled(x, layer.value_range, (0, 255)), "uint8")
    x = ops.bitwise_left_shift(ops.bitwise_right_shift(x, shift), shift)
    return _rescaled(ops.cast(x, dtype), (0, 255), layer.value_range)


def _draw_solarization(p):
    return {f"{name}s": p.uniform(p.each, low, high * 255) for name, (low, high) in (
        ("addition", p.layer.addition_factor), ("threshold", p.layer.threshold_factor))}


def _solarize(layer, x, found, _):
    x = _rescaled(x, layer.value_range, (0, 255))
    x = ops.clip(x + ops.cast(_rows(found["additions"]), x.dtype), 0, 255)
    x = ops.where(x < ops.cast(_rows(found["thresholds"]), x.dtype), x, 255 - x)
    return _rescaled(x, (0, 255), layer.value_range)


def _draw_blur(p):
    applied = p.by_chance(pair(p.layer.factor, False))
    return {"should_apply_blur": applied, "blur_factor": p.uniform((2,), *p.layer.sigma) + 1e-6}


def _blur(layer, x, found, _):
    blurred = ops.image.gaussian_blur(x, layer.kernel_size, ops.cast(found["blur_factor"], x.dtype), "channels_last")
    return _clipped(ops.where(_rows(found["should_apply_blur"]), blurred, x), layer)


# ---- boxes of pixels, and pictures that are mixed ----

def _places(p, size, part):
    """Where the box of each picture begins and ends along a direction."""
    size = ops.cast(size, "float32")
    start = p.uniform((p.count,)) * (size - part * size)
    return _rows(start), _rows(start + part * size)


def _inside(p, part_across, part_down):
    """Which pixels lie in the box of each picture, with the area that all boxes have."""
    (left, right), (top, bottom) = (_places(p, size, part) for size, part in (
        (p.width, part_across), (p.height, part_down)))
    y = ops.reshape(ops.arange(p.height, dtype="float32"), (1, -1, 1, 1))
    x = ops.reshape(ops.arange(p.width, dtype="float32"), (1, 1, -1, 1))
    inside = ops.logical_and(ops.logical_and(x >= left, x < right), ops.logical_and(y >= top, y < bottom))
    return inside, (right - left) * (bottom - top)


def _as_masks(p, inside):
    """Of one channel as of all, with channels where the layer has them."""
    first = p.layer.data_format == "channels_first"
    return p.layer._moved(ops.repeat(inside, p.shape[-3 if first else -1], axis=-1), False)


def _filling(p):
    fill, (low, high) = p.layer.fill_value, p.layer.value_range
    if fill is None:
        return ops.clip(random.normal(p.shape, seed=p.seed) * high, low, high)
    return ops.clip(ops.ones(p.shape) * ops.convert_to_tensor(fill, "float32"), low, high)


def _draw_erasing(p):
    part = ops.sqrt(p.uniform((p.count, 2), *pair(p.layer.scale, False)))
    inside = _as_masks(p, _inside(p, part[:, 0], part[:, 1])[0])
    applied = p.by_chance(pair(p.layer.factor, False))
    return {"apply_erasing": applied, "batch_masks": inside, "fill_value": _filling(p)}


def _of_layer(layer, x):
    """What has the layer's channels, and may be for one picture, as the library has it."""
    x = ops.convert_to_tensor(x)
    return layer._moved(x[None] if len(x.shape) == 3 else x, True) if len(x.shape) in (3, 4) else x


def _erase(layer, x, found, _):
    erased = ops.where(_of_layer(layer, found["batch_masks"]),
                       ops.cast(_of_layer(layer, found["fill_value"]), x.dtype), x)
    return ops.where(_rows(found["apply_erasing"]), erased, x)


def _draw_window(p):
    if not p.is_batch:
        return None
    alpha = p.uniform((), *pair(p.layer.factor, False)) + 1e-6
    part = ops.sqrt(1.0 - random.beta((p.count,), alpha, alpha, seed=p.seed))
    inside, area = _inside(p, part, part)
    order = random.shuffle(ops.arange(p.count, dtype="int32"), seed=p.seed)
    pixels = ops.cast(p.width * p.height, "float32")
    return {"permutation_order": order, "batch_masks": _as_masks(p, inside), "mix_weight": 1.0 - area / pixels}


def _others(x, found):
    return ops.take(x, ops.cast(found["permutation_order"], "int32"), axis=0)


def _paste(layer, x, found, _):
    return ops.where(_of_layer(layer, found["batch_masks"]), _others(x, found), x)


def _draw_mix(p):
    order = random.shuffle(ops.arange(p.count, dtype="int64"), seed=p.seed)
    return {"mix_weight": random.beta((p.count,), p.layer.alpha, p.layer.alpha, seed=p.seed),
            "permutation_order": order}


def _mix(layer, x, found, _):
    weight = ops.cast(_rows(found["mix_weight"]), x.dtype)
    return weight * x + (1.0 - weight) * _others(x, found)


def mixed_labels(labels, found):
    """Labels mixed as the pictures are."""
    weight = ops.reshape(ops.cast(found["mix_weight"], labels.dtype), (-1, 1))
    return weight * labels + (1.0 - weight) * _others(labels, found)


# ---- pixels that move ----

def _draw_flips(p):
    return {"flips": p.uniform(p.each) <= 0.5, "input_shape": p.shape}


def _flip(layer, x, found, _):
    flips = _rows(found["flips"])
    for way, axis in (("horizontal", 2), ("vertical", 1)):
        if way in layer.mode:
            x = ops.where(flips, ops.flip(x, axis=axis), x)
    return x


def middle(height, width, layer):
    """(top, left, height, width) of the part in the middle with the proportions of what a layer makes."""
    tall = max(min(height, int(float(width * layer.height) / layer.width)), 1)
    wide = max(min(width, int(float(height * layer.width) / layer.height)), 1)
    return int(float(height - tall) / 2), int(float(width - wide) / 2), tall, wide


def _draw_crop(p):
    layer = p.layer
    if not isinstance(p.height, int) or not isinstance(p.width, int):
        raise ValueError("RandomCrop requires the input to have a fully defined height and width. Received: "
                         f"images.shape={p.shape}")
    if p.is_training and p.height > layer.height and p.width > layer.width:
        start = Start(ops.cast(p.uniform((), 0.0, float(size - part + 1)), "int32") for size, part in (
            (p.height, layer.height), (p.width, layer.width)))
    else:
        start = Start(middle(p.height, p.width, layer)[:2])
    start.shape = p.shape
    return start


def _crop(layer, x, found, interpolation):
    top, left = found
    height, width = min(layer.height, x.shape[1]), min(layer.width, x.shape[2])
    part = _op("slice", x, ops.stack([0, top, left, 0]), [-1, height, width, -1])
    if (height, width) == (layer.height, layer.width):
        return part
    part = ops.image.resize(part, (layer.height, layer.width), interpolation, data_format="channels_last")
    return ops.cast(part, x.dtype)


def _seen(layer, x, numbers, interpolation):
    """Pictures seen through projections of eight numbers each."""
    return ops.image.affine_transform(x, numbers, interpolation=interpolation, fill_mode=layer.fill_mode,
                                      fill_value=layer.fill_value, data_format="channels_last")


def _numbers(*columns):
    """Projections of six columns [n, 1], numbers among them."""
    like = next(one for one in columns if not isinstance(one, (int, float)))
    like = ops.zeros_like(ops.cast(like, "float32"))
    return ops.concatenate([like + ops.cast(one, "float32") for one in (*columns, 0, 0)], axis=1)


def _draw_translation(p):
    down = p.uniform((p.count, 1), *pair(p.layer.height_factor)) * ops.cast(p.height, "float32")
    right = p.uniform((p.count, 1), *pair(p.layer.width_factor)) * ops.cast(p.width, "float32")
    return {"translations": ops.concatenate([right, down], axis=1), "input_shape": p.shape}


def _translate(layer, x, found, interpolation):
    moves = ops.convert_to_tensor(found["translations"])
    return _seen(layer, x, _numbers(1, 0, -moves[:, :1], 0, 1, -moves[:, 1:]), interpolation)


def _draw_rotation(p):
    low, high = p.layer.factor
    angle = p.uniform((p.count,), low * 360.0, high * 360.0)
    turn = ops.reshape(angle, (-1, 1)) * 0.017453292519943295
    sine, cosine = ops.sin(turn), ops.cos(turn)
    x, y = (0.5 * (ops.cast(size, "float32") - 1) for size in (p.width, p.height))
    matrix = _numbers(cosine, -sine, x - x * cosine + y * sine, sine, cosine, y - x * sine - y * cosine)
    return {"angle": angle, "rotation_matrix": matrix if p.is_batch else matrix[0], "image_height": p.height,
            "image_width": p.width, "batch_size": p.count}


def _rotate(layer, x, found, interpolation):
    return _seen(layer, x, ops.reshape(found["rotation_matrix"], (-1, 8)), interpolation)


def _draw_zoom(p):
    low, high = pair(p.layer.height_factor)
    tall = p.uniform((p.count, 1), 1.0 + low, 1.0 + high)
    wide = tall
    if p.layer.width_factor is not None:
        low, high = pair(p.layer.width_factor)
        wide = p.uniform((p.count, 1), 1.0 + low, 1.0 + high)
    return {"height_zoom": tall, "width_zoom": wide, "input_shape": p.shape}


def _zoom(layer, x, found, interpolation):
    height, width = ops.shape(x)[1:3]
    wide, tall = (ops.convert_to_tensor(found[name], "float32") for name in ("width_zoom", "height_zoom"))
    across, down = ((ops.cast(size, "float32") - 1) / 2 for size in (width, height))
    return _seen(layer, x, _numbers(wide, 0, across * (1 - wide), 0, tall, down * (1 - tall)), interpolation)


def _draw_shear(p):
    sign = ops.where(p.uniform((p.count, 1)) > 0.5, -1.0, 1.0)
    down, across = p.uniform((p.count, 1), *p.layer.y_factor), p.uniform((p.count, 1), *p.layer.x_factor)
    return {"shear_factor": ops.concatenate([across, down], axis=1) * sign, "input_shape": p.shape}


def _shear(layer, x, found, interpolation):
    factor = ops.convert_to_tensor(found["shear_factor"])
    return _seen(layer, x, _numbers(1, factor[:, :1], 0, factor[:, 1:], 1, 0), interpolation)


def _draw_perspective(p):
    applied = p.by_chance(pair(p.layer.factor, False))
    moves = p.uniform((p.count, 4, 2), -0.5 * p.layer.scale, 0.5 * p.layer.scale)
    none, right, bottom = ops.zeros(()), *(ops.cast(size, "float32") - 1.0 for size in (p.width, p.height))
    corners = ops.reshape(ops.stack([none, none, right, none, none, bottom, right, bottom]), (1, 4, 2))
    corners = corners + ops.zeros_like(moves)
    return {"apply_perspective": applied, "start_points": corners, "end_points": corners + corners * moves,
            "input_shape": p.shape}


def _look(layer, x, found, interpolation):
    seen = ops.image.perspective_transform(
        x, found["start_points"], found["end_points"], interpolation=interpolation, fill_value=layer.fill_value,
        data_format="channels_last")
    return ops.where(_rows(found["apply_perspective"]), seen, x)


def _draw_elastic(p):
    factor, scale = pair(p.layer.factor, False), pair(p.layer.scale, False)
    if scale[1] == 0 or factor[1] == 0:
        return None
    applied, size = p.by_chance(factor), p.uniform((), *scale)
    if not isinstance(p.seed, random.SeedGenerator):
        return {"apply_transform": applied, "distortion_factor": size, "seed": p.seed}
    return {"apply_transform": applied, "distortion_factor": size, "seed": Replay(p.seed.next())}


def _distort(layer, x, found, interpolation):
    height, width = x.shape[1:3]
    factor, seed = found["distortion_factor"], found["seed"]
    moved = ops.image.elastic_transform(
        x, alpha=max(height, width) * 0.1 * factor, sigma=min(height, width) * 0.05 * factor,
        interpolation=interpolation, fill_mode=layer.fill_mode, fill_value=layer.fill_value,
        seed=seed.again() if isinstance(seed, Replay) else seed, data_format="channels_last")
    return _clipped(ops.where(_rows(found["apply_transform"]), moved, x), layer)


# ---- policies: several layers one after the other ----

_STEPS = ("random_shear", "random_translation", "random_rotation", "random_brightness", "random_color_degeneration",
          "random_contrast", "random_sharpness", "random_posterization", "solarization", "auto_contrast",
          "equalization")
_MOVING_FIRST = ("random_shear", "random_translation", "random_rotation", "random_posterization", "solarization",
                 "auto_contrast", "equalization")


class _Steps:
    """The layers of a policy, by their names; they take no part in the weights of the one that they belong to."""

    def __init__(self, layer):
        factor, view = layer.factor, {"interpolation": layer.interpolation}
        arguments = {
            "random_shear": {"x_factor": factor, "y_factor": factor, **view},
            "random_translation": {"height_factor": factor, "width_factor": factor, **view},
            "random_rotation": {"factor": factor, **view},
            "random_posterization": {"factor": max(1, int(8 * factor[1]))},
            "solarization": {"addition_factor": factor, "threshold_factor": factor},
            "auto_contrast": {}, "equalization": {}}
        common = {"data_format": layer.data_format, "dtype": layer.dtype_policy,
                  "bounding_box_format": layer.bounding_box_format}
        self.by_name = {}
        for name in _STEPS:
            given = arguments.get(name, {"factor": factor})
            if not view.items() <= given.items():
                given = {**given, "value_range": layer.value_range}
            kind = "".join(word.capitalize() for word in name.split("_"))
            self.by_name[name] = registry.layer_class(kind)(**given, **common)


def steps_of(layer):
    """The layers of a policy."""
    if layer._steps is None:
        object.__setattr__(layer, "_steps", _Steps(layer))
    return layer._steps.by_name


def _draw_policy(p):
    chosen = random.randint((p.layer.num_ops,), 0, len(_STEPS), seed=p.seed)
    return {"transforms": {name: steps_of(p.layer)[name].get_random_transformation(p.images, seed=p.seed)
                           for name in _STEPS}, "layer_idxes": chosen}


def by_policy(layer, found, value, change):
    """A value after the steps that were chosen: ``change(step, value, transformation)``, of equal structures."""
    steps = steps_of(layer)
    for at in range(layer.num_ops):
        for number, (name, inner) in enumerate(found["transforms"].items()):
            value = change(steps[name], value, inner, found["layer_idxes"][at] == number)
    return value


def _follow(layer, x, found, interpolation):
    return by_policy(layer, found, x, lambda step, x, inner, is_chosen: ops.where(
        is_chosen, changed(step, x, inner, interpolation), x))


def _draw_chains(p):
    layer = p.layer
    weights = random.gamma((layer.num_chains,), layer.alpha, seed=p.seed)
    sample = random.beta((), layer.alpha, layer.alpha, seed=p.seed)
    names = [*(_STEPS if layer.all_ops else _MOVING_FIRST), None]
    chains = [[name for name in (python_random.choice(names) for _ in range(layer.chain_depth)) if name is not None]
              for _ in range(layer.num_chains)]

    def step(name):
        inner = steps_of(layer)[name].get_random_transformation(p.images, seed=p.seed)
        return {"layer_name": name, "transformation": inner}
    return {"chain_mixing_weights": weights / ops.sum(weights, axis=-1, keepdims=True), "weight_sample": sample,
            "chain_transforms": [[step(name) for name in chain] for chain in chains]}


def _blend(layer, x, found, interpolation):
    weights, kept = (ops.cast(found[name], x.dtype) for name in ("chain_mixing_weights", "weight_sample"))
    total = ops.zeros_like(x)
    for number, chain in enumerate(found["chain_transforms"]):
        value = x
        for step in chain:
            value = changed(steps_of(layer)[step["layer_name"]], value, step["transformation"], interpolation)
        total = total + value * weights[number]
    return kept * x + (1 - kept) * total


def _blend_pictures(layer, x, found, interpolation):
    return _clipped(_blend(layer, x, found, interpolation), layer)


DRAWS = {
    "RandomBrightness": _draw_brightness, "RandomContrast": _draw_contrast, "RandomSharpness": _draw_factor,
    "RandomColorDegeneration": _draw_degeneration, "RandomHue": _draw_hue, "RandomSaturation": _draw_saturation,
    "RandomInvert": _draw_inversion, "RandomGrayscale": _draw_grey, "RandomPosterization": _draw_bits,
    "Solarization": _draw_solarization, "RandomGaussianBlur": _draw_blur, "RandomErasing": _draw_erasing,
    "CutMix": _draw_window, "MixUp": _draw_mix, "RandomFlip": _draw_flips, "RandomCrop": _draw_crop,
    "RandomTranslation": _draw_translation, "RandomRotation": _draw_rotation, "RandomZoom": _draw_zoom,
    "RandomShear": _draw_shear, "RandomPerspective": _draw_perspective, "RandomElasticTransform": _draw_elastic,
    "RandAugment": _draw_policy, "AugMix": _draw_chains,
    "CenterCrop": lambda p: {"input_shape": p.shape}, "Resizing": lambda p: (p.height, p.width)}
_CHANGES = {
    "RandomBrightness": _brighten, "RandomContrast": _contrast, "RandomSharpness": _sharpen,
    "RandomColorDegeneration": _degenerate, "RandomHue": _shift_hue, "RandomSaturation": _saturate,
    "RandomInvert": _invert, "RandomGrayscale": _make_grey, "RandomPosterization": _posterize,
    "Solarization": _solarize, "RandomGaussianBlur": _blur, "RandomErasing": _erase, "CutMix": _paste, "MixUp": _mix,
    "RandomFlip": _flip, "RandomCrop": _crop, "RandomTranslation": _translate, "RandomRotation": _rotate,
    "RandomZoom": _zoom, "RandomShear": _shear, "RandomPerspective": _look, "RandomElasticTransform": _distort,
    "RandAugment": _follow, "AugMix": _blend_pictures}
_MASKS = {"AugMix": _blend}
MOVING = ("RandomFlip", "RandomCrop", "RandomTranslation", "RandomRotation", "RandomZoom", "RandomShear",
          "RandomPerspective", "RandomElasticTransform", "RandAugment", "AugMix", "CutMix", "MixUp", "CenterCrop",
          "Resizing")
_WIDENED = ("RandomErasing", "RandomInvert", "RandomGaussianBlur", "RandomGrayscale", "RandomColorDegeneration",
            "MixUp")  # give a picture without a batch one, as Keras' do
ALWAYS = ("CenterCrop", "Resizing")  # do the same without training
_UNDRAWN = ("CenterCrop", "Resizing", "RandomCrop")  # have one without training, too


def drawn(layer, images, seed, training):
    """What a layer draws for pictures; None where it draws nothing, or nothing outside of training."""
    kind = layer._entry["name"]
    if kind not in DRAWS or not (training or kind in _UNDRAWN):
        return None
    pictures = Pictures(layer, images, seed)
    pictures.is_training = training
    return DRAWS[kind](pictures)


def changed(layer, images, found, interpolation=None, is_mask=False):
    """What floats [batch, height, width, channels], with channels where the layer has them, become of a transformation;
    those of rank 3 are one picture."""
    if len(images.shape) == 3:
        batch = changed(layer, images[None], found, interpolation, is_mask)
        return batch if layer._entry["name"] in _WIDENED else batch[0]
    change = (_MASKS if is_mask else {}).get(layer._entry["name"]) or _CHANGES.get(layer._entry["name"])
    if change is None:  # of layers whose transformation tells nothing
        if is_mask:
            return layer._moved(calls.call(layer._for_masks(), [layer._moved(images, True)], [], True)[0], False)
        return layer.call(images, training=True)
    if found is None:
        return images
    interpolation = interpolation or getattr(layer, "interpolation", "bilinear")
    return layer._moved(change(layer, layer._moved(images, True), found, interpolation), False)
