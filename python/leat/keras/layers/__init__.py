"""``keras.layers``: the layers of the library's table, and those that are written in Python."""

from leat.keras import activations
from leat.keras._base import registry, tables
from leat.keras._base.input_spec import InputSpec  # noqa: F401
from leat.keras._base.layer import Layer  # noqa: F401
from leat.keras.layers.attention import (AdditiveAttention, Attention, GroupedQueryAttention as GroupQueryAttention,
                                         MultiHeadAttention)
from leat.keras.layers.borders import BorderLayer
from leat.keras.layers.cells import GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from leat.keras.layers.bounding_boxes import MaxNumBoundingBoxes
from leat.keras.layers.categories import CategoryEncoding, Discretization
from leat.keras.layers.conv_lstm import ConvLSTM1D, ConvLSTM2D, ConvLSTM3D
from leat.keras.layers.core import (Activation, ActivityRegularization, Dropout, Embedding, Identity, Input, InputLayer,
                                    Lambda, Masking, ReversibleEmbedding, Softmax)
from leat.keras.layers.crossing import HashedCrossing
from leat.keras.layers.dense import EinsumDense
from leat.keras.layers.lookups import Hashing, IntegerLookup, StringLookup
from leat.keras.layers.kept import RandomHeight, RandomWidth, ThresholdedReLU
from leat.keras.layers.low_rank import Convolution, LowRank
from leat.keras.layers.merging import (Add, Average, Concatenate, Dot, Maximum, Minimum, Multiply, Subtract, add,
                                       average, concatenate, dot, maximum, minimum, multiply, subtract)
from leat.keras.layers.normalization import BatchNormalization, LayerNormalization, Normalization, Rescaling
from leat.keras.layers.pictures import PictureLayer
from leat.keras.layers.pooling import GlobalAveragePooling1D
from leat.keras.layers.recurrent import GRU, LSTM, RNN, SimpleRNN
from leat.keras.layers.sequences import Bidirectional, TimeDistributed
from leat.keras.layers.spectrograms import MelSpectrogram, STFTSpectrogram
from leat.keras.layers.table import TableLayer
from leat.keras.layers.text import TextVectorization
from leat.keras.layers.wrappers import Pipeline, SpectralNormalization, Wrapper


def _base_of(entry):
    """The class whose subclass a line of the table is that nothing above is written for."""
    if entry["name"].startswith(("Cropping", "ZeroPadding")):
        return BorderLayer
    if entry["name"] == "Dense":
        return LowRank
    if entry["name"] in ("Conv1D", "Conv2D", "Conv3D"):
        return Convolution
    return PictureLayer if entry["prepares"] and entry["min_rank"] == 3 else TableLayer


def _names_of(name):
    """A layer's name, and Keras' others of it: MaxPool2D, Convolution2D and their like."""
    for begin, other in (("MaxPooling", "MaxPool"), ("AveragePooling", "AvgPool"), ("Conv", "Convolution"),
                         ("GlobalAveragePooling", "GlobalAvgPool"), ("GlobalMaxPooling", "GlobalMaxPool"),
                         ("SeparableConv", "SeparableConvolution")):
        end = name.removeprefix(begin)
        if name.startswith(begin) and end in ("1D", "2D", "3D", "1DTranspose", "2DTranspose", "3DTranspose"):
            return name, other + end
    return (name,)


for _entry in tables.entries("layer"):
    _class = globals().get(_entry["name"]) or tables.make_class("layer", _entry, _base_of(_entry), __name__,
                                                                _base_of(_entry)._setup, "kwargs")
    globals().update(dict.fromkeys(_names_of(_entry["name"]), _class))
activations.relu_layer.at("leat.keras.layers", "ReLU")


def serialize(layer):
    """A layer's configuration (``keras.layers.serialize``)."""
    return registry.serialize_keras_object(layer)


def deserialize(config, custom_objects=None):
    """The layer of a configuration (``keras.layers.deserialize``). TypeError for an unknown class."""
    return registry.deserialize_keras_object(config, custom_objects)


_LATER = {name: what for what, names in (
    ("layers of other libraries are", "JaxLayer FlaxLayer TorchModuleWrapper"),
) for name in names.split()}


def __getattr__(name):
    if name == "TFSMLayer":  # with what reads SavedModels, when it is first asked for
        from leat.keras.layers.saved_models import TFSMLayer
        return TFSMLayer
    if name in _LATER:
        raise AttributeError(f"keras.layers.{name} is UNIMPLEMENTED: {_LATER[name]} not part of leat yet; write a "
                             "layer of your own (keras.layers.Layer) in its place")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_PRIVATE = ("BorderLayer", "Convolution", "LowRank", "PictureLayer")
__all__ = [name for name in globals() if name[0].isupper() and name not in _PRIVATE] + [
    "add", "average", "concatenate", "deserialize", "dot", "maximum", "minimum", "multiply", "serialize", "subtract"]
