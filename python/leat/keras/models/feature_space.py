"""Tables of features, numbers, categories and texts, as vectors (``keras.utils.FeatureSpace``)."""

from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops
from leat.data import Dataset
from leat.keras import layers, ops as whole
from leat.keras._base import registry, tables
from leat.keras._base.layer import Layer
from leat.keras.saving import files

_KERAS = "keras.src.layers.preprocessing.feature_space"  # where Keras has the classes that it does not show


def _checked_mode(mode, modes):
    if mode not in modes:
        raise ValueError(f"Invalid value for argument `output_mode`. Expected one of {modes}. Received: "
                         f"output_mode={mode}")
    return mode


class Cross:
    """Features that are crossed: a hash of all of them, below `crossing_dim`."""

    _exported_module, _leat_registered_name = _KERAS, "Cross"

    def __init__(self, feature_names, crossing_dim, output_mode="one_hot"):
        self.output_mode = _checked_mode(output_mode, ("int", "one_hot"))
        self.feature_names, self.crossing_dim = tuple(feature_names), crossing_dim

    name = property(lambda self: "_X_".join(self.feature_names))

    def get_config(self):
        """The arguments that make another one like it."""
        return {"feature_names": self.feature_names, "crossing_dim": self.crossing_dim,
                "output_mode": self.output_mode}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)


class Feature:
    """A feature: the dtype of its column, the layer that it goes through, and what becomes of the layer's output."""

    _exported_module, _leat_registered_name = _KERAS, "Feature"

    def __init__(self, dtype, preprocessor, output_mode):
        self.output_mode = _checked_mode(output_mode, ("int", "one_hot", "float"))
        if isinstance(preprocessor, dict):
            preprocessor = registry.deserialize_keras_object(preprocessor)
        self.dtype, self.preprocessor = dtype, preprocessor

    def get_config(self):
        """The arguments that make another one like it."""
        return {"dtype": self.dtype, "preprocessor": registry.serialize_keras_object(self.preprocessor),
                "output_mode": self.output_mode}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)


class TFDIdentity(Layer):
    """What it is given, of any dtype; Keras' files have it under this name."""

    _exported_module, _leat_registered_name = _KERAS, "TFDIdentity"

    def call(self, x):
        """The same."""
        return x


class _Joined(Layer):
    """Vectors one behind the other."""

    def call(self, values):
        """The joined vectors."""
        return whole.concatenate(values, axis=-1)


