"""``tf.profiler``: what threads do when."""

from leat.profiler import experimental

__all__ = ["experimental"]
