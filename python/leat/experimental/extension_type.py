"""``tf.experimental.extension_type``: helps for extension types."""

from leat._structures.extension_type import as_dict

__all__ = ["as_dict"]
