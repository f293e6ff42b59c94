"""``keras.remat`` and ``RematScope``, for programs that ask for them: what gradients need is kept here."""

_MODES = ("full", "activations", "larger_than", "list_of_layers", None)


def remat(f):
    """The function itself (``keras.remat``), as ``tf.recompute_grad`` is: results and gradients are the same."""
    return f


class RematScope:
    """Says which layers may compute again what gradients need (``keras.RematScope``); none does. ValueError for a mode
    that Keras does not have."""

    def __init__(self, mode="full", output_size_threshold=1024, layer_names=None):
        if mode not in _MODES:
            raise ValueError(f"Invalid mode '{mode}'. Supported modes are: 'full', 'activations', 'larger_than', "
                             "'list_of_layers', or  None.")
        self.mode, self.output_size_threshold, self.layer_names = mode, output_size_threshold, layer_names or []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass
