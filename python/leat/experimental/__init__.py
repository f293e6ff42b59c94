"""``tf.experimental``: DLPack and optional values."""

from leat.data.optional import Optional
from leat.experimental import dlpack

__all__ = ["Optional", "dlpack"]