class FeatureSpace(Layer):
    """Encodes dictionaries of features (``keras.utils.FeatureSpace``).

    `features`: {name: kind}, of "float", "float_rescaled", "float_normalized", "float_discretized",
    "integer_categorical", "string_categorical", "integer_hashed", "string_hashed", or what the functions of these names
    give. `crosses`: lists of names that are hashed together. `output_mode`: "concat" gives one vector a row, the
    features in the order of their names and then the crosses; "dict" a dictionary. `adapt` finds what normalization,
    boundaries and vocabularies need; after it the space is called on a dictionary of rows or of one row, maps a
    dataset, or gives `get_inputs()` and `get_encoded_features()` for a model. ValueError before that.
    """

    _exported_module = "keras.utils"

    @classmethod
    def cross(cls, feature_names, crossing_dim, output_mode="one_hot"):
        """Features that are crossed."""
        return Cross(feature_names, crossing_dim, output_mode=output_mode)

    @classmethod
    def feature(cls, dtype, preprocessor, output_mode):
        """A feature of any layer."""
        return Feature(dtype, preprocessor, output_mode)

    @classmethod
    def float(cls, name=None):
        """A number as it is."""
        name = name or tables.auto_name("float")
        return Feature("float32", TFDIdentity(name=f"{name}_preprocessor"), "float")

    @classmethod
    def float_rescaled(cls, scale=1.0, offset=0.0, name=None):
        """A number times `scale`, plus `offset`."""
        name = name or tables.auto_name("float_rescaled")
        return Feature("float32", layers.Rescaling(scale=scale, offset=offset, name=f"{name}_preprocessor"), "float")

    @classmethod
    def float_normalized(cls, name=None):
        """A number less the mean, divided by the deviation that `adapt` finds."""
        name = name or tables.auto_name("float_normalized")
        return Feature("float32", layers.Normalization(axis=-1, name=f"{name}_preprocessor"), "float")

    @classmethod
    def float_discretized(cls, num_bins, bin_boundaries=None, output_mode="one_hot", name=None):
        """In which of `num_bins` parts a number lies; without boundaries `adapt` finds them."""
        name = name or tables.auto_name("float_discretized")
        return Feature("float32", layers.Discretization(num_bins=num_bins, bin_boundaries=bin_boundaries,
                                                        name=f"{name}_preprocessor"), output_mode)

    @classmethod
    def integer_categorical(cls, max_tokens=None, num_oov_indices=1, output_mode="one_hot", name=None):
        """The place of an integer among those that `adapt` finds."""
        name = name or tables.auto_name("integer_categorical")
        return Feature("int32", layers.IntegerLookup(name=f"{name}_preprocessor", max_tokens=max_tokens,
                                                     num_oov_indices=num_oov_indices), output_mode)

    @classmethod
    def string_categorical(cls, max_tokens=None, num_oov_indices=1, output_mode="one_hot", name=None):
        """The place of a text among those that `adapt` finds."""
        name = name or tables.auto_name("string_categorical")
        return Feature("string", layers.StringLookup(name=f"{name}_preprocessor", max_tokens=max_tokens,
                                                     num_oov_indices=num_oov_indices), output_mode)

    @classmethod
    def string_hashed(cls, num_bins, output_mode="one_hot", name=None):
        """A text's hash below `num_bins`."""
        name = name or tables.auto_name("string_hashed")
        return Feature("string", layers.Hashing(name=f"{name}_preprocessor", num_bins=num_bins), output_mode)

    @classmethod
    def integer_hashed(cls, num_bins, output_mode="one_hot", name=None):
        """An integer's hash below `num_bins`."""
        name = name or tables.auto_name("integer_hashed")
        return Feature("int32", layers.Hashing(name=f"{name}_preprocessor", num_bins=num_bins), output_mode)

    def __init__(self, features, output_mode="concat", crosses=None, crossing_dim=32, hashing_dim=32,
                 num_discretization_bins=32, name=None):
        super().__init__(name=name)
        if not features:
            raise ValueError("The `features` argument cannot be None or empty.")
        self.crossing_dim, self.hashing_dim = crossing_dim, hashing_dim
        self.num_discretization_bins = num_discretization_bins
        self.features = {name: self._standardize_feature(name, value) for name, value in features.items()}
        self.crosses = [self._standardize_cross(cross) for cross in crosses or ()]
        self.output_mode = _checked_mode(output_mode, ("dict", "concat"))
        self.inputs = {name: layers.Input(shape=(1,), dtype=one.dtype, name=name)
                       for name, one in self.features.items()}
        self.preprocessors = {name: one.preprocessor for name, one in self.features.items()}
        self.crossers = {cross.name: layers.HashedCrossing(cross.crossing_dim, name=cross.name)
                         for cross in self.crosses}
        self.one_hot_encoders, self.concat, self.encoded_features = {}, None, None
        self._is_adapted = False

    def _standardize_feature(self, name, feature):
        if isinstance(feature, Feature):
            return feature
        if isinstance(feature, dict):
            return registry.deserialize_keras_object(feature)
        sizes = {"float_discretized": self.num_discretization_bins, "integer_hashed": self.hashing_dim,
                 "string_hashed": self.hashing_dim}
        if feature not in ("float", "float_normalized", "float_rescaled", "integer_categorical", "string_categorical",
                           *sizes):
            raise ValueError(f"Invalid feature type: {feature}")
        make = getattr(self, feature)
        return make(sizes[feature], name=name) if feature in sizes else make(name=name)

    def _standardize_cross(self, cross):
        if isinstance(cross, dict):
            cross = registry.deserialize_keras_object(cross)
        if isinstance(cross, Cross):
            return cross
        if not self.crossing_dim:
            raise ValueError("When specifying `crosses`, the argument `crossing_dim` (dimensionality of the crossing "
                             "space) should be specified as well.")
        if not set(cross) <= set(self.features):
            raise ValueError("All features referenced in the `crosses` argument should be present in the `features` "
                             f"dict. Received unknown features: {cross}")
        return Cross(cross, crossing_dim=self.crossing_dim)

    # ---- adapting ----

    def _list_adaptable_preprocessors(self):
        def is_known(layer):
            if isinstance(layer, layers.Normalization):
                return layer.input_mean is not None
            return isinstance(layer, layers.TextVectorization) and layer._lookup._is_static
        return [name for name, one in self.preprocessors.items() if hasattr(one, "adapt") and not is_known(one)]

    def adapt(self, dataset):
        """Lets the layers look at a dataset of dictionaries, of rows or of batches, or at a dictionary of columns.
        ValueError for others."""
        if isinstance(dataset, dict):
            dataset = Dataset.from_tensor_slices(dataset)
        elif not isinstance(dataset, Dataset):
            raise ValueError("`adapt()` can only be called on a tf.data.Dataset or a dict of arrays/lists. Received "
                             f"instead: {dataset} (of type {type(dataset)})")
        for name in self._list_adaptable_preprocessors():
            column = dataset.map(lambda row, name=name: row[name])
            rank = len(next(iter(column)).shape)
            if rank == 0:
                column = column.batch(32)
            if rank < 2:
                column = column.map(lambda x: ops.FUNCTIONS["expand_dims"](x, -1))
            self.preprocessors[name].adapt(column)
        self._is_adapted = True
        self.get_encoded_features()
        self.built = True

    def _check_if_adapted(self):
        if not self._is_adapted and self._list_adaptable_preprocessors():
            raise ValueError("You need to call `.adapt(dataset)` on the FeatureSpace before you can start using it.")
        self._is_adapted = True

    # ---- encoding ----

    def get_inputs(self):
        """{name: KerasTensor} of the features, for a model."""
        self.get_encoded_features()
        return self.inputs

    def get_encoded_features(self):
        """What becomes of `get_inputs()`: a KerasTensor, or a dictionary of them."""
        self._check_if_adapted()
        if self.encoded_features is None:
            self.encoded_features = self._encoded(self.inputs)
        return self.encoded_features

    def _encoded(self, data):
        values = {name: self.preprocessors[name](one) for name, one in data.items()}
        crossed = {cross.name: self.crossers[cross.name]([values[name] for name in cross.feature_names])
                   for cross in self.crosses}
        made, specs = {}, {**self.features, **{cross.name: cross for cross in self.crosses}}
        for name in [*sorted(values), *sorted(crossed)]:
            value = crossed[name] if name in crossed else values[name]
            if specs[name].output_mode == "one_hot":
                value = self._one_hot(name, value)
            made[name] = value
        if self.output_mode == "dict":
            return made
        for name, value in made.items():
            dtype = _dtype_of(value)
            if dtype.startswith("int") or dtype == "string":
                raise ValueError(f"Cannot concatenate features because feature '{name}' has not been encoded (it has "
                                 f"dtype {dtype}). Consider using `output_mode='dict'`.")
        if self.concat is None:
            self.concat = _Joined()
        return self.concat(list(made.values()))

    def _one_hot(self, name, value):
        if name not in self.one_hot_encoders:
            dtype, layer = _dtype_of(value), self.crossers.get(name) or self.preprocessors[name]
            if not dtype.startswith("int"):
                raise ValueError(f"Feature '{name}' has `output_mode='one_hot'`. Thus its preprocessor should return "
                                 f"an integer dtype. Instead it returns a {dtype} dtype.")
            if isinstance(layer, (layers.IntegerLookup, layers.StringLookup)):
                size = layer.vocabulary_size()
            elif isinstance(layer, layers.CategoryEncoding):
                size = layer.num_tokens
            elif isinstance(layer, (layers.Discretization, layers.HashedCrossing, layers.Hashing)):
                size = layer.num_bins
            else:
                raise ValueError(f"Feature '{name}' has `output_mode='one_hot'`. However it isn't a standard feature "
                                 "and the dimensionality of its output space is not known, thus it cannot be one-hot "
                                 "encoded. Try using `output_mode='int'`.")
            self.one_hot_encoders[name] = layers.CategoryEncoding(num_tokens=size, output_mode="multi_hot")
        return self.one_hot_encoders[name](value)

    def __call__(self, data):
        self.get_encoded_features()
        if not isinstance(data, dict):
            raise ValueError(f"A FeatureSpace can only be called with a dict. Received: data={data} (of type "
                             f"{type(data)}")
        given, is_row = {}, False
        for name, one in data.items():
            one = one if isinstance(one, Tensor) or hasattr(one, "dense_shape") else convert_to_tensor(one)
            if len(one.shape) == 0:
                is_row = True
                one = ops.FUNCTIONS["reshape"](one, [1, 1])
            given[name] = ops.FUNCTIONS["expand_dims"](one, -1) if len(one.shape) == 1 else one
        made = self._encoded(given)
        if not is_row:
            return made
        if self.output_mode == "concat":
            return ops.FUNCTIONS["squeeze"](made, [0])
        return {name: ops.FUNCTIONS["squeeze"](one, [0]) if len(one.shape) == 2 and one.shape[0] == 1 else one
                for name, one in made.items()}

    # ---- configurations and files ----

    def get_config(self):
        """The arguments that make another one like it."""
        return {"features": registry.serialize_keras_object(self.features), "output_mode": self.output_mode,
                "crosses": registry.serialize_keras_object(self.crosses), "crossing_dim": self.crossing_dim,
                "hashing_dim": self.hashing_dim, "num_discretization_bins": self.num_discretization_bins}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)

    def get_build_config(self):
        """{name: what the feature's layer needs to make its weights}."""
        return {name: one.get_build_config() or {} for name, one in self.preprocessors.items()}

    def build_from_config(self, config):
        """Builds the features' layers, which are adapted already."""
        for name, one in config.items():
            if not self.preprocessors[name].built:
                self.preprocessors[name].build_from_config(one)
        self._is_adapted = True

    def save(self, filepath):
        """Writes the space into a `.keras` file, of which ``keras.models.load_model`` makes it again."""
        files.save_model(self, filepath)


def _dtype_of(value):
    return value.dtype if isinstance(value.dtype, str) else value.dtype.name
