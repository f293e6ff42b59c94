"""``keras.applications``: models that are known by name."""

from leat.keras.applications import resnet, resnet50  # noqa: F401
from leat.keras.applications.resnet import ResNet50, ResNet101, ResNet152  # noqa: F401
