"""Layers whose kernel can be adapted by a product of two small ones (LoRA)."""

from leat._graph import ops
from leat.keras import initializers, ops as whole
from leat.keras.layers.table import TableLayer


def adapted(name):
    """The weight of a name: the variable, or what it is with the product added."""
    def get(self):
        weight = getattr(self, f"_{name}", None)
        if weight is None:
            raise AttributeError(f"You must build the layer before accessing `{name}`.")
        return self._merged() if self.lora_enabled else weight

    def set_(self, value):
        object.__setattr__(self, f"_{name}", value)
    return property(get, set_, doc=f"The `{name}`, with what `enable_lora` adds to it.")


class LowRank(TableLayer):
    """One with a `kernel`, or what `_adapts` names, that `enable_lora` freezes and adds a product to."""

    _adapts, _keeps_alpha = "kernel", False
    kernel = adapted("kernel")
    lora_enabled = False

    def _setup(self, given, others):
        others = dict(others)
        given_here = [given if name in given else others for name in ("lora_rank", "lora_alpha")]
        rank, alpha = (place.pop(name, None) for place, name in zip(given_here, ("lora_rank", "lora_alpha")))
        self._adapting = rank, rank if alpha is None else alpha  # before anything is built
        super()._setup(given, others)
        self.lora_rank, self.lora_alpha = self._adapting

    def build(self, input_shape=None):
        """Makes the weights, and those of the product where a `lora_rank` was given."""
        super().build(input_shape)
        if self._adapting[0]:
            self.enable_lora(self._adapting[0], self._adapting[1] if self._keeps_alpha else None)

    def enable_lora(self, rank, lora_alpha=None, a_initializer="he_uniform", b_initializer="zeros"):
        """From now on only a product of two matrices with `rank` columns and rows learns, times `lora_alpha` / `rank`,
        which is added to the kernel (``enable_lora``). ValueError before the layer is built, twice, and with a
        constraint."""
        what, weight = self._adapts, getattr(self, f"_{self._adapts}", None)
        if getattr(self, f"{what}_constraint", None) is not None:
            raise ValueError(f"Lora is incompatible with {what.rstrip('s')} constraints. In order to enable lora on "
                             f"this layer, remove the `{what}_constraint` argument.")
        if weight is None:
            raise ValueError("Cannot enable lora on a layer that isn't yet built.")
        if self.lora_enabled:
            raise ValueError("lora is already enabled. This can only be done once per layer.")
        is_locked, self._is_locked = self._is_locked, False
        for end, shape, initializer in (("a", (*weight.shape[:-1], rank), a_initializer),
                                        ("b", (rank, weight.shape[-1]), b_initializer)):
            setattr(self, f"lora_{what}_{end}", self.add_weight(
                name=f"lora_{what}_{end}", shape=shape, initializer=initializers.get(initializer), dtype="float32",
                regularizer=getattr(self, f"{what}_regularizer", None)))
        self._is_locked, weight.trainable = is_locked, False
        self.lora_enabled, self.lora_rank, self.lora_alpha = True, rank, rank if lora_alpha is None else lora_alpha
        self._compiled = None

    def _merged(self):
        """The kernel with the product added."""
        first, second = (getattr(self, f"lora_{self._adapts}_{end}")._as_tensor() for end in "ab")
        weight = getattr(self, f"_{self._adapts}")._as_tensor()
        product = whole.matmul(first, second) * (self.lora_alpha / self.lora_rank)
        return weight + ops.FUNCTIONS["cast"](product, weight.dtype)

    def _values_of_weights(self, training):
        values, weight = super()._values_of_weights(training), getattr(self, f"_{self._adapts}", None)
        if not self.lora_enabled:
            return values
        return [self._merged() if one is weight else value for one, value in zip(self._weights, values)]

    # ---- files, in which the product is part of the kernel ----

    def _variables_in_files(self):
        return list(self._weights) if self.lora_enabled else super()._variables_in_files()

    def _value_in_files(self, variable):
        is_adapted = self.lora_enabled and variable is getattr(self, f"_{self._adapts}")
        return self._merged() if is_adapted else variable

    def _note_loaded(self):
        for end in "ab" if self.lora_enabled else ():
            variable = getattr(self, f"lora_{self._adapts}_{end}")
            variable.assign(ops.FUNCTIONS["zeros_like"](variable))

    def get_config(self):
        """The arguments that make another one like it."""
        config = super().get_config()
        for name in ("lora_rank", "lora_alpha"):
            config.pop(name, None)
        return {**config, **({"lora_rank": self.lora_rank, "lora_alpha": self.lora_alpha} if self.lora_rank else {})}


class Convolution(LowRank):
    """One that takes its `lora_alpha` to `enable_lora` when it is built, as Keras' convolutions do."""

    _keeps_alpha = True
