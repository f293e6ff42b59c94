"""``keras.applications``: models that are known by name."""

from leat.keras.applications import (convnext, densenet, efficientnet, efficientnet_v2, imagenet_utils,
                                     inception_resnet_v2, inception_v3, mobilenet, mobilenet_v2, mobilenet_v3, nasnet,
                                     resnet, resnet50, resnet_v2, vgg16, vgg19, xception)  # noqa: F401
from leat.keras.applications.convnext import (ConvNeXtBase, ConvNeXtLarge, ConvNeXtSmall, ConvNeXtTiny,  # noqa: F401
                                              ConvNeXtXLarge)
from leat.keras.applications.densenet import DenseNet121, DenseNet169, DenseNet201  # noqa: F401
from leat.keras.applications.efficientnet import (EfficientNetB0, EfficientNetB1, EfficientNetB2, EfficientNetB3,
                                                  EfficientNetB4, EfficientNetB5, EfficientNetB6, EfficientNetB7)
from leat.keras.applications.efficientnet_v2 import (EfficientNetV2B0, EfficientNetV2B1, EfficientNetV2B2,
                                                     EfficientNetV2B3, EfficientNetV2L, EfficientNetV2M,
                                                     EfficientNetV2S)
from leat.keras.applications.inception_resnet_v2 import InceptionResNetV2  # noqa: F401
from leat.keras.applications.inception_v3 import InceptionV3  # noqa: F401
from leat.keras.applications.mobilenet import MobileNet  # noqa: F401
from leat.keras.applications.mobilenet_v2 import MobileNetV2  # noqa: F401
from leat.keras.applications.mobilenet_v3 import MobileNetV3Large, MobileNetV3Small  # noqa: F401
from leat.keras.applications.nasnet import NASNetLarge, NASNetMobile  # noqa: F401
from leat.keras.applications.resnet import ResNet50, ResNet101, ResNet152  # noqa: F401
from leat.keras.applications.resnet_v2 import ResNet50V2, ResNet101V2, ResNet152V2  # noqa: F401
from leat.keras.applications.vgg16 import VGG16  # noqa: F401
from leat.keras.applications.vgg19 import VGG19  # noqa: F401
from leat.keras.applications.xception import Xception  # noqa: F401
