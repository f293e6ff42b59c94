"""Pooling that does more than the library's: masks."""

from leat.keras._base import tables
from leat.keras._base.named import op as _op
from leat.keras.layers.table import TableLayer


class GlobalAveragePooling1D(TableLayer):
    """The mean of all steps of sequences, or of those that count (``keras.layers.GlobalAveragePooling1D``)."""

    _entry = tables.entry_of("layer", "GlobalAveragePooling1D")

    def call(self, inputs, mask=None, training=None):
        """The means."""
        if mask is None:
            return super().call(inputs, training)
        first = self._given.get("data_format") == "channels_first"
        axis = 2 if first else 1
        weights = _op("cast", _op("expand_dims", mask, 1 if first else 2), inputs.dtype)
        kept = _op("where", _op("cast", weights, "bool"), inputs, _op("zeros_like", inputs))
        keepdims = bool(self._given.get("keepdims"))
        return _op("reduce_sum", kept, axis, keepdims) / _op("reduce_sum", weights, axis, keepdims)

    def compute_mask(self, inputs, previous_mask=None):
        """None: no steps are left."""
        return None
