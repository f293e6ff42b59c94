"""``keras.applications.inception_resnet_v2``: blocks of branches beside shortcuts (arXiv:1602.07261)."""

from leat.keras import layers
from leat.keras._base.layer import Layer
from leat.keras._base.registry import register_keras_serializable
from leat.keras.applications._common import Given, finish, head, start
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications._inception import averaged, branch, convolve, join, shrunk, stem
from leat.keras.applications.imagenet_utils import decode_predictions, of_mode  # noqa: F401

preprocess_input = of_mode("tf")


@register_keras_serializable(package="leat.applications")
class CustomScaleLayer(Layer):
    """The first input, and `scale` times the second."""

    def __init__(self, scale, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale

    def call(self, inputs):
        """The sum."""
        return inputs[0] + inputs[1] * self.scale

    def compute_output_shape(self, input_shape):
        """That of the first input."""
        return input_shape[0]

    def get_config(self):
        """The arguments that make the layer again."""
        return {**super().get_config(), "scale": self.scale}


# The branches of each kind of block, and how much of them is added.
_BLOCKS = {"block35": (0.17, ((32, 1),), ((32, 1), (32, 3)), ((32, 1), (48, 3), (64, 3))),
           "block17": (0.1, ((192, 1),), ((128, 1), (160, (1, 7)), (192, (7, 1)))),
           "block8": (0.2, ((192, 1),), ((192, 1), (224, (1, 3)), (256, (3, 1))))}


def _block(x, kind, number, last=False):
    scale, *branches = _BLOCKS[kind]
    name = f"{kind}_{number}"
    more = join([branch(x, *convolutions) for convolutions in branches], f"{name}_mixed")
    more = layers.Conv2D(x.shape[-1], 1, padding="same", name=f"{name}_conv")(more)
    x = CustomScaleLayer(1.0 if last else scale)([x, more])
    return x if last else layers.Activation("relu", name=f"{name}_ac")(x)


@pretrained
def InceptionResNetV2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                      classes=1000, classifier_activation="softmax", name="inception_resnet_v2"):
    """Inception-ResNet v2 (``keras.applications.InceptionResNetV2``); arguments as InceptionV3's."""
    given = Given(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    pictures = start(given, 299, 75)
    x = stem(pictures)
    x = join([branch(x, (96, 1)), branch(x, (48, 1), (64, 5)), branch(x, (64, 1), (96, 3), (96, 3)), averaged(x, 64)],
             "mixed_5b")
    for number in range(1, 11):
        x = _block(x, "block35", number)
    x = join([branch(x, (384, 3, 2)), branch(x, (256, 1), (256, 3), (384, 3, 2)), shrunk(x)], "mixed_6a")
    for number in range(1, 21):
        x = _block(x, "block17", number)
    x = join([branch(x, (256, 1), (384, 3, 2)), branch(x, (256, 1), (288, 3, 2)),
              branch(x, (256, 1), (288, 3), (320, 3, 2)), shrunk(x)], "mixed_7a")
    for number in range(1, 10):
        x = _block(x, "block8", number)
    x = convolve(_block(x, "block8", 10, last=True), 1536, 1, name="conv_7b")
    return finish(pictures, head(x, given, average=None, most=None), given, name)
