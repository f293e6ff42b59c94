"""``tf.distribute.experimental``: strategies and options under their older names."""

from leat.distribute import coordinator, partitioners, rpc
from leat.distribute.absent import PreemptionWatcher
from leat.distribute.communication import CommunicationImplementation, CommunicationOptions
from leat.distribute.parameter_server import ParameterServerStrategy
from leat.distribute.preemption import PreemptionCheckpointHandler, TerminationConfig
from leat.distribute.strategy import (CentralStorageStrategy, MultiWorkerMirroredStrategy, TPUStrategy,
                                      ValueContext)

CollectiveCommunication = CommunicationImplementation
CollectiveHints = CommunicationOptions

__all__ = ["CentralStorageStrategy", "CollectiveCommunication", "CollectiveHints", "CommunicationImplementation",
           "CommunicationOptions", "MultiWorkerMirroredStrategy", "ParameterServerStrategy",
           "PreemptionCheckpointHandler", "PreemptionWatcher", "TPUStrategy", "TerminationConfig", "ValueContext",
           "coordinator", "partitioners", "rpc"]
