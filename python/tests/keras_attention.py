"""A program about layers of attention that runs under Keras and leat alike.

``python keras_attention.py data/keras_attention.json data/keras_attention.weights.h5`` records what it gives under
Keras; test_keras_attention.py compares.
"""

import json
import sys

import numpy as np

B, T, S, E = 2, 3, 4, 5
RANDOM = np.random.default_rng(5)
QUERY, VALUE, KEY = [RANDOM.normal(size=shape).astype("f") for shape in ((B, T, E), (B, S, E), (B, S, E))]
PICTURE = RANDOM.normal(size=(B, 3, 2, 4)).astype("f")
KEPT = RANDOM.random((B, T, S)) > 0.4
KEPT[0, 1] = False  # a query that sees nothing
OF_QUERY, OF_VALUE = np.array([[1, 1, 0], [1, 0, 1]], bool), np.array([[1, 0, 1, 1], [1, 1, 0, 0]], bool)

HEADS = {"num_heads": 2, "key_dim": 3}
GROUPS = {"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2}
# name: layer, configuration, how many of query, value and key are given, arguments of the call
CASES = {
    "heads": ("MultiHeadAttention", HEADS, 2, {}),
    "heads_key": ("MultiHeadAttention", {**HEADS, "value_dim": 4, "use_bias": False}, 3, {}),
    "heads_mask": ("MultiHeadAttention", HEADS, 2, {"attention_mask": KEPT}),
    "heads_mask_number": ("MultiHeadAttention", HEADS, 2, {"attention_mask": KEPT.astype("int32")}),
    "heads_mask_of_heads": ("MultiHeadAttention", HEADS, 2, {"attention_mask": np.stack([KEPT, ~KEPT], 1)}),
    "heads_masks": ("MultiHeadAttention", HEADS, 2, {"value_mask": OF_VALUE, "query_mask": OF_QUERY}),
    "heads_key_mask": ("MultiHeadAttention", HEADS, 3, {"key_mask": OF_VALUE, "attention_mask": KEPT}),
    "heads_causal": ("MultiHeadAttention", HEADS, 2, {"use_causal_mask": True}),
    "heads_causal_mask": ("MultiHeadAttention", HEADS, 2, {"use_causal_mask": True, "attention_mask": KEPT}),
    "heads_window": ("MultiHeadAttention", {**HEADS, "sliding_window": 2}, 2, {"use_causal_mask": True}),
    "heads_gate": ("MultiHeadAttention", {**HEADS, "use_gate": True}, 2, {}),
    "heads_scores": ("MultiHeadAttention", HEADS, 2, {"return_attention_scores": True, "attention_mask": KEPT}),
    "heads_scores_causal": ("MultiHeadAttention", HEADS, 2, {"return_attention_scores": True, "use_causal_mask": True}),
    "heads_output": ("MultiHeadAttention", {**HEADS, "output_shape": [2, 3]}, 2, {}),
    "heads_dropout": ("MultiHeadAttention", {**HEADS, "dropout": 0.4, "seed": 3}, 2, {"training": True}),
    "heads_dropout_off": ("MultiHeadAttention", {**HEADS, "dropout": 0.4, "seed": 3}, 2, {"attention_mask": KEPT}),
    "heads_regular": ("MultiHeadAttention", {**HEADS, "kernel_regularizer": "l2", "bias_constraint": "non_neg",
                                             "activity_regularizer": "l1"}, 2, {}),
    "groups": ("GroupQueryAttention", GROUPS, 2, {}),
    "groups_one": ("GroupQueryAttention", {**GROUPS, "num_key_value_heads": 1, "use_bias": False}, 3, {}),
    "groups_mask": ("GroupQueryAttention", GROUPS, 2, {"attention_mask": KEPT, "query_mask": OF_QUERY}),
    "groups_causal": ("GroupQueryAttention", GROUPS, 2, {"use_causal_mask": True}),
    "groups_window": ("GroupQueryAttention", {**GROUPS, "sliding_window": 1}, 2, {"value_mask": OF_VALUE}),
    "groups_scores": ("GroupQueryAttention", GROUPS, 2, {"return_attention_scores": True, "use_causal_mask": True}),
    "groups_gate": ("GroupQueryAttention", {**GROUPS, "use_gate": True}, 2, {}),
    "groups_dropout": ("GroupQueryAttention", {**GROUPS, "dropout": 0.3, "seed": 9}, 2, {"training": True}),
    "dot": ("Attention", {}, 2, {}),
    "dot_scale": ("Attention", {"use_scale": True}, 3, {"return_attention_scores": True}),
    "dot_masks": ("Attention", {}, 2, {"mask": [OF_QUERY, OF_VALUE]}),
    "dot_causal": ("Attention", {}, 2, {"mask": [None, OF_VALUE], "use_causal_mask": True}),
    "concat": ("Attention", {"score_mode": "concat"}, 2, {}),
    "concat_scale": ("Attention", {"score_mode": "concat", "use_scale": True}, 3, {"use_causal_mask": True}),
    "dot_dropout": ("Attention", {"dropout": 0.5, "seed": 4}, 2, {"training": True}),
    "additive": ("AdditiveAttention", {}, 2, {}),
    "additive_masks": ("AdditiveAttention", {"use_scale": False}, 3, {"mask": [OF_QUERY, OF_VALUE]}),
}
# Pictures: attention over some of the dimensions.
AXES = {"axes_none": None, "axes_two": [1, 2], "axes_last": [2], "axes_negative": [-2]}
# Of keras.ops.dot_product_attention: heads of keys and values, what else is given.
SECOND = {"plain": (2, {}), "scale": (2, {"scale": 0.7}), "groups": (1, {}), "causal": (2, {"is_causal": True}),
          "bias": (2, {"bias": np.sin(np.arange(24)).reshape(1, 2, 3, 4).astype("f")}),
          "mask": (2, {"mask": KEPT[:, None]}), "both": (2, {"mask": KEPT[:, None], "is_causal": True})}
WRONG = {
    "heads_number": lambda layers: layers.MultiHeadAttention(0, 2),
    "heads_depth": lambda layers: layers.MultiHeadAttention(2, 2.5),
    "heads_value": lambda layers: layers.MultiHeadAttention(2, 2, value_dim=-1),
    "heads_axes": lambda layers: layers.MultiHeadAttention(2, 2, attention_axes="a"),
    "heads_flash": lambda layers: layers.MultiHeadAttention(2, 2, dropout=0.1, flash_attention=True),
    "heads_window": lambda layers: layers.MultiHeadAttention(2, 2, sliding_window=0),
    "heads_lengths": lambda layers: layers.MultiHeadAttention(2, 2)(QUERY, VALUE, key=KEY[:, :2]),
    "heads_shapes": lambda layers: layers.MultiHeadAttention(2, 2).compute_output_shape((1, 2, 3), (1, 2, 3),
                                                                                        (1, 4, 3)),
    "groups_divide": lambda layers: layers.GroupQueryAttention(2, 3, 2),
    "groups_shapes": lambda layers: layers.GroupQueryAttention(2, 2, 2).compute_output_shape((1, 2, 3), (1, 2, 4)),
    "dot_mode": lambda layers: layers.Attention(score_mode="no"),
    "dot_tuple": lambda layers: layers.Attention()(QUERY),
    "dot_one": lambda layers: layers.Attention()([QUERY]),
    "dot_mask": lambda layers: layers.Attention()([QUERY, VALUE], mask=OF_QUERY),
    "dot_masks": lambda layers: layers.Attention()([QUERY, VALUE], mask=[OF_QUERY]),
}


def fixed(layer):
    """The layer with weights that are sines of their places."""
    for i, weight in enumerate(layer.trainable_weights):
        weight.assign(np.sin(np.arange(int(np.prod(weight.shape))) * 1.7 + i).reshape(weight.shape))


def listed(value):
    return [listed(one) for one in value] if isinstance(value, (list, tuple)) else np.asarray(value).tolist()


def paths(layer):
    """The weights' paths behind the layer's name."""
    return [weight.path.partition("/")[2] for weight in layer.weights if "seed" not in weight.path]


def run(tf, layer, tensors, call):
    """Output, and gradients by inputs and weights, of a layer whose inputs and weights are given."""
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        output = layer(*tensors, **call) if "Multi" in type(layer).__name__ or "Group" in type(layer).__name__ else (
            layer(tensors, **call))
        first = output[0] if isinstance(output, (list, tuple)) else output
        loss = tf.reduce_sum(first * tf.sin(tf.reshape(tf.range(tf.size(first), dtype="float32"), tf.shape(first))))
    gradients = tape.gradient(loss, [*tensors, *layer.trainable_weights])
    return {"output": listed(output if isinstance(output, (list, tuple)) else [output]),
            "gradients": [None if one is None else listed(one) for one in gradients]}


def one(tf, keras, name, is_traced=False):
    kind, config, count, call = CASES[name]
    layer = getattr(keras.layers, kind)(**config)
    tensors = [tf.constant(one) for one in (QUERY, VALUE, KEY)[:count]]
    call = {key: [None if one is None else tf.constant(one) for one in value] if isinstance(value, list) else
            tf.constant(value) if isinstance(value, np.ndarray) else value for key, value in call.items()}
    shapes = [tuple(one.shape) for one in tensors]
    layer.build(*shapes) if "Attention" != kind[-9:] or kind[0] in "MG" else layer.build(shapes)
    fixed(layer)
    found = tf.function(lambda: run(tf, layer, tensors, call))() if is_traced else run(tf, layer, tensors, call)
    return {**found, "paths": paths(layer), "losses": listed([float(one) for one in layer.losses])}


def second(tf, keras, name, shares_heads=True):
    """The gradients of a penalty on the gradients; TensorFlow's attention wants keys and values for each head."""
    heads, call = SECOND[name]
    tensors = [tf.constant(np.sin(np.arange(int(np.prod(shape))) * 1.3 + i).reshape(shape), "float32") for i, shape in
               enumerate([(B, T, 2, E), (B, S, heads, E), (B, S, heads, E)])]
    tensors += [tf.constant(call["bias"])] if "bias" in call else []
    with tf.GradientTape() as outer:
        outer.watch(tensors)
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            query, key, value = tensors[:3]
            if heads == 1 and not shares_heads:
                key, value = tf.repeat(key, 2, 2), tf.repeat(value, 2, 2)
            loss = tf.reduce_sum(keras.ops.dot_product_attention(
                query, key, value, **{**call, **({"bias": tensors[3]} if "bias" in call else {})}) ** 2)
        penalty = sum(tf.reduce_sum(one * tf.sin(one)) for one in tape.gradient(loss, tensors))
    return outer.gradient(penalty, tensors)


def axes(tf, keras, name):
    layer = keras.layers.MultiHeadAttention(2, 2, attention_axes=AXES[name])
    layer.build(PICTURE.shape, PICTURE.shape)
    fixed(layer)
    return run(tf, layer, [tf.constant(PICTURE), tf.constant(PICTURE)], {})


def configs(keras):
    """Configurations, without what differs by object."""
    found = {}
    for name, (kind, config, _, _) in CASES.items():
        layer = getattr(keras.layers, kind)(**config)
        again = type(layer).from_config(layer.get_config()).get_config()
        found[name] = json.loads(json.dumps({key: value for key, value in again.items() if key not in (
            "name", "dtype", "activity_regularizer", "kernel_regularizer") and "initializer" not in key}))
    return found


def errors(keras):
    found = {}
    for name, call in WRONG.items():
        try:
            call(keras.layers)
            found[name] = "none"
        except Exception as error:
            found[name] = type(error).__name__
    return found


def small_model(keras):
    """A block of a transformer over words."""
    layers = keras.layers
    keras.utils.set_random_seed(3)
    words = keras.Input((6,), dtype="int32")
    x = layers.Embedding(11, 8)(words)
    y = layers.MultiHeadAttention(2, 4, name="heads")(x, x, use_causal_mask=True)
    x = layers.LayerNormalization()(layers.Add()([x, y]))
    y = layers.GroupQueryAttention(4, 2, 1, name="groups")(x, x)
    z = layers.Attention(use_scale=True, name="dot")([y, x])
    z = layers.AdditiveAttention(name="additive")([z, x])
    return keras.Model(words, layers.Dense(3)(layers.GlobalAveragePooling1D()(z)))


def words():
    random = np.random.default_rng(1)
    x = random.integers(0, 11, (12, 6)).astype("int32")
    x[:, 0] = np.maximum(x[:, 0], 1)
    return x, (x.sum(1) % 3).astype("int32")


def training(keras, folder_of_weights=None):
    """Losses of ten steps from seeded weights, and what the model then gives."""
    model, (x, y) = small_model(keras), words()
    model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    first = [float(np.sum(np.abs(weight))) for weight in model.get_weights()]
    losses = model.fit(x, y, batch_size=12, epochs=10, shuffle=False, verbose=0).history["loss"]
    if folder_of_weights:
        model.save_weights(folder_of_weights)
    return {"first": first, "losses": losses, "after": listed(model(x))}


if __name__ == "__main__":
    import keras
    import tensorflow
    recorded = {"cases": {name: one(tensorflow, keras, name) for name in CASES},
                "axes": {name: axes(tensorflow, keras, name) for name in AXES},
                "second": {name: listed(second(tensorflow, keras, name, False)) for name in SECOND},
                "errors": errors(keras), "training": training(keras, sys.argv[2])}

    def short(value):
        if isinstance(value, dict):
            return {key: short(one) for key, one in value.items()}
        return [short(one) for one in value] if isinstance(value, list) else (
            float(f"{value:.9g}") if isinstance(value, float) else value)
    with open(sys.argv[1], "w") as file:
        json.dump({**short(recorded), "configs": configs(keras)}, file, separators=(",", ":"))
