"""``keras.preprocessing``: what Keras keeps for preparing pictures, sequences and texts; layers do it in models."""

from leat.keras._training.folders import image_dataset_from_directory, text_dataset_from_directory  # noqa: F401
from leat.keras._training.sequences import timeseries_dataset_from_array  # noqa: F401
from leat.keras.preprocessing import image, sequence, text  # noqa: F401
