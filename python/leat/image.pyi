# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
class ResizeMethod:
    BILINEAR: Any
    NEAREST_NEIGHBOR: Any
    BICUBIC: Any
    AREA: Any
    LANCZOS3: Any
    LANCZOS5: Any
    GAUSSIAN: Any
    MITCHELLCUBIC: Any
def adjust_brightness(image: TensorLike, delta: FloatLike, name: builtins.str | None = None) -> Tensor:
    """A number added to all values of pictures (tf.image.adjust_brightness).

    delta: The number, for values in [0, 1].
    """
    ...
def adjust_contrast(images: TensorLike, contrast_factor: FloatLike, name: builtins.str | None = None) -> Tensor:
    """The distance of values from their channel's mean, multiplied by a factor (tf.image.adjust_contrast).

    contrast_factor: The factor.
    """
    ...
def adjust_gamma(image: TensorLike, gamma: FloatLike = 1.0, gain: FloatLike = 1.0, name: builtins.str | None = None) -> Tensor:
    """Gain times the values to the power of gamma (tf.image.adjust_gamma).

    gamma: The power, 0 or more.
    gain: The factor.
    """
    ...
def adjust_hue(image: TensorLike, delta: FloatLike, name: builtins.str | None = None) -> Tensor:
    """A turn of the hue of each colour (tf.image.adjust_hue).

    delta: What is added to each hue, of a circle of 1; in [-1, 1].
    """
    ...
