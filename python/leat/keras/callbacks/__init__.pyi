# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.keras.callbacks.backup import BackupAndRestore as BackupAndRestore
from leat.keras.callbacks.base import CSVLogger as CSVLogger
from leat.keras.callbacks.base import Callback as Callback
from leat.keras.callbacks.base import CallbackList as CallbackList
from leat.keras.callbacks.base import EarlyStopping as EarlyStopping
from leat.keras.callbacks.base import History as History
from leat.keras.callbacks.base import LambdaCallback as LambdaCallback
from leat.keras.callbacks.base import LearningRateScheduler as LearningRateScheduler
from leat.keras.callbacks.base import ModelCheckpoint as ModelCheckpoint
from leat.keras.callbacks.base import MonitorCallback as MonitorCallback
from leat.keras.callbacks.base import ProgbarLogger as ProgbarLogger
from leat.keras.callbacks.base import ReduceLROnPlateau as ReduceLROnPlateau
from leat.keras.callbacks.remote import RemoteMonitor as RemoteMonitor
from leat.keras.callbacks.swap import SwapEMAWeights as SwapEMAWeights
from leat.keras.callbacks.tensorboard import TensorBoard as TensorBoard
from leat.keras.callbacks.base import TerminateOnNaN as TerminateOnNaN
from leat.keras.callbacks import backup as backup
from leat.keras.callbacks import base as base
from leat.keras.callbacks import remote as remote
from leat.keras.callbacks import swap as swap
from leat.keras.callbacks import tensorboard as tensorboard
