"""What `get_config()` gives for every class of Keras' tables: keys, their order, and values.

``python keras_configs.py data/keras_configs.json NAME,...`` records it under TensorFlow for the modules' classes but
those that are named; test_keras_configs.py compares.
"""

import inspect
import json
import os
import sys

MODULES = ("layers", "losses", "metrics", "optimizers", "optimizers.schedules", "initializers", "regularizers",
           "constraints")
NEEDED = {"units": 3, "filters": 2, "kernel_size": 3, "rate": .5, "input_dim": 4, "output_dim": 3, "num_classes": 2,
          "recall": .5, "precision": .5, "specificity": .5, "sensitivity": .5, "target_class_ids": [1],
          "initial_learning_rate": .1, "decay_steps": 10, "decay_rate": .9, "boundaries": [1, 2],
          "values": [1., 2., 3.], "first_decay_steps": 5, "n": 2, "dims": [2, 1], "target_shape": [4], "height": 4,
          "width": 4, "factor": .2,
          "num_bins": 4, "axes": 1, "groups": 2, "equation": "ab,bc->ac", "output_shape": 4, "scale": 2., "stddev": .1,
          "height_factor": .2, "pool_size": 2, "num_tokens": 4, "max_value": 1.}
OTHERS = {"activation": "relu", "strides": 2, "data_format": "channels_first", "seed": 3, "epsilon": 1e-2, "beta_1": .8,
          "kernel_regularizer": "l2", "bias_constraint": "max_norm", "class_id": 0, "threshold": .4, "top_k": 2,
          "from_logits": True, "weight_decay": .1, "clipnorm": 1., "gamma": .3, "value_range": [1, 0],
          "factor": [.3, .1]}


def plain(value):
    """Dictionaries as lists of pairs, so that their order counts; tuples as they are told apart from lists."""
    if isinstance(value, dict):
        return [[key, plain(item)] for key, item in value.items() if key not in ("name", "registered_name")]
    if isinstance(value, (list, tuple)):
        return [*(["tuple"] if isinstance(value, tuple) else []), *(plain(item) for item in value)]
    return value if isinstance(value, (int, float, str, type(None))) else type(value).__name__


def parameters(class_):
    """{name: is it required} of a constructor."""
    given = list(inspect.signature(class_.__init__).parameters.values())[1:]
    return {one.name: one.default is one.empty for one in given
            if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}


def configs(class_, known):
    """The configurations of one made with what it needs, and with each of some other arguments."""
    start, found = {name: NEEDED[name] for name, needed in known.items() if needed}, {}
    for name in ("", *(name for name in OTHERS if name in known)):
        try:
            found[name] = plain(class_(**{**start, **({name: OTHERS[name]} if name else {})}).get_config())
        except (AttributeError, TypeError, ValueError, NotImplementedError, ImportError):
            continue  # arguments that do not go together
    return found


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow
    keras = tensorflow.keras
    recorded = {}
    for module in MODULES:
        place = keras
        for part in module.split("."):
            place = getattr(place, part)
        for short in dir(place):
            class__ = getattr(place, short)
            if short.startswith("Convolution") or short.startswith("Separable") and short[-2] == "1":
                continue  # of one class with others
            is_one = hasattr(class__, "get_config") and short[0].isupper()
            if is_one and f"{module}.{short}" not in sys.argv[2].split(","):
                words = parameters(class__)
                if all(word in NEEDED for word, needed in words.items() if needed):
                    recorded[f"{module}.{short}"] = [words, configs(class__, words)]
    with open(sys.argv[1], "w") as file:
        file.write("{" + ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in recorded.items()) + "}\n")
