"""``keras.layers.TFSMLayer``: a function of a SavedModel as a layer."""

from leat import saved_model
from leat.keras._base.layer import Layer
from leat.keras._base.loading import in_safe_mode


class TFSMLayer(Layer):
    """Calls a function of a SavedModel (``keras.layers.TFSMLayer``), for inference or, with `call_training_endpoint`,
    for training too. `filepath`: its folder; `call_endpoint`: the name of an attribute or a signature."""

    def __init__(self, filepath, call_endpoint="serve", call_training_endpoint=None, trainable=True, name=None,
                 dtype=None):
        super().__init__(trainable=trainable, name=name, dtype=dtype)
        self.filepath, self.call_endpoint = filepath, call_endpoint
        self.call_training_endpoint = call_training_endpoint
        loaded = saved_model.load(filepath)
        self._endpoint = _endpoint(loaded, call_endpoint)
        self._training_endpoint = _endpoint(loaded, call_training_endpoint) if call_training_endpoint else None
        found = {id(one): one for function in (self._endpoint, self._training_endpoint) if function is not None
                 for one in function.bound_variables}
        for variable in found.values():
            self._track(variable)
        self.built = True

    def call(self, inputs, training=False, **kwargs):
        """What the function gives."""
        function = self._training_endpoint if training and self._training_endpoint is not None else self._endpoint
        return function(inputs, **kwargs)

    def get_config(self):
        """The arguments; the SavedModel itself stays where it lies."""
        return {**super().get_config(), "filepath": self.filepath, "call_endpoint": self.call_endpoint,
                "call_training_endpoint": self.call_training_endpoint}

    @classmethod
    def from_config(cls, config, custom_objects=None, safe_mode=None):
        """The layer of a configuration. ValueError in safe mode: it would load another file, which may be anybody's."""
        if in_safe_mode() if safe_mode is None else safe_mode:
            raise ValueError("Requested the deserialization of a `TFSMLayer`, which loads an external SavedModel. This "
                             "carries a potential risk of arbitrary code execution and thus it is disallowed by "
                             "default. If you trust the source of the artifact, pass `safe_mode=False` to the loading "
                             "function, or call `keras.config.enable_unsafe_deserialization()`.")
        return cls(**config)


def _endpoint(loaded, name):
    found = vars(loaded).get(name) if name != "signatures" else None
    found = loaded.signatures.get(name) if found is None else found
    if not callable(found):
        raise ValueError(f"The endpoint '{name}' is neither an attribute of the reloaded SavedModel, nor an entry in "
                         "the `signatures` field of the reloaded SavedModel. Select another endpoint via the "
                         "`call_endpoint` argument. Available endpoints for this SavedModel: "
                         f"{list(loaded.signatures)}")
    return found
