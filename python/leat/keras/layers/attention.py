"""Layers that weigh values by how well their keys fit queries: projected to heads, or as they come."""

import math
import string

from leat._core.tensor import convert_to_tensor
from leat.keras import config as settings, constraints, initializers, ops, regularizers
from leat.keras._base import masking, registry
from leat.keras._base.calls import mask_of
from leat.keras._base.layer import Layer
from leat.keras.layers.core import Dropout, Softmax
from leat.keras.layers.dense import EinsumDense
from leat.keras.random import SeedGenerator, dropout as drop

_READERS = {"initializer": initializers, "regularizer": regularizers, "constraint": constraints}
_REGULAR = [f"{weight}_{sort}" for sort in _READERS for weight in ("kernel", "bias")]


class _Heads(Layer):
    """What layers of projected heads share: the projections, masks, and the attention itself."""

    _prefix = ""  # of the attributes that keep arguments

    def _keep(self, given, window, flash_attention, dropout):
        """Checks and keeps the arguments that both kinds have. ValueError."""
        for name in _REGULAR:
            setattr(self, self._prefix + name, _READERS[name.partition("_")[2]].get(given[name]))
        setattr(self, self._prefix + "activity_regularizer", regularizers.get(given["activity_regularizer"]))
        if window is not None and (not isinstance(window, int) or window <= 0):
            raise ValueError("`sliding_window` must be `None` or a positive integer. Received: "
                             f"sliding_window={window}")
        self._flash_attention = flash_attention or settings.is_flash_attention_enabled()
        if self._flash_attention and dropout > 0.0:
            raise ValueError("Dropout is not supported when flash attention is enabled. Please set dropout to 0.0 to "
                             "use flash attention.")
        self._window, self._rate = window, dropout
        self.supports_masking = True

    def _get_common_kwargs_for_sublayer(self):
        """Arguments of each projection; initializers are made anew, so that each draws by itself."""
        common = {name: getattr(self, self._prefix + name) for name in (*_REGULAR, "activity_regularizer")}
        for name in ("kernel_initializer", "bias_initializer"):
            common[name] = type(common[name]).from_config(common[name].get_config())
        return {**common, "dtype": self.dtype_policy}

    def _regular_config(self):
        config = {name: _READERS[name.partition("_")[2]].serialize(getattr(self, self._prefix + name))
                  for name in _REGULAR}
        regularizer = registry.serialize_keras_object(getattr(self, self._prefix + "activity_regularizer"))
        constraints = {name: config.pop(name) for name in _REGULAR if name.endswith("_constraint")}
        return {**config, "activity_regularizer": regularizer, **constraints}

    def _dense(self, name, equation, output_shape, bias_axes, input_shape, **others):
        """A projection that is built."""
        layer = EinsumDense(equation, output_shape=output_shape, bias_axes=bias_axes if self._biased else None,
                            name=name, **others, **self._get_common_kwargs_for_sublayer())
        layer.build(tuple(input_shape))
        return layer

    def _parts_in_files(self):
        """(name, layer) of what is saved, under the names that Keras' files have."""
        names = [name for name in ("_query_dense", "_key_dense", "_gate_dense", "_value_dense", "_output_dense",
                                   "_dropout_layer") if name in vars(self)]
        return [(name[1:] if hasattr(type(self), name[1:]) else name, getattr(self, name)) for name in names]

    # ---- masks ----

    def _compute_attention_mask(self, query, value, query_mask=None, value_mask=None, key_mask=None,
                                attention_mask=None, use_causal_mask=False):
        """What all masks together let count, (batch, queries, keys); None: everything."""
        found = []
        if query_mask is not None:
            found.append(ops.expand_dims(ops.cast(query_mask, "bool"), -1))
        found += [ops.expand_dims(ops.cast(mask, "bool"), -2) for mask in (value_mask, key_mask) if mask is not None]
        if use_causal_mask:
            found.append(self._compute_causal_mask(query, value))
        if self._window is not None:
            found.append(self._compute_sliding_window_mask(query, value))
        if attention_mask is not None:
            found.append(ops.cast(attention_mask, "bool"))
        whole = found[0] if found else None
        for mask in found[1:]:
            whole = ops.logical_and(whole, mask)
        return whole

    def _places(self, query, value):
        """The numbers of the queries, (1, queries, 1), and of the keys, (1, 1, keys)."""
        lengths = ops.shape(query)[1], ops.shape(query if value is None else value)[1]
        rows, columns = [ops.arange(length, dtype="int32") for length in lengths]
        return ops.reshape(rows, (1, -1, 1)), ops.reshape(columns, (1, 1, -1))

    def _compute_causal_mask(self, query, value=None):
        """No query sees what stands behind its own place."""
        rows, columns = self._places(query, value)
        return ops.greater_equal(rows, columns)

    def _compute_sliding_window_mask(self, query, value=None):
        """A query sees what is less than `sliding_window` places away."""
        rows, columns = self._places(query, value)
        return ops.less(ops.abs(rows - columns), self._window)

    def _spread(self, mask, rank):
        """A mask with dimensions of 1 for the heads, in front of the attention's."""
        if mask is None:
            return None
        for _ in range(rank - len(mask.shape)):
            mask = ops.expand_dims(mask, axis=-len(self._attention_axes) * 2 - 1)
        return mask

    # ---- the attention ----

    def _masked_softmax(self, attention_scores, attention_mask=None):
        return self._softmax(attention_scores, mask=self._spread(attention_mask, len(attention_scores.shape)))

    def _is_fused(self, query, return_attention_scores):
        return not (self._rate > 0.0 or return_attention_scores or len(query.shape) != 4)

    def _attend(self, query, key, value, attention_mask, training, return_attention_scores, use_causal_mask, scale):
        if self._flash_attention and return_attention_scores:
            raise ValueError("Returning attention scores is not supported when flash attention is enabled. Please "
                             "disable flash attention to access attention scores.")
        if self._is_fused(query, return_attention_scores):
            mask = self._spread(attention_mask, 4)
            return ops.dot_product_attention(
                query, key, value, mask=None if mask is None else ops.cast(mask, "bool"), scale=scale,
                is_causal=use_causal_mask, flash_attention=self._flash_attention), None
        if use_causal_mask:
            causal = self._compute_causal_mask(query, value)
            attention_mask = causal if attention_mask is None else ops.logical_and(
                ops.cast(attention_mask, "bool"), causal)
        scores = ops.einsum(self._dot_product_equation, key, query * ops.cast(scale, query.dtype))
        scores = self._masked_softmax(scores, attention_mask)
        kept = self._dropout_layer(scores, training=training) if self._rate > 0.0 else scores
        return ops.einsum(self._combine_equation, kept, value), scores

    def _checked_shapes(self, value_shape, key_shape):
        if tuple(value_shape[1:-1]) != tuple(key_shape[1:-1]):
            raise ValueError("All dimensions of `value` and `key`, except the last one, must be equal. Received: "
                             f"value_shape={value_shape} and key_shape={key_shape}")


class MultiHeadAttention(_Heads):
    """Attention of several heads: projections, weights by keys and queries, a projection of what they give
    (``keras.layers.MultiHeadAttention``).

    `sliding_window`: how far a query sees. `use_gate`: the heads' results times a sigmoid of the queries.
    `attention_axes`: the dimensions that are attended over, by default all between the batch's and the last.
    """

    _prefix = "_"

    def __init__(self, num_heads, key_dim, value_dim=None, dropout=0.0, use_bias=True, output_shape=None,
                 attention_axes=None, sliding_window=None, flash_attention=None, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, bias_constraint=None, use_gate=False, seed=None, **kwargs):
        given = dict(locals())
        for name, value in (("num_heads", num_heads), ("key_dim", key_dim)):
            if not isinstance(value, int) or value <= 0:
                raise ValueError(f"Received an invalid value for argument `{name}`, expected a positive integer. "
                                 f"Received: {name}={value}")
        if value_dim is not None and (not isinstance(value_dim, int) or value_dim <= 0):
            raise ValueError("Received an invalid value for argument `value_dim`, expected a positive integer or "
                             f"`None`. Received: value_dim={value_dim}")
        super().__init__(**kwargs)
        if output_shape and not isinstance(output_shape, (int, tuple, list)):
            raise ValueError(f"Invalid `output_shape`: {output_shape}. When specified, the `output_shape` should be of "
                             "type tuple, list, or int.")
        if isinstance(attention_axes, int):
            attention_axes = (attention_axes,)
        elif attention_axes and not isinstance(attention_axes, (list, tuple)):
            raise ValueError("`attention_axes` must be an int, list, or tuple. Received: "
                             f"attention_axes={attention_axes}")
        self._num_heads, self._key_dim, self._value_dim = num_heads, key_dim, value_dim or key_dim
        self._dropout, self._use_bias, self._use_gate = dropout, use_bias, use_gate
        sizes = (output_shape,) if isinstance(output_shape, int) else output_shape
        self._sizes = tuple(sizes) if sizes else sizes
        self._attention_axes, self.seed = attention_axes, seed
        self._inverse_sqrt_key_dim = 1.0 / math.sqrt(float(key_dim))
        self._keep(given, sliding_window, flash_attention, dropout)

    num_heads = property(lambda self: self._num_heads)
    key_dim = property(lambda self: self._key_dim)
    value_dim = property(lambda self: self._value_dim)
    dropout = property(lambda self: self._dropout)
    use_bias = _biased = property(lambda self: self._use_bias)
    attention_axes = property(lambda self: self._attention_axes)
    query_dense = property(lambda self: self._query_dense)
    key_dense = property(lambda self: self._key_dense)
    value_dense = property(lambda self: self._value_dense)
    output_dense = property(lambda self: self._output_dense)

    def build(self, query_shape=None, value_shape=None, key_shape=None):
        """Makes the projections for inputs of these shapes."""
        key_shape = value_shape if key_shape is None else key_shape
        self._checked_shapes(value_shape, key_shape)
        heads, rank = self._num_heads, len(query_shape)
        self._query_dense = self._projection("query", query_shape, 1, [heads, self._key_dim])
        self._key_dense = self._projection("key", key_shape, 1, [heads, self._key_dim])
        if self._use_gate:
            self._gate_dense = self._projection("gate", query_shape, 1, [heads, self._value_dim], activation="sigmoid")
        self._value_dense = self._projection("value", value_shape, 1, [heads, self._value_dim])
        self._build_attention(len(value_shape) + 1)
        self._output_dense = self._projection(
            "attention_output", (*query_shape[:-1], heads, self._value_dim), 2, self._sizes or [query_shape[-1]], rank)

    def _projection(self, name, shape, bound, sizes, rank=None, **others):
        """A projection of the last `bound` dimensions to `sizes`."""
        free = string.ascii_lowercase[:len(shape) - bound]
        taken = string.ascii_lowercase[len(free):len(free) + bound]
        made = string.ascii_lowercase[len(free) + bound:len(free) + bound + len(sizes)]
        known = [None] * (len(free) - 1) + list(sizes)
        return self._dense(name, f"{free}{taken},{taken}{made}->{free}{made}", known, made, shape, **others)

    def _build_attention(self, rank):
        """Equations and layers of the attention over tensors of `rank` dimensions, heads and depth included."""
        axes = self._attention_axes
        self._attention_axes = tuple(range(1, rank - 2)) if axes is None else tuple(
            axis if axis >= 0 else rank - 1 + axis for axis in axes)
        axes, letters = self._attention_axes, string.ascii_lowercase
        target, others = letters[:rank], iter(letters[rank:])
        source = "".join(next(others) if i in axes and i < rank - 1 else target[i] for i in range(rank))
        product = "".join([target[i] for i in range(rank - 1) if i not in axes] + [target[i] for i in axes]
                          + [source[i] for i in axes])
        self._dot_product_equation = f"{source},{target}->{product}"
        self._combine_equation = f"{product},{source}->{target}"
        self._softmax = Softmax(axis=tuple(range(len(product) - len(axes), len(product))), dtype=self.dtype_policy)
        self._dropout_layer = Dropout(rate=self._dropout, dtype=self.dtype_policy, seed=self.seed)

    def _compute_attention(self, query, key, value, attention_mask=None, training=None, return_attention_scores=False,
                           use_causal_mask=False):
        """What projected queries, keys and values give, and the weights where they are asked for."""
        return self._attend(query, key, value, attention_mask, training, return_attention_scores, use_causal_mask,
                            self._inverse_sqrt_key_dim)

    def call(self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None, attention_mask=None,
             return_attention_scores=False, training=None, use_causal_mask=False):
        """The projected result; with `return_attention_scores` also the weights of the heads."""
        key = value if key is None else key
        query_mask = mask_of(query)
        for tensor in (query, value, key):  # what stands behind sees the result's mask alone, as in Keras
            masking.set_mask(tensor, None)
        causal_only = (use_causal_mask and attention_mask is None and self._window is None
                       and query_mask is None and value_mask is None and key_mask is None
                       and type(self)._compute_attention is MultiHeadAttention._compute_attention)
        if not causal_only:
            attention_mask = self._compute_attention_mask(query, value, query_mask, value_mask, key_mask,
                                                          attention_mask, use_causal_mask)
        gate = self._gate_dense(query) if self._use_gate else None
        output, scores = self._compute_attention(
            self._query_dense(query), self._key_dense(key), self._value_dense(value), attention_mask, training,
            return_attention_scores, **({"use_causal_mask": True} if causal_only else {}))
        output = self._output_dense(output if gate is None else output * gate)
        if query_mask is not None:
            masking.set_mask(output, query_mask)
        return (output, scores) if return_attention_scores else output

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        """The queries' shape, whose last dimension the argument `output_shape` may replace."""
        self._checked_shapes(value_shape, value_shape if key_shape is None else key_shape)
        return (*query_shape[:-1], *self._sizes) if self._sizes else tuple(query_shape)

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "num_heads": self._num_heads, "key_dim": self._key_dim,
                "value_dim": self._value_dim, "dropout": self._dropout, "use_bias": self._use_bias,
                "use_gate": self._use_gate, "output_shape": self._sizes, "attention_axes": self._attention_axes,
                "sliding_window": self._window, **self._regular_config(), "seed": self.seed}


