"""``tf.saved_model``: objects with their variables and functions in TensorFlow's format, written and read."""

from leat._saved_model.load import contains_saved_model, load
from leat._saved_model.options import Asset, LoadOptions, SaveOptions
from leat._saved_model.save import save

ASSETS_DIRECTORY, ASSETS_KEY = "assets", "saved_model_assets"
VARIABLES_DIRECTORY, VARIABLES_FILENAME = "variables", "variables"
SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT = "saved_model.pb", "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
DEBUG_DIRECTORY, DEBUG_INFO_FILENAME_PB = "debug", "saved_model_debug_info.pb"
SERVING, TRAINING, GPU, TPU = "serve", "train", "gpu", "tpu"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"

CLASSIFY_INPUTS, CLASSIFY_OUTPUT_CLASSES, CLASSIFY_OUTPUT_SCORES = "inputs", "classes", "scores"
PREDICT_INPUTS = REGRESS_INPUTS = "inputs"
PREDICT_OUTPUTS = REGRESS_OUTPUTS = "outputs"

__all__ = ["Asset", "LoadOptions", "SaveOptions", "contains_saved_model", "load", "save"]
