"""``tf.distribute.coordinator``: UnimplementedError, since leat has no parameter servers."""

from leat.distribute.absent import absent

ClusterCoordinator = absent("ClusterCoordinator", "parameter servers to coordinate")
PerWorkerValues = absent("PerWorkerValues", "parameter servers to coordinate")
RemoteValue = absent("RemoteValue", "parameter servers to coordinate")

__all__ = ["ClusterCoordinator", "PerWorkerValues", "RemoteValue"]
