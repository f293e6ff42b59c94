"""Records layers of Keras that golden/nn lacks: tests/golden/data/nn/more_layers.json, in the form of layers.json.

    python keras_layers.py tests/golden/data/nn/more_layers.json         (with TensorFlow and Keras installed)

Layers that draw numbers are recorded with a seed, so their masks are those of Keras' generator.
"""

import json
import sys

import keras
import numpy as np
import tensorflow as tf

LINE, PLANE, SPACE = (2, 7, 4), (2, 6, 5, 4), (2, 4, 5, 3, 2)
CASES = [  # layer, configurations, shapes of the inputs, training
    ("Conv1D", [{"filters": 3, "kernel_size": 3}, {"filters": 4, "kernel_size": 2, "strides": 2, "padding": "same"},
                {"filters": 2, "kernel_size": 3, "padding": "causal", "dilation_rate": 2},
                {"filters": 4, "kernel_size": 3, "groups": 2, "activation": "tanh"}], [LINE], False),
    ("Conv2D", [{"filters": 6, "kernel_size": 3, "groups": 2, "strides": 2, "padding": "same"}], [PLANE], False),
    ("Conv3D", [{"filters": 3, "kernel_size": 2}, {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same"},
                {"filters": 2, "kernel_size": [1, 3, 2], "padding": "same", "use_bias": False},
                {"filters": 4, "kernel_size": 2, "groups": 2, "strides": [2, 1, 1]},
                {"filters": 2, "kernel_size": 2, "dilation_rate": 2, "padding": "same"}], [SPACE], False),
    ("Conv1DTranspose", [{"filters": 3, "kernel_size": 3, "strides": 2},
                         {"filters": 2, "kernel_size": 2, "padding": "same", "strides": 2}], [LINE], False),
    ("Conv2DTranspose", [{"filters": 3, "kernel_size": 3}, {"filters": 3, "kernel_size": 3, "strides": 2},
                         {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same"},
                         {"filters": 2, "kernel_size": [2, 3], "strides": 3, "use_bias": False},
                         {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same", "output_padding": 1},
                         {"filters": 2, "kernel_size": 3, "strides": 2, "output_padding": [1, 0]}], [PLANE], False),
    ("DepthwiseConv1D", [{"kernel_size": 3}, {"kernel_size": 2, "depth_multiplier": 2, "padding": "same"}], [LINE], False),
    ("DepthwiseConv2D", [{"kernel_size": 3, "dilation_rate": 2, "padding": "same", "activation": "relu"}], [PLANE], False),
    ("SeparableConv1D", [{"filters": 3, "kernel_size": 3}], [LINE], False),
    ("SeparableConv2D", [{"filters": 3, "kernel_size": 3}, {"filters": 5, "kernel_size": 3, "strides": 2, "padding": "same",
                                                           "depth_multiplier": 2, "use_bias": False}], [PLANE], False),
    ("MaxPooling1D", [{}, {"pool_size": 3, "strides": 2, "padding": "same"}], [LINE], False),
    ("AveragePooling1D", [{"pool_size": 2}, {"pool_size": 3, "strides": 1, "padding": "same"}], [LINE], False),
    ("MaxPooling3D", [{}, {"pool_size": 3, "strides": 2, "padding": "same"}, {"pool_size": [1, 2, 3], "strides": 1}],
     [SPACE], False),
    ("AveragePooling3D", [{"pool_size": 2}, {"pool_size": 3, "strides": 2, "padding": "same"}], [SPACE], False),
    ("GlobalAveragePooling1D", [{}, {"keepdims": True}, {"data_format": "channels_first"}], [LINE], False),
    ("GlobalMaxPooling1D", [{}], [LINE], False),
    ("GlobalAveragePooling3D", [{}], [SPACE], False),
    ("GlobalMaxPooling3D", [{"keepdims": True}], [SPACE], False),
    ("GlobalMaxPooling2D", [{"data_format": "channels_first"}], [PLANE], False),
    ("BatchNormalization", [{"axis": 1}, {"momentum": 0.5, "scale": False}], [PLANE], True),
    ("BatchNormalization", [{"axis": 1}], [PLANE], False),
    ("LayerNormalization", [{"axis": 1}, {"axis": [1, 3], "epsilon": 0.1}], [PLANE], False),
    ("GroupNormalization", [{"groups": 2}, {"groups": -1, "scale": False}, {"groups": 4, "center": False}], [PLANE], False),
    ("GroupNormalization", [{"groups": 3, "axis": 1}], [PLANE], False),
    ("Reshape", [{"target_shape": [10, 12]}, {"target_shape": [-1, 4, 5]}], [PLANE], False),
    ("Permute", [{"dims": [3, 1, 2]}], [PLANE], False),
    ("RepeatVector", [{"n": 3}], [(2, 4)], False),
    ("ZeroPadding1D", [{}, {"padding": [2, 1]}], [LINE], False),
    ("ZeroPadding2D", [{"padding": [2, 1]}], [PLANE], False),
    ("ZeroPadding3D", [{}, {"padding": [[0, 1], [2, 0], [1, 1]]}], [SPACE], False),
    ("Cropping1D", [{}, {"cropping": [0, 2]}], [LINE], False),
    ("Cropping2D", [{"cropping": 1}, {"cropping": [[1, 2], [0, 3]]}], [PLANE], False),
    ("Cropping3D", [{"cropping": [1, 2, 1]}], [(2, 4, 5, 3, 2)], False),
    ("UpSampling1D", [{}], [LINE], False),
    ("UpSampling2D", [{"size": [3, 1]}, {"interpolation": "bilinear"}, {"size": 3, "interpolation": "bicubic"}], [PLANE],
     False),
    ("UpSampling3D", [{"size": [1, 2, 2]}], [SPACE], False),
    ("Add", [{}], [(2, 3), (2, 3), (2, 3)], False),
    ("Add", [{}], [(2, 4, 3), (2, 3)], False),
    ("Subtract", [{}], [(2, 3), (2, 3)], False),
    ("Average", [{}], [(2, 3), (2, 1), (2, 3)], False),
    ("Maximum", [{}], [(2, 3), (2, 3)], False),
    ("Minimum", [{}], [(2, 3), (2, 3), (2, 3)], False),
    ("Concatenate", [{"axis": 1}], [(2, 3, 2), (2, 1, 2)], False),
    ("Dot", [{"axes": 1}, {"axes": 1, "normalize": True}], [(3, 4), (3, 4)], False),
    ("Dot", [{"axes": [2, 1]}, {"axes": [1, 2]}], [(2, 3, 3), (2, 3, 3)], False),
    ("Dot", [{"axes": [1, 3]}], [(2, 3, 4), (2, 2, 5, 3)], False),
    ("Activation", [{"activation": name} for name in (
        "softsign", "hard_silu", "log_sigmoid", "log_softmax", "mish", "tanh_shrink", "hard_shrink", "soft_shrink",
        "squareplus", "hard_tanh", "swish")], [(4, 6)], False),
    ("ReLU", [{"threshold": 0.3}, {"negative_slope": 0.2}, {"max_value": 0.5}], [(4, 6)], False),
    ("ELU", [{}, {"alpha": 0.5}], [(4, 6)], False),
    ("Softmax", [{}, {"axis": 0}], [(4, 6)], False),
    ("PReLU", [{"alpha_initializer": "ones"}, {"shared_axes": [1, 2]}], [(2, 3, 2, 3)], False),
    ("Rescaling", [{"scale": 2, "offset": [0.5, 1, -1]}], [(2, 4, 3)], False),
    ("Normalization", [{"mean": [1, 2, 3], "variance": [4, 1, 0.25]}, {"mean": 2, "variance": 3, "invert": True}],
     [(2, 4, 3)], False),
    ("Dropout", [{"rate": 0.4, "seed": 7}], [(3, 50)], True),
    ("Dropout", [{"rate": 0.5, "seed": 1, "noise_shape": [None, 1]}], [(6, 5)], True),
    ("Dropout", [{"rate": 0.4, "seed": 7}, {"rate": 0, "seed": 7}], [(3, 5)], False),
    ("SpatialDropout1D", [{"rate": 0.5, "seed": 3}], [(3, 2, 6)], True),
    ("SpatialDropout2D", [{"rate": 0.5, "seed": 3}], [(3, 2, 2, 6)], True),
    ("SpatialDropout3D", [{"rate": 0.5, "seed": 3}], [(3, 2, 1, 2, 6)], True),
    ("GaussianNoise", [{"stddev": 0.4, "seed": 5}], [(3, 7)], True),
    ("GaussianDropout", [{"rate": 0.3, "seed": 5}], [(3, 7)], True),
]


def array(tensor):
    if tensor is None:
        return None
    found = np.asarray(tensor)
    return {"dtype": str(found.dtype), "shape": list(found.shape), "data": [float(str(value)) for value in found.ravel()]}


def record(name, config, shapes, training, random):
    inputs = [tf.constant(random.normal(size=shape).astype(np.float32)) for shape in shapes]
    given = inputs if len(inputs) > 1 else inputs[0]
    layer = getattr(keras.layers, name)(**config)
    layer.build(shapes if len(inputs) > 1 else shapes[0])
    for weight in layer.weights:
        value = random.normal(size=weight.shape)
        weight.assign(np.abs(value) + 0.5 if weight.name == "moving_variance" else value)
    before = {weight.name: array(weight) for weight in layer.weights}
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(inputs)
        output = layer(given, training=training)
        upstream = tf.constant(random.normal(size=output.shape).astype(np.float32))
        loss = tf.reduce_sum(output * upstream)
    case = {"layer": name, "config": config, "training": training, "inputs": [array(one) for one in inputs],
            "weights": before, "upstream": array(upstream), "output": array(output),
            "input_grads": [array(one) for one in tape.gradient(loss, inputs)],
            "weight_grads": {weight.name: array(tape.gradient(loss, weight.value)) for weight in layer.trainable_weights}}
    if name == "BatchNormalization":
        case["state_after"] = {weight.name: array(weight) for weight in layer.non_trainable_weights}
    return json.dumps(case)


def main(path):
    random = np.random.default_rng(14)
    lines = [record(name, config, shapes, training, random)
             for name, configs, shapes, training in CASES for config in configs]
    with open(path, "w") as file:
        file.write('{"keras": "%s", "cases": [\n%s\n]}\n' % (keras.__version__, ",\n".join(lines)))


main(sys.argv[1])
