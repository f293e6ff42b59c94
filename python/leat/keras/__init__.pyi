# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.keras.layer import DTypePolicy as DTypePolicy
from leat.keras.initializers import Initializer as Initializer
from leat.keras.layers import Input as Input
from leat.keras.input_spec import InputSpec as InputSpec
from leat.keras.layer import KerasTensor as KerasTensor
from leat.keras.layer import Layer as Layer
from leat.keras.losses import Loss as Loss
from leat.keras.metrics import Metric as Metric
from leat.keras.model import Model as Model
from leat.keras.optimizers import Optimizer as Optimizer
from leat.keras.regularizers import Regularizer as Regularizer
from leat.keras.random import SeedGenerator as SeedGenerator
from leat.keras.model import Sequential as Sequential
from leat.keras.variables import StatelessScope as StatelessScope
from leat.keras.variables import Variable as Variable
from leat.keras import activations as activations
from leat.keras import applications as applications
from leat.keras import backend as backend
from leat.keras import borders as borders
from leat.keras import callbacks as callbacks
from leat.keras import cloning as cloning
from leat.keras import compiled as compiled
from leat.keras import config as config
from leat.keras import constraints as constraints
from leat.keras import feeding as feeding
from leat.keras import files as files
from leat.keras import folders as folders
from leat.keras import functional as functional
from leat.keras import initializers as initializers
from leat.keras import input_spec as input_spec
from leat.keras import layer as layer
from leat.keras import layer_lookups as layer_lookups
from leat.keras import layer_text as layer_text
from leat.keras import layer_wrappers as layer_wrappers
from leat.keras import layers as layers
from leat.keras import losses as losses
from leat.keras import masking as masking
from leat.keras import merging as merging
from leat.keras import metrics as metrics
from leat.keras import model as model
from leat.keras import models as models
from leat.keras.variables import name_scope as name_scope
from leat.keras import ops as ops
from leat.keras import optimizers as optimizers
from leat.keras import pictures as pictures
from leat.keras import plotting as plotting
from leat.keras import quantiles as quantiles
from leat.keras import random as random
from leat.keras import regularizers as regularizers
from leat.keras import safetensors as safetensors
from leat.keras import saving as saving
from leat.keras import sequences as sequences
from leat.keras import signature as signature
from leat.keras import state as state
from leat.keras import table_layer as table_layer
from leat.keras import trainer as trainer
from leat.keras import tree as tree
from leat.keras import utils as utils
from leat.keras import variables as variables
