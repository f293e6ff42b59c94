"""``keras.applications.convnext``: convolutions of each channel between dense layers (arXiv:2201.03545)."""

from leat.keras import layers
from leat.keras._base.layer import Layer
from leat.keras._base.registry import register_keras_serializable
from leat.keras.applications._common import Given, finish, pool, start
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input  # noqa: F401
from leat.keras.initializers import Constant
from leat.keras.models.model import Sequential


@register_keras_serializable(package="leat.applications")
class LayerScale(Layer):
    """Each channel times a weight of its own, which begins at `init_values`."""

    def __init__(self, init_values, projection_dim, **kwargs):
        super().__init__(**kwargs)
        self.init_values = init_values
        self.projection_dim = projection_dim

    def build(self, input_shape=None):  # pylint: disable=unused-argument
        """Makes the weights."""
        # Keras gives it no name.
        self.gamma = self.add_weight(shape=(self.projection_dim,), initializer=Constant(self.init_values),
                                     trainable=True)
        self.built = True

    def call(self, x):
        """What came in, scaled."""
        return x * self.gamma

    def compute_output_shape(self, input_shape):
        """That of what comes in."""
        return input_shape

    def get_config(self):
        """The arguments that make the layer again."""
        return {**super().get_config(), "init_values": self.init_values, "projection_dim": self.projection_dim}


def _norm(name):
    return layers.LayerNormalization(epsilon=1e-6, name=name)


def _block(x, name):
    before, channels = x, x.shape[-1]
    x = layers.Conv2D(channels, 7, padding="same", groups=channels, name=f"{name}_depthwise_conv")(x)
    x = layers.Dense(4 * channels, name=f"{name}_pointwise_conv_1")(_norm(f"{name}_layernorm")(x))
    x = layers.Activation("gelu", name=f"{name}_gelu")(x)
    x = layers.Dense(channels, name=f"{name}_pointwise_conv_2")(x)
    x = LayerScale(1e-6, channels, name=f"{name}_layer_scale")(x)
    return before + layers.Activation("linear", name=f"{name}_identity")(x)


def _head(x, given, name):
    x = _norm(f"{name}_head_layernorm")(layers.GlobalAveragePooling2D(name=f"{name}_head_gap")(x))
    return layers.Dense(given.classes, activation=given.classifier_activation, name=f"{name}_head_dense")(x)


def _convnext(depths, widths, include_preprocessing, name, *given):
    given = Given(*given)
    pictures = x = start(given, 224)
    if include_preprocessing and x.shape[-1] == 3:
        x = layers.Normalization(mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
                                 variance=[(0.229 * 255)**2, (0.224 * 255)**2, (0.225 * 255)**2],
                                 name=f"{name}_prestem_normalization")(x)
    for stage, (depth, width) in enumerate(zip(depths, widths)):
        if stage == 0:
            between = Sequential([layers.Conv2D(width, 4, strides=4, name=f"{name}_stem_conv"),
                                  _norm(f"{name}_stem_layernorm")], name=f"{name}_stem")
        else:
            between = Sequential([_norm(f"{name}_downsampling_layernorm_{stage - 1}"),
                                  layers.Conv2D(width, 2, strides=2, name=f"{name}_downsampling_conv_{stage - 1}")],
                                 name=f"{name}_downsampling_block_{stage - 1}")
        x = between(x)
        for place in range(depth):
            x = _block(x, f"{name}_stage_{stage}_block_{place}")
    x = _head(x, given, name) if given.include_top else _norm(None)(pool(x, given, None, None))
    return finish(pictures, x, given, name)


@pretrained
def ConvNeXtTiny(include_top=True, include_preprocessing=True, weights="imagenet", input_tensor=None,
                 input_shape=None, pooling=None, classes=1000, classifier_activation="softmax",
                 name="convnext_tiny"):
    """ConvNeXt-Tiny (``keras.applications.ConvNeXtTiny``); arguments as ResNet50's."""
    return _convnext((3, 3, 9, 3), (96, 192, 384, 768), include_preprocessing, name, include_top, weights,
                     input_tensor, input_shape, pooling, classes, classifier_activation)


@pretrained
def ConvNeXtSmall(include_top=True, include_preprocessing=True, weights="imagenet", input_tensor=None,
                  input_shape=None, pooling=None, classes=1000, classifier_activation="softmax",
                  name="convnext_small"):
    """ConvNeXt-Small (``keras.applications.ConvNeXtSmall``); arguments as ResNet50's."""
    return _convnext((3, 3, 27, 3), (96, 192, 384, 768), include_preprocessing, name, include_top, weights,
                     input_tensor, input_shape, pooling, classes, classifier_activation)


@pretrained
def ConvNeXtBase(include_top=True, include_preprocessing=True, weights="imagenet", input_tensor=None,
                 input_shape=None, pooling=None, classes=1000, classifier_activation="softmax",
                 name="convnext_base"):
    """ConvNeXt-Base (``keras.applications.ConvNeXtBase``); arguments as ResNet50's."""
    return _convnext((3, 3, 27, 3), (128, 256, 512, 1024), include_preprocessing, name, include_top, weights,
                     input_tensor, input_shape, pooling, classes, classifier_activation)


@pretrained
def ConvNeXtLarge(include_top=True, include_preprocessing=True, weights="imagenet", input_tensor=None,
                  input_shape=None, pooling=None, classes=1000, classifier_activation="softmax",
                  name="convnext_large"):
    """ConvNeXt-Large (``keras.applications.ConvNeXtLarge``); arguments as ResNet50's."""
    return _convnext((3, 3, 27, 3), (192, 384, 768, 1536), include_preprocessing, name, include_top, weights,
                     input_tensor, input_shape, pooling, classes, classifier_activation)


@pretrained
def ConvNeXtXLarge(include_top=True, include_preprocessing=True, weights="imagenet", input_tensor=None,
                   input_shape=None, pooling=None, classes=1000, classifier_activation="softmax",
                   name="convnext_xlarge"):
    """ConvNeXt-XLarge (``keras.applications.ConvNeXtXLarge``); arguments as ResNet50's."""
    return _convnext((3, 3, 27, 3), (256, 512, 1024, 2048), include_preprocessing, name, include_top, weights,
                     input_tensor, input_shape, pooling, classes, classifier_activation)
