"""``keras.callbacks``: what happens around epochs and batches of ``fit``, ``evaluate`` and ``predict``.

Where several processes train together (MultiWorkerMirroredStrategy), all of them call their callbacks and the chief
alone writes files.
"""

from leat.keras.callbacks.backup import BackupAndRestore
from leat.keras.callbacks.base import (Callback, CallbackList, CSVLogger, History, LambdaCallback,
                                       LearningRateScheduler, ProgbarLogger, TerminateOnNaN)
from leat.keras.callbacks.monitors import EarlyStopping, ModelCheckpoint, MonitorCallback, ReduceLROnPlateau
from leat.keras.callbacks.remote import RemoteMonitor
from leat.keras.callbacks.swap import SwapEMAWeights
from leat.keras.callbacks.tensorboard import TensorBoard

__all__ = ["BackupAndRestore", "CSVLogger", "Callback", "CallbackList", "EarlyStopping", "History", "LambdaCallback",
           "LearningRateScheduler", "ModelCheckpoint", "MonitorCallback", "ProgbarLogger", "ReduceLROnPlateau",
           "RemoteMonitor", "SwapEMAWeights", "TensorBoard", "TerminateOnNaN"]