class GroupedQueryAttention(_Heads):
    """Attention whose heads of keys and values each serve several heads of queries
    (``keras.layers.GroupQueryAttention``)."""

    _exported_name = "GroupQueryAttention"
    _attention_axes = (1,)

    def __init__(self, head_dim, num_query_heads, num_key_value_heads, dropout=0.0, use_bias=True, sliding_window=None,
                 flash_attention=None, kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, use_gate=False, seed=None, **kwargs):
        given = dict(locals())
        super().__init__(**kwargs)
        if num_query_heads % num_key_value_heads != 0:
            raise ValueError("`num_query_heads` must be divisible by `num_key_value_heads`. Received: "
                             f"num_query_heads={num_query_heads}, num_key_value_heads={num_key_value_heads}")
        self.head_dim, self.num_query_heads, self.num_key_value_heads = head_dim, num_query_heads, num_key_value_heads
        self.num_repeats = num_query_heads // num_key_value_heads
        self.dropout, self.use_bias, self.use_gate, self.seed = dropout, use_bias, use_gate, seed
        self.sliding_window = sliding_window
        self._inverse_sqrt_head_dim = 1.0 / math.sqrt(float(head_dim))
        self._return_attention_scores = False
        self._keep(given, sliding_window, flash_attention, dropout)

    _biased = property(lambda self: self.use_bias)

    def build(self, query_shape=None, value_shape=None, key_shape=None):
        """Makes the projections for inputs of these shapes."""
        key_shape = value_shape if key_shape is None else key_shape
        self.feature_dim = query_shape[-1]
        of_query, of_key = (None, self.num_query_heads, self.head_dim), (None, self.num_key_value_heads, self.head_dim)
        self._query_dense = self._dense("query", "bqm,muh->bquh", of_query, "uh", query_shape)
        self._key_dense = self._dense("key", "bkm,mvh->bkvh", of_key, "vh", key_shape)
        if self.use_gate:
            self._gate_dense = self._dense("gate", "bqm,muh->bquh", of_query, "uh", query_shape, activation="sigmoid")
        self._value_dense = self._dense("value", "bkm,mvh->bkvh", of_key, "vh", value_shape)
        self._softmax = Softmax(axis=-1, dtype=self.dtype_policy)
        self._dropout_layer = Dropout(rate=self.dropout, dtype=self.dtype_policy, seed=self.seed)
        self._dot_product_equation, self._combine_equation = "bkuh,bquh->buqk", "buqk,bkuh->bquh"
        self._output_dense = self._dense("attention_output", "bquh,uhm->bqm", (None, self.feature_dim), "m",
                                         (None, None, self.num_query_heads, self.head_dim))

    def _compute_attention(self, query, key, value, attention_mask=None, training=None, use_causal_mask=False):
        """What projected queries, keys and values of as many heads give, and the weights where they are asked for."""
        return self._attend(query, key, value, attention_mask, training, self._return_attention_scores,
                            use_causal_mask, self._inverse_sqrt_head_dim)

    def call(self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None, attention_mask=None,
             return_attention_scores=False, training=None, use_causal_mask=False):
        """The projected result; with `return_attention_scores` also the weights of the heads."""
        self._return_attention_scores = return_attention_scores
        key = value if key is None else key
        is_own = type(self)._compute_attention is not GroupedQueryAttention._compute_attention
        causal_only = (use_causal_mask and attention_mask is None and self._window is None and not is_own
                       and query_mask is None and value_mask is None and key_mask is None)
        if not causal_only:
            attention_mask = self._compute_attention_mask(query, value, query_mask, value_mask, key_mask,
                                                          attention_mask, use_causal_mask)
        gate = self._gate_dense(query) if self.use_gate else None
        query, key, value = self._query_dense(query), self._key_dense(key), self._value_dense(value)
        if is_own or not self._is_fused(query, return_attention_scores):  # dot_product_attention knows groups
            key, value = [ops.repeat(one, self.num_repeats, axis=2) for one in (key, value)]
        output, scores = self._compute_attention(
            query, key, value, attention_mask=attention_mask, training=training,
            **({"use_causal_mask": True} if causal_only else {}))
        output = self._output_dense(output if gate is None else output * gate)
        return (output, scores) if return_attention_scores else output

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        """The queries' shape. ValueError where the shapes do not fit."""
        if query_shape[-1] != value_shape[-1]:
            raise ValueError("The last dimension of `query_shape` and `value_shape` must be equal, but are "
                             f"{query_shape[-1]}, {value_shape[-1]}. Received: query_shape={query_shape}, "
                             f"value_shape={value_shape}")
        self._checked_shapes(value_shape, value_shape if key_shape is None else key_shape)
        return tuple(query_shape)

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "head_dim": self.head_dim, "num_query_heads": self.num_query_heads,
                "num_key_value_heads": self.num_key_value_heads, "use_bias": self.use_bias, "use_gate": self.use_gate,
                "sliding_window": self.sliding_window, "dropout": self.dropout, **self._regular_config(),
                "seed": self.seed}


