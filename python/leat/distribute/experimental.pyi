# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.distribute.strategy import CentralStorageStrategy as CentralStorageStrategy
from leat.distribute.communication import CommunicationImplementation as CollectiveCommunication
from leat.distribute.communication import CommunicationOptions as CollectiveHints
from leat.distribute.communication import CommunicationImplementation as CommunicationImplementation
from leat.distribute.communication import CommunicationOptions as CommunicationOptions
from leat.distribute.strategy import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from leat.distribute import ParameterServerStrategy as ParameterServerStrategy
from leat.distribute.preemption import PreemptionCheckpointHandler as PreemptionCheckpointHandler
from leat.distribute.absent import PreemptionWatcher as PreemptionWatcher
from leat.distribute import TPUStrategy as TPUStrategy
from leat.distribute.preemption import TerminationConfig as TerminationConfig
from leat.distribute.strategy import ValueContext as ValueContext
from leat.distribute import coordinator as coordinator
from leat.distribute import partitioners as partitioners
from leat.distribute import rpc as rpc
