# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.distribute.cross_device_ops import CrossDeviceOps as CrossDeviceOps
from leat.distribute.dataset import DistributedDataset as DistributedDataset
from leat.distribute.dataset import DistributedIterator as DistributedIterator
from leat.distribute.values import DistributedValues as DistributedValues
from leat.distribute.cross_device_ops import HierarchicalCopyAllReduce as HierarchicalCopyAllReduce
from leat.distribute.dataset import InputContext as InputContext
from leat.distribute.dataset import InputOptions as InputOptions
from leat.distribute.dataset import InputReplicationMode as InputReplicationMode
from leat.distribute.strategy import MirroredStrategy as MirroredStrategy
from leat.distribute.strategy import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from leat.distribute.cross_device_ops import NcclAllReduce as NcclAllReduce
from leat.distribute.strategy import OneDeviceStrategy as OneDeviceStrategy
class ParameterServerStrategy(Strategy):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
from leat.distribute.context import ReduceOp as ReduceOp
from leat.distribute.cross_device_ops import ReductionToOneDevice as ReductionToOneDevice
from leat.distribute.context import ReplicaContext as ReplicaContext
from leat.distribute.communication import RunOptions as RunOptions
class Server:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
from leat.distribute.strategy import Strategy as Strategy
from leat.distribute.strategy import StrategyExtended as StrategyExtended
class TPUStrategy(Strategy):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
from leat.distribute import absent as absent
from leat.distribute import cluster_resolver as cluster_resolver
from leat.distribute import communication as communication
from leat.distribute import context as context
from leat.distribute import coordinator as coordinator
from leat.distribute import cross_device_ops as cross_device_ops
from leat.distribute import dataset as dataset
from leat.distribute import experimental as experimental
from leat.distribute.strategy import experimental_set_strategy as experimental_set_strategy
from leat.distribute.context import get_replica_context as get_replica_context
from leat.distribute.context import get_strategy as get_strategy
from leat.averages import global_rows as global_rows
from leat.distribute.context import has_strategy as has_strategy
from leat.distribute.context import in_cross_replica_context as in_cross_replica_context
from leat.distribute import partitioners as partitioners
from leat.distribute import preemption as preemption
from leat.distribute import rpc as rpc
from leat.distribute import step as step
from leat.distribute import strategy as strategy
from leat.distribute import values as values
