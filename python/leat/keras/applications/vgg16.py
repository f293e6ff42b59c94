"""``keras.applications.vgg16``."""

from leat.keras.applications._pretrained import pretrained
from leat.keras.applications._vgg import vgg
from leat.keras.applications.imagenet_utils import decode_predictions, of_mode  # noqa: F401

preprocess_input = of_mode("caffe")


@pretrained
def VGG16(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
          classifier_activation="softmax", name="vgg16"):
    """VGG of 16 layers (``keras.applications.VGG16``); arguments as ResNet50's."""
    return vgg((2, 2, 3, 3, 3), name, include_top, weights, input_tensor, input_shape, pooling, classes,
               classifier_activation)