def adjust_jpeg_quality(image: TensorLike, jpeg_quality: IntLike, dct_method: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """A picture encoded as a JPEG of a quality and decoded again (tf.image.adjust_jpeg_quality).

    jpeg_quality: From 0, the smallest file, to 100.
    dct_method: INTEGER_FAST (also when empty) or INTEGER_ACCURATE, for decoding.
    """
    ...
def adjust_saturation(image: TensorLike, saturation_factor: FloatLike, name: builtins.str | None = None) -> Tensor:
    """The saturation of each colour, multiplied by a factor (tf.image.adjust_saturation).

    saturation_factor: The factor.
    """
    ...
def central_crop(image: TensorLike, central_fraction: FloatLike, name: builtins.str | None = None) -> Tensor:
    """The middle of pictures (tf.image.central_crop).

    central_fraction: The part of each dimension that stays, in (0, 1].
    """
    ...
def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Pictures of another dtype, scaled so that 1.0 is an integer's largest value (tf.image.convert_image_dtype).

    dtype: The dtype of the result.
    saturate: Clip what the result cannot hold.
    """
    ...
def crop_and_resize(image: TensorLike, boxes: TensorLike, box_indices: TensorLike, crop_size: IntsLike, method: StringLike = 'bilinear', extrapolation_value: FloatLike = 0.0, name: builtins.str | None = None) -> Tensor:
    """Boxes of pictures, each scaled to one size (tf.image.crop_and_resize).

    crop_size: Height and width of the result, in pixels.
    method: bilinear or nearest.
    extrapolation_value: The value of what lies outside of the picture.
    """
    ...
def crop_to_bounding_box(image: TensorLike, offset_height: IntLike, offset_width: IntLike, target_height: IntLike, target_width: IntLike, name: builtins.str | None = None) -> Tensor:
    """The part of pictures inside a box (tf.image.crop_to_bounding_box).

    offset_height: Rows above the box, in pixels.
    offset_width: Columns to the left of the box, in pixels.
    target_height: Height of the result, in pixels.
    target_width: Width of the result, in pixels.
    """
    ...
def cutmix(images: TensorLike, labels: TensorLike, factor: Any = None, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """A batch of pictures with a window of each from another one of the batch, and its labels mixed by area (tf.keras.layers.CutMix).

    factor: The range, in [0, 1], of the parameter of the weights' beta distribution; one number is its end; without it 0 to 1.
    seed: The operation's seed.
    """
    ...
def decode_and_crop_jpeg(contents: TensorLike, crop_window: TensorLike, channels: IntLike = 0, ratio: IntLike = 1, fancy_upscaling: builtins.bool = True, try_recover_truncated: builtins.bool = False, acceptable_fraction: FloatLike = 1.0, dct_method: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """A window of a JPEG's pixels, uint8 [height, width, channels] (tf.io.decode_and_crop_jpeg).

    channels: 0: those of the file; 1: grey; 3: RGB.
    ratio: The picture is shrunk by 1, 2, 4 or 8.
    fancy_upscaling: Interpolate chroma instead of repeating it.
    try_recover_truncated: Fill what is missing instead of failing.
    acceptable_fraction: The least fraction of rows that must be there.
    dct_method: INTEGER_FAST (also when empty) or INTEGER_ACCURATE.
    """
    ...
def decode_bmp(contents: TensorLike, channels: IntLike = 0, name: builtins.str | None = None) -> Tensor:
    """The pixels of a bitmap, uint8 [height, width, channels] (tf.io.decode_bmp).

    channels: 0: those of the file; 3: RGB; 4: RGBA.
    """
    ...
def decode_gif(contents: TensorLike, name: builtins.str | None = None) -> Tensor:
    """All frames of a GIF, uint8 [frames, height, width, 3] (tf.io.decode_gif)."""
    ...
def decode_image(contents: TensorLike, channels: IntLike | None = None, dtype: DTypeLike = ..., name: builtins.str | None = None, expand_animations: builtins.bool = True) -> Tensor:
    """The pixels of a picture of any format (tf.io.decode_image).

    channels: 0: those of the file; 1: grey; 3: RGB; 4: RGBA.
    dtype: The dtype of the pixels, a number.
    expand_animations: All frames of a GIF, as [frames, height, width, channels]; else the first one.
    """
    ...
def decode_jpeg(contents: TensorLike, channels: IntLike = 0, ratio: IntLike = 1, fancy_upscaling: builtins.bool = True, try_recover_truncated: builtins.bool = False, acceptable_fraction: FloatLike = 1.0, dct_method: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """The pixels of a JPEG, uint8 [height, width, channels] (tf.io.decode_jpeg).

    channels: 0: those of the file; 1: grey; 3: RGB.
    ratio: The picture is shrunk by 1, 2, 4 or 8.
    fancy_upscaling: Interpolate chroma instead of repeating it.
    try_recover_truncated: Fill what is missing instead of failing.
    acceptable_fraction: The least fraction of rows that must be there.
    dct_method: INTEGER_FAST (also when empty) or INTEGER_ACCURATE.
    """
    ...
def decode_png(contents: TensorLike, channels: IntLike = 0, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """The pixels of a PNG, uint8 [height, width, channels] (tf.io.decode_png).

    channels: 0: those of the file; 1: grey; 3: RGB; 4: RGBA.
    dtype: uint8 or uint16.
    """
    ...
def decode_webp(contents: TensorLike, channels: IntLike = 0, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """All frames of a WebP, uint8 [frames, height, width, channels] (tf.io.decode_webp).

    channels: 0: those of the file; 3: RGB; 4: RGBA; it must be the file's.
    dtype: uint8.
    """
    ...
def draw_bounding_boxes(images: TensorLike, boxes: TensorLike, colors: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Frames of one pixel drawn into pictures (tf.image.draw_bounding_boxes)."""
    ...
def encode_jpeg(image: TensorLike, format: StringLike = '', quality: IntLike = 95, progressive: builtins.bool = False, optimize_size: builtins.bool = False, chroma_downsampling: builtins.bool = True, density_unit: StringLike = 'in', x_density: IntLike = 300, y_density: IntLike = 300, xmp_metadata: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """A picture as the bytes of a JPEG (tf.io.encode_jpeg).

    format: grayscale or rgb, which demands 1 or 3 channels; empty: either.
    quality: From 0, the smallest file, to 100.
    progressive: Several scans, coarse to fine.
    optimize_size: Codes made for this picture.
    chroma_downsampling: Colours at half the resolution.
    density_unit: in or cm, of the densities.
    x_density: Pixels per unit, horizontally.
    y_density: Pixels per unit, vertically.
    xmp_metadata: Text that the file carries.
    """
    ...
def encode_png(image: TensorLike, compression: IntLike = -1, name: builtins.str | None = None) -> Tensor:
    """Pictures as the bytes of PNGs (tf.io.encode_png).

    compression: From 0, the fastest, to 9, the smallest file; -1: the library's.
    """
    ...
def extract_jpeg_shape(contents: TensorLike, output_type: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """Height, width and channels of a JPEG (tf.io.extract_jpeg_shape).

    output_type: int32 or int64.
    """
    ...
def extract_patches(images: TensorLike, sizes: IntsLike, strides: IntsLike, rates: IntsLike, padding: StringLike, name: builtins.str | None = None) -> Tensor:
    """The windows of pictures, each as one line of its pixels (tf.image.extract_patches).

    sizes: Height and width of a window in pixels: [1, height, width, 1].
    strides: Pixels from one window to the next: [1, down, right, 1].
    rates: Pixels from one to the next inside a window: [1, down, right, 1].
    padding: VALID: windows that fit; SAME: as many as strides say, with zeros around.
    """
    ...
def flip_left_right(image: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Pictures mirrored along their width (tf.image.flip_left_right)."""
    ...
def flip_up_down(image: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Pictures mirrored along their height (tf.image.flip_up_down)."""
    ...
def grayscale_to_rgb(images: TensorLike, name: builtins.str | None = None) -> Tensor:
    """One channel, repeated as three (tf.image.grayscale_to_rgb)."""
    ...
def hsv_to_rgb(images: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Colours of a hue, saturation and value in [0, 1] (tf.image.hsv_to_rgb)."""
    ...
def image_gradients(image: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The differences of each pixel to the one below and to the one on its right (tf.image.image_gradients)."""
    ...
def is_jpeg(contents: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Do strings begin as a JPEG does (tf.io.is_jpeg)?"""
    ...
def mixup(images: TensorLike, labels: TensorLike, alpha: FloatLike = 0.2, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """A batch of pictures and its labels, each blended with another one of the batch by a random weight (tf.keras.layers.MixUp).

    alpha: The weights' beta distribution is (alpha, alpha); in (0, 1].
    seed: The operation's seed.
    """
    ...
def non_max_suppression(boxes: TensorLike, scores: TensorLike, max_output_size: IntLike, iou_threshold: FloatLike = 0.5, score_threshold: FloatLike = ..., name: builtins.str | None = None) -> Tensor:
    """The numbers of the boxes with the best scores, without those that overlap a better one too much (tf.image.non_max_suppression).

    max_output_size: How many boxes are chosen at most.
    iou_threshold: Boxes that overlap a better one by more are left out.
    score_threshold: Boxes whose scores are not above are left out.
    """
    ...
def non_max_suppression_overlaps(overlaps: TensorLike, scores: TensorLike, max_output_size: IntLike, overlap_threshold: FloatLike = 0.5, score_threshold: FloatLike = ..., name: builtins.str | None = None) -> Tensor:
    """The numbers of the boxes with the best scores, without those that overlap a better one too much, by a matrix of overlaps (tf.image.non_max_suppression_overlaps).

    max_output_size: How many boxes are chosen at most.
    overlap_threshold: Boxes that overlap a better one by more are left out.
    score_threshold: Boxes whose scores are not above are left out.
    """
    ...
def non_max_suppression_with_scores(boxes: TensorLike, scores: TensorLike, max_output_size: IntLike, iou_threshold: FloatLike = 0.5, score_threshold: FloatLike = ..., soft_nms_sigma: FloatLike = 0.0, name: builtins.str | None = None) -> Tensor:
    """The numbers and scores of the best boxes, where overlapping ones are left out or their scores made smaller (tf.image.non_max_suppression_with_scores).

    max_output_size: How many boxes are chosen at most.
    iou_threshold: Boxes that overlap a better one by more are left out.
    score_threshold: Boxes whose scores are not above are left out.
    soft_nms_sigma: Above 0: how slowly scores become smaller with overlap.
    """
    ...
def normalize(images: TensorLike, mean: Any, std: Any, name: builtins.str | None = None) -> Tensor:
    """(x - mean) / std for each channel of pictures; integers become float32 and keep their scale.

    mean: What is subtracted: a number for each channel or one for all, in the pictures' unit.
    std: What is divided by, not 0: a number for each channel or one for all.
    """
    ...
def pad_to_bounding_box(image: TensorLike, offset_height: IntLike, offset_width: IntLike, target_height: IntLike, target_width: IntLike, name: builtins.str | None = None) -> Tensor:
    """Pictures at a place of larger ones, zero elsewhere (tf.image.pad_to_bounding_box).

    offset_height: Rows above the box, in pixels.
    offset_width: Columns to the left of the box, in pixels.
    target_height: Height of the result, in pixels.
    target_width: Width of the result, in pixels.
    """
    ...
def per_image_standardization(image: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Pictures with a mean of 0 and a deviation of 1, as float32 (tf.image.per_image_standardization)."""
    ...
def psnr(a: TensorLike, b: TensorLike, max_val: FloatLike, name: builtins.str | None = None) -> Tensor:
    """How close pictures are to others, in decibels (tf.image.psnr).

    max_val: The range of the pictures' values, such as 255 or 1.
    """
    ...
def rand_augment(images: TensorLike, value_range: Any = None, num_ops: IntLike = 2, factor: Any = None, interpolation: StringLike = 'bilinear', seed: IntLike | None = None, masks: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """A few random distortions of pictures one after the other, as float32 (tf.keras.layers.RandAugment).

    value_range: The lowest and the highest value of pictures; without it 0 and 255.
    num_ops: How many distortions follow each other.
    factor: The range, in [0, 1], of strengths; one number is its end; without it 0 to 0.5.
    interpolation: How pixels are read that lie between others: bilinear or nearest.
    masks: The pictures are masks of classes: pixels are moved as those of pictures by the same seed, but neither blended nor coloured.
    seed: The operation's seed.
    """
    ...
def random_brightness(image: TensorLike, max_delta: FloatLike, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """A random number in [-max_delta, max_delta) added to all values of pictures (tf.image.random_brightness).

    max_delta: The largest change, 0 or more.
    seed: The operation's seed.
    """
    ...
def random_contrast(image: TensorLike, lower: FloatLike, upper: FloatLike, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Adjust_contrast with a random factor (tf.image.random_contrast).

    lower: The smallest factor, 0 or more.
    upper: The end of the factors, not reached.
    seed: The operation's seed.
    """
    ...
def random_crop(value: TensorLike, size: IntsLike, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """A part of a size at a random place of a tensor (tf.image.random_crop).

    size: The result's shape.
    seed: The operation's seed.
    """
    ...
def random_flip_left_right(image: TensorLike, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Pictures mirrored along their width, at random (tf.image.random_flip_left_right).

    seed: The operation's seed.
    """
    ...
def random_flip_up_down(image: TensorLike, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Pictures mirrored along their height, at random (tf.image.random_flip_up_down).

    seed: The operation's seed.
    """
    ...
def random_hue(image: TensorLike, max_delta: FloatLike, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Adjust_hue with a random number in [-max_delta, max_delta) (tf.image.random_hue).

    max_delta: The largest change, in [0, 0.5].
    seed: The operation's seed.
    """
    ...
def random_jpeg_quality(image: TensorLike, min_jpeg_quality: FloatLike, max_jpeg_quality: FloatLike, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Adjust_jpeg_quality with a random quality (tf.image.random_jpeg_quality).

    min_jpeg_quality: The lowest quality.
    max_jpeg_quality: The end of the qualities, not reached.
    seed: The operation's seed.
    """
    ...
def random_resized_crop(images: TensorLike, size: IntsLike, scale: Any = None, ratio: Any = None, method: StringLike = 'bilinear', antialias: builtins.bool = False, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """A random part of pictures, of a random area and proportions, scaled to one size, as float32.

    size: Height and width of the result, in pixels.
    scale: The least and the greatest part of the area; without it 0.08 and 1.
    ratio: The least and the greatest width over height; without it 3/4 and 4/3.
    method: How to scale, as in resize.
    antialias: Blend all pixels that a smaller picture's pixel covers.
    seed: The operation's seed.
    """
    ...
def random_saturation(image: TensorLike, lower: FloatLike, upper: FloatLike, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Adjust_saturation with a random factor (tf.image.random_saturation).

    lower: The smallest factor, 0 or more.
    upper: The end of the factors, not reached.
    seed: The operation's seed.
    """
    ...
def resize(images: TensorLike, size: IntsLike, method: StringLike = 'bilinear', preserve_aspect_ratio: builtins.bool = False, antialias: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Pictures scaled to another size, as float32 (tf.image.resize).

    size: Height and width of the result, in pixels.
    method: bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic.
    preserve_aspect_ratio: Keep the proportions: the largest size that fits into the given one.
    antialias: Blend all pixels that a smaller picture's pixel covers.
    """
    ...
def resize_with_crop_or_pad(image: TensorLike, target_height: IntLike, target_width: IntLike, name: builtins.str | None = None) -> Tensor:
    """Pictures cut or padded with zeros around their middle (tf.image.resize_with_crop_or_pad).

    target_height: Height of the result, in pixels.
    target_width: Width of the result, in pixels.
    """
    ...
def resize_with_pad(image: TensorLike, target_height: IntLike, target_width: IntLike, method: StringLike = 'bilinear', antialias: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Pictures scaled to fit into a size, and padded with zeros (tf.image.resize_with_pad).

    target_height: Height of the result, in pixels.
    target_width: Width of the result, in pixels.
    method: As of resize.
    antialias: Blend all pixels that a smaller picture's pixel covers.
    """
    ...
def rgb_to_grayscale(images: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The brightness of colours, as one channel (tf.image.rgb_to_grayscale)."""
    ...
def rgb_to_hsv(images: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Hue, saturation and value of colours, all in [0, 1] (tf.image.rgb_to_hsv)."""
    ...
def rgb_to_yiq(images: TensorLike, name: builtins.str | None = None) -> Tensor:
    """RGB pixels as YIQ, the last dimension 3 (tf.image.rgb_to_yiq)."""
    ...
def rgb_to_yuv(images: TensorLike, name: builtins.str | None = None) -> Tensor:
    """RGB pixels as YUV, the last dimension 3 (tf.image.rgb_to_yuv)."""
    ...
def rot90(image: TensorLike, k: IntLike = 1, name: builtins.str | None = None) -> Tensor:
    """Pictures turned counter-clockwise by quarter turns (tf.image.rot90).

    k: How many quarter turns; negative ones are clockwise.
    """
    ...
def sample_distorted_bounding_box(image_size: TensorLike, bounding_boxes: TensorLike, seed: IntLike | None = 0, min_object_covered: FloatLike = 0.1, aspect_ratio_range: Any = None, area_range: Any = None, max_attempts: IntLike | None = None, use_image_if_no_bounding_boxes: builtins.bool | None = None, name: builtins.str | None = None) -> Tensor:
    """A random part of a picture that covers enough of a box: begin, size and the part as a box (tf.image.sample_distorted_bounding_box).

    min_object_covered: The part of one of the boxes that must be inside, 0 or more.
    aspect_ratio_range: The least and the greatest width over height; without it 0.75 and 1.33.
    area_range: The least and the greatest part of the picture's area; without it 0.05 and 1.
    max_attempts: How often to try before the whole picture is taken.
    use_image_if_no_bounding_boxes: Take the picture as the box where there is none; else that is an error.
    seed: The operation's seed.
    """
    ...
def sobel_edges(image: TensorLike, name: builtins.str | None = None) -> Tensor:
    """How steep pictures are downwards and to the right, by Sobel's filters (tf.image.sobel_edges)."""
    ...
def ssim(img1: TensorLike, img2: TensorLike, max_val: FloatLike, filter_size: IntLike = 11, filter_sigma: FloatLike = 1.5, k1: FloatLike = 0.01, k2: FloatLike = 0.03, return_index_map: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The structural similarity of pictures to others (tf.image.ssim).

    max_val: The range of the pictures' values, such as 255 or 1.
    filter_size: Height and width of the Gaussian window, in pixels.
    filter_sigma: Deviation of the Gaussian window, in pixels.
    k1: Part of max_val that steadies the comparison of brightness.
    k2: Part of max_val that steadies the comparison of contrast.
    return_index_map: Give the similarity at each place instead of the mean.
    """
    ...
def ssim_multiscale(img1: TensorLike, img2: TensorLike, max_val: FloatLike, power_factors: Any = ..., filter_size: IntLike = 11, filter_sigma: FloatLike = 1.5, k1: FloatLike = 0.01, k2: FloatLike = 0.03, name: builtins.str | None = None) -> Tensor:
    """The structural similarity of pictures to others on several scales (tf.image.ssim_multiscale).

    max_val: The range of the pictures' values, such as 255 or 1.
    power_factors: The weight of each scale; none: five weights for five scales.
    filter_size: Height and width of the Gaussian window, in pixels.
    filter_sigma: Deviation of the Gaussian window, in pixels.
    k1: Part of max_val that steadies the comparison of brightness.
    k2: Part of max_val that steadies the comparison of contrast.
    """
    ...
def stateless_aug_mix(images: TensorLike, seed: TensorLike, value_range: Any = None, num_chains: IntLike = 3, chain_depth: IntLike = 3, factor: Any = None, alpha: FloatLike = 1.0, all_ops: builtins.bool = True, interpolation: StringLike = 'bilinear', masks: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Pictures blended with what a few chains of random distortions make of them, as float32 (tf.keras.layers.AugMix).

    value_range: The lowest and the highest value of pictures; without it 0 and 255.
    num_chains: How many chains there are.
    chain_depth: How many places for a distortion a chain has.
    factor: The range, in [0, 1], of strengths; one number is its end; without it 0 to 0.3.
    alpha: The parameter of the weights' Dirichlet and beta distributions.
    all_ops: Also brightness, loss of colour, contrast and sharpness.
    interpolation: How pixels are read that lie between others: bilinear or nearest.
    masks: The pictures are masks of classes: pixels are moved as those of pictures by the same seed, but neither blended nor coloured.
    """
    ...
def stateless_cutmix(images: TensorLike, labels: TensorLike, seed: TensorLike, factor: Any = None, name: builtins.str | None = None) -> Tensor:
    """A batch of pictures with a window of each from another one of the batch, and its labels mixed by area (tf.keras.layers.CutMix).

    factor: The range, in [0, 1], of the parameter of the weights' beta distribution; one number is its end; without it 0 to 1.
    """
    ...
def stateless_mixup(images: TensorLike, labels: TensorLike, seed: TensorLike, alpha: FloatLike = 0.2, name: builtins.str | None = None) -> Tensor:
    """A batch of pictures and its labels, each blended with another one of the batch by a random weight (tf.keras.layers.MixUp).

    alpha: The weights' beta distribution is (alpha, alpha); in (0, 1].
    """
    ...
def stateless_rand_augment(images: TensorLike, seed: TensorLike, value_range: Any = None, num_ops: IntLike = 2, factor: Any = None, interpolation: StringLike = 'bilinear', masks: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """A few random distortions of pictures one after the other, as float32 (tf.keras.layers.RandAugment).

    value_range: The lowest and the highest value of pictures; without it 0 and 255.
    num_ops: How many distortions follow each other.
    factor: The range, in [0, 1], of strengths; one number is its end; without it 0 to 0.5.
    interpolation: How pixels are read that lie between others: bilinear or nearest.
    masks: The pictures are masks of classes: pixels are moved as those of pictures by the same seed, but neither blended nor coloured.
    """
    ...
def stateless_random_brightness(image: TensorLike, max_delta: FloatLike, seed: TensorLike, name: builtins.str | None = None) -> Tensor:
    """A random number in [-max_delta, max_delta) added to all values of pictures (tf.image.stateless_random_brightness).

    max_delta: The largest change, 0 or more.
    """
    ...
def stateless_random_contrast(image: TensorLike, lower: FloatLike, upper: FloatLike, seed: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Adjust_contrast with a random factor (tf.image.stateless_random_contrast).

    lower: The smallest factor, 0 or more.
    upper: The end of the factors, not reached.
    """
    ...
def stateless_random_crop(value: TensorLike, size: IntsLike, seed: TensorLike, name: builtins.str | None = None) -> Tensor:
    """A part of a size at a random place of a tensor (tf.image.stateless_random_crop).

    size: The result's shape.
    """
    ...
def stateless_random_flip_left_right(image: TensorLike, seed: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Pictures mirrored along their width, at random (tf.image.stateless_random_flip_left_right)."""
    ...
def stateless_random_flip_up_down(image: TensorLike, seed: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Pictures mirrored along their height, at random (tf.image.stateless_random_flip_up_down)."""
    ...
def stateless_random_hue(image: TensorLike, max_delta: FloatLike, seed: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Adjust_hue with a random number in [-max_delta, max_delta) (tf.image.stateless_random_hue).

    max_delta: The largest change, in [0, 0.5].
    """
    ...
def stateless_random_jpeg_quality(image: TensorLike, min_jpeg_quality: FloatLike, max_jpeg_quality: FloatLike, seed: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Adjust_jpeg_quality with a random quality (tf.image.stateless_random_jpeg_quality).

    min_jpeg_quality: The lowest quality.
    max_jpeg_quality: The end of the qualities, not reached.
    """
    ...
def stateless_random_resized_crop(images: TensorLike, size: IntsLike, seed: TensorLike, scale: Any = None, ratio: Any = None, method: StringLike = 'bilinear', antialias: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """A random part of pictures, of a random area and proportions, scaled to one size, as float32; the seed decides.

    size: Height and width of the result, in pixels.
    scale: The least and the greatest part of the area; without it 0.08 and 1.
    ratio: The least and the greatest width over height; without it 3/4 and 4/3.
    method: How to scale, as in resize.
    antialias: Blend all pixels that a smaller picture's pixel covers.
    """
    ...
def stateless_random_saturation(image: TensorLike, lower: FloatLike, upper: FloatLike, seed: TensorLike = None, name: builtins.str | None = None) -> Tensor:
    """Adjust_saturation with a random factor (tf.image.stateless_random_saturation).

    lower: The smallest factor, 0 or more.
    upper: The end of the factors, not reached.
    """
    ...
def stateless_sample_distorted_bounding_box(image_size: TensorLike, bounding_boxes: TensorLike, seed: TensorLike, min_object_covered: FloatLike = 0.1, aspect_ratio_range: Any = None, area_range: Any = None, max_attempts: IntLike | None = None, use_image_if_no_bounding_boxes: builtins.bool | None = None, name: builtins.str | None = None) -> Tensor:
    """A random part of a picture that covers enough of a box: begin, size and the part as a box (tf.image.stateless_sample_distorted_bounding_box).

    min_object_covered: The part of one of the boxes that must be inside, 0 or more.
    aspect_ratio_range: The least and the greatest width over height; without it 0.75 and 1.33.
    area_range: The least and the greatest part of the picture's area; without it 0.05 and 1.
    max_attempts: How often to try before the whole picture is taken.
    use_image_if_no_bounding_boxes: Take the picture as the box where there is none; else that is an error.
    """
    ...
def total_variation(images: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbouring pixels (tf.image.total_variation)."""
    ...
def transpose(image: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Pictures whose height and width change places (tf.image.transpose)."""
    ...
def yiq_to_rgb(images: TensorLike, name: builtins.str | None = None) -> Tensor:
    """YIQ pixels as RGB, the last dimension 3 (tf.image.yiq_to_rgb)."""
    ...
def yuv_to_rgb(images: TensorLike, name: builtins.str | None = None) -> Tensor:
    """YUV pixels as RGB, the last dimension 3 (tf.image.yuv_to_rgb)."""
    ...
