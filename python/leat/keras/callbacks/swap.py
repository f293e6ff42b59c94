"""``keras.callbacks.SwapEMAWeights``: evaluation with the averages of the weights."""

import json

from leat.keras.callbacks.base import Callback


class SwapEMAWeights(Callback):
    """Puts the optimizer's averages of the weights in the place of the weights while the model is evaluated or
    predicts, and with `swap_on_epoch` between two epochs too (``keras.callbacks.SwapEMAWeights``).

    The optimizer has ``use_ema=True``. For a ModelCheckpoint of the averages, give `swap_on_epoch` and put it behind
    this one. ValueError where there are no averages.
    """

    def __init__(self, swap_on_epoch=False):
        super().__init__()
        self.swap_on_epoch = swap_on_epoch
        self._is_swapped = False

    def _pairs(self):
        """(variable, its average) of all that is trained with averages."""
        optimizer = getattr(self.model.optimizer, "inner_optimizer", self.model.optimizer)
        several = getattr(optimizer, "optimizers", None)
        if not optimizer.built:
            optimizer.build(self.model.trainable_variables)
        found = [one for one in several or [optimizer] if getattr(one, "use_ema", False) and hasattr(one, "_own")]
        if not found and several is not None:
            raise ValueError("SwapEMAWeights must be used when at least one inner optimizer has `use_ema=True` set. "
                             "Received a MultiOptimizer with all inner optimizers having `use_ema=False`.")
        if not found:
            raise ValueError("SwapEMAWeights must be used when `use_ema=True` is set on the optimizer. Received: "
                             f"use_ema={getattr(optimizer, 'use_ema', False)}")
        return [pair for one in found for pair in self._pairs_of(one)]

    def _pairs_of(self, optimizer):
        place = [slot["name"] for slot in json.loads(optimizer._part.states([]))].index("average")
        return [(variable, optimizer._own[id(variable)][place]) for variable in optimizer._trainable_variables]

    def _swap(self, to_averages):
        if self._is_swapped == to_averages:
            return
        for variable, average in self._pairs():
            kept = variable.numpy()
            variable.assign(average.numpy())
            average.assign(kept)
        self._is_swapped = to_averages

    def on_epoch_begin(self, epoch, logs=None):
        """The weights again."""
        if self.swap_on_epoch:
            self._swap(False)

    def on_epoch_end(self, epoch, logs=None):
        """The averages; after the last epoch as the weights that `fit` leaves."""
        if not self.swap_on_epoch:
            return
        self._swap(True)
        if epoch == self.params["epochs"] - 1:  # at the end of `fit` the weights are set to the averages
            for variable, average in self._pairs():
                average.assign(variable.numpy())

    def on_test_begin(self, logs=None):
        """The averages."""
        self._swap(True)

    def on_test_end(self, logs=None):
        """The weights."""
        self._swap(False)

    def on_predict_begin(self, logs=None):
        """The averages."""
        self._swap(True)

    def on_predict_end(self, logs=None):
        """The weights."""
        self._swap(False)
