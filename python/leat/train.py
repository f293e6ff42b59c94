"""``tf.train``: examples (leat._files.example), clusters, and checkpoints of iterators, variables and what is made of
them, in TensorFlow's format (leat._checkpoint)."""

from leat._api.averages_of_variables import ExponentialMovingAverage
from leat._api.coordinator import Coordinator
from leat._checkpoint.checkpoint import Checkpoint
from leat._checkpoint.manager import CheckpointManager
from leat._checkpoint.objects import Counter
from leat._checkpoint.options import CheckpointOptions
from leat._checkpoint.reading import CheckpointReader, list_variables, load_checkpoint, load_variable
from leat._checkpoint.restoring import LoadStatus
from leat._checkpoint.state import (CheckpointState, checkpoints_iterator, get_checkpoint_state, latest_checkpoint,
                                    update_checkpoint_state)
from leat._core.cluster import ClusterDef, ClusterSpec, JobDef
from leat._files.example import (BytesList, DecodeError, Example, Feature, FeatureList, FeatureLists, Features,
                                 FloatList, Int64List, SequenceExample)

__all__ = ["BytesList", "Checkpoint", "CheckpointManager", "CheckpointOptions", "CheckpointReader", "CheckpointState",
           "ClusterDef", "ClusterSpec", "Coordinator", "Counter", "DecodeError", "Example", "ExponentialMovingAverage",
           "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List", "JobDef", "LoadStatus",
           "SequenceExample", "checkpoints_iterator", "get_checkpoint_state", "latest_checkpoint", "list_variables",
           "load_checkpoint", "load_variable", "update_checkpoint_state"]
