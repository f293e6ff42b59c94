"""``tf.distribute``: one program on one device or on many, changed only in the strategy that it names.

    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        weights = tf.Variable(tf.zeros([10]))
    for batch in strategy.experimental_distribute_dataset(dataset):
        losses = strategy.run(train_step, args=(batch,))
        loss = strategy.reduce("SUM", losses, axis=None)
"""

from leat._api.averages import global_rows
from leat.distribute import cluster_resolver, coordinator, experimental
from leat.distribute.communication import RunOptions
from leat.distribute.context import ReplicaContext
from leat.distribute.cross_device_ops import (CrossDeviceOps, HierarchicalCopyAllReduce, NcclAllReduce,
                                              ReductionToOneDevice)
from leat.distribute.dataset import (DistributedDataset, DistributedIterator, InputContext, InputOptions,
                                     InputReplicationMode)
from leat.distribute.parameter_server import ParameterServerStrategy
from leat.distribute.scope import ReduceOp, get_replica_context, get_strategy, has_strategy, in_cross_replica_context
from leat.distribute.server import Server
from leat.distribute.strategy import (MirroredStrategy, MultiWorkerMirroredStrategy, OneDeviceStrategy,
                                      Strategy, StrategyExtended, TPUStrategy, experimental_set_strategy)
from leat.distribute.values import DistributedValues

__all__ = ["CrossDeviceOps", "DistributedDataset", "DistributedIterator", "DistributedValues",
           "HierarchicalCopyAllReduce", "InputContext", "InputOptions", "InputReplicationMode", "MirroredStrategy",
           "MultiWorkerMirroredStrategy", "NcclAllReduce", "OneDeviceStrategy", "ParameterServerStrategy", "ReduceOp",
           "ReductionToOneDevice", "ReplicaContext", "RunOptions", "Server", "Strategy", "StrategyExtended",
           "TPUStrategy", "cluster_resolver", "coordinator", "experimental", "experimental_set_strategy",
           "get_replica_context", "get_strategy", "global_rows", "has_strategy", "in_cross_replica_context"]
