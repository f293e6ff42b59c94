"""``keras.optimizers.legacy``: names of Keras 2, which say what to use in their place."""


def _gone(name, instead):
    def __init__(self, *args, **kwargs):
        raise ImportError(f"`keras.optimizers.legacy` is not supported in Keras 3: use keras.optimizers.{instead}, "
                          "whose arguments are the same but for `decay`, which is a schedule now")
    return type(name, (), {"__init__": __init__, "__module__": __name__, "__doc__": "ImportError: of Keras 2."})


Adagrad, Adam, Ftrl, RMSprop, SGD, Optimizer = (_gone(name, name) for name in (
    "Adagrad", "Adam", "Ftrl", "RMSprop", "SGD", "Optimizer"))
