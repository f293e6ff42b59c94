"""``tf.types``: classes that say what a value is."""

from leat.types import experimental

__all__ = ["experimental"]
