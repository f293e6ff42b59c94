"""``tf.image``: pictures. The functions are the operations of the library's table."""

from leat._graph import ops

__all__ = ["ResizeMethod"]


class ResizeMethod:
    """Names of the methods of ``resize`` (``tf.image.ResizeMethod``)."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


ops.join(__name__)