def _shapes(value):
    """A list of shapes, which configurations have as a tuple."""
    return list(value) if isinstance(value, tuple) and isinstance(value[0], (list, tuple)) else value


class Attention(Layer):
    """Values weighted by products of queries and keys (``keras.layers.Attention``), called on [query, value] or
    [query, value, key].

    `use_scale`: the scores are multiplied by a weight. `score_mode`: "dot", or "concat" for tanh(query + key).
    """

    def __init__(self, use_scale=False, score_mode="dot", dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.use_scale, self.score_mode, self.dropout, self.seed = use_scale, score_mode, dropout, seed
        self.supports_masking = True
        if dropout > 0:
            self.seed_generator = SeedGenerator(seed)
        if score_mode not in ("dot", "concat"):
            raise ValueError("Invalid value for argument score_mode. Expected one of {'dot', 'concat'}. Received: "
                             f"score_mode={score_mode}")

    def build(self, input_shape=None):
        """Makes the weights that scale the scores."""
        self._validate_inputs(_shapes(input_shape))
        self.scale = self.concat_score_weight = None
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones", dtype=self.dtype)
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight(name="concat_score_weight", shape=(), initializer="ones",
                                                       dtype=self.dtype)

    def _calculate_scores(self, query, key):
        """How well each key fits each query, (batch, queries, keys)."""
        if self.score_mode == "dot":
            scores = ops.matmul(query, ops.swapaxes(key, -2, -1))
            return scores if self.scale is None else ops.multiply(scores, self.scale)
        both = ops.expand_dims(query, axis=-2) + ops.expand_dims(key, axis=-3)
        both = both if self.scale is None else ops.multiply(self.scale, both)
        return ops.multiply(self.concat_score_weight, ops.sum(ops.tanh(both), axis=-1))

    def _apply_scores(self, scores, value, scores_mask=None, training=False):
        """Values weighted by the softmax of scores, and the weights."""
        if scores_mask is not None:
            hidden = ops.logical_not(scores_mask)
            hidden = ops.expand_dims(hidden, axis=-2) if len(hidden.shape) == 2 else hidden
            scores = ops.where(hidden, scores - (65504.0 if scores.dtype.name == "float16" else 1.0e9), scores)
        weights = ops.softmax(scores, axis=-1)
        if training and self.dropout > 0:
            weights = drop(weights, self.dropout, seed=self.seed_generator)
        return ops.matmul(weights, value), weights

    def _calculate_score_mask(self, scores, v_mask, use_causal_mask):
        """What the scores' mask is: that of the values, and with `use_causal_mask` no key behind a query's place."""
        if not use_causal_mask:
            return v_mask
        rows, columns = [ops.arange(length, dtype="int32") for length in ops.shape(scores)[-2:]]
        causal = ops.greater_equal(ops.reshape(rows, (1, -1, 1)), ops.reshape(columns, (1, 1, -1)))
        return causal if v_mask is None else ops.logical_and(ops.expand_dims(v_mask, axis=-2), causal)

    def call(self, inputs, mask=None, training=False, return_attention_scores=False, use_causal_mask=False):
        """The weighted values, 0 where the queries' mask says so; with `return_attention_scores` also the weights."""
        self._validate_inputs(inputs, mask)
        query, value, key = inputs[0], inputs[1], inputs[-1] if len(inputs) > 2 else inputs[1]
        q_mask, v_mask = mask[:2] if mask else (None, None)
        scores = self._calculate_scores(query=query, key=key)
        output, weights = self._apply_scores(
            scores=scores, value=value, scores_mask=self._calculate_score_mask(scores, v_mask, use_causal_mask),
            training=training)
        if q_mask is not None:
            output = ops.where(ops.expand_dims(q_mask, axis=-1), output, ops.zeros_like(output))
        return (output, weights) if return_attention_scores else output

    def compute_mask(self, inputs, mask=None):
        """The queries' mask."""
        self._validate_inputs(inputs, mask)
        return None if mask is None or mask[0] is None else convert_to_tensor(mask[0])

    def compute_output_shape(self, input_shape):
        """The queries' shape with the last dimension of the values."""
        return (*input_shape[0][:-1], input_shape[1][-1])

    def _validate_inputs(self, inputs, mask=None):
        kind = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(f"{kind} layer must be called on a list of inputs, namely [query, value] or [query, "
                             f"value, key]. Received: inputs={inputs}.")
        if not 2 <= len(inputs) <= 3:
            raise ValueError(f"{kind} layer accepts inputs list of length 2 or 3, namely [query, value] or [query, "
                             f"value, key]. Received length: {len(inputs)}.")
        if mask is not None and not isinstance(mask, list):
            raise ValueError(f"{kind} layer mask must be a list, namely [query_mask, value_mask]. Received: "
                             f"mask={mask}.")
        if mask is not None and not 2 <= len(mask) <= 3:
            raise ValueError(f"{kind} layer accepts mask list of length 2 or 3. Received: inputs={inputs}, "
                             f"mask={mask}.")

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "use_scale": self.use_scale, "score_mode": self.score_mode,
                "dropout": self.dropout, "seed": self.seed}


class AdditiveAttention(Attention):
    """Values weighted by sums of tanh(query + key) (``keras.layers.AdditiveAttention``); `use_scale`: with a weight for
    each place of the last dimension."""

    def __init__(self, use_scale=True, dropout=0.0, **kwargs):
        super().__init__(use_scale=use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape=None):
        """Makes the weight of the sums."""
        self._validate_inputs(_shapes(input_shape))
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=[input_shape[0][-1]], initializer="glorot_uniform",
                                         dtype=self.dtype)

    def _calculate_scores(self, query, key):
        """How well each key fits each query, (batch, queries, keys)."""
        sums = ops.tanh(ops.expand_dims(query, axis=-2) + ops.expand_dims(key, axis=-3))
        return ops.sum(sums if self.scale is None else ops.multiply(self.scale, sums), axis=-1)

    def get_config(self):
        """The arguments that make another one like it."""
        config = super().get_config()
        del config["score_mode"]
        return config
