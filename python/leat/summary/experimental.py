"""``tf.summary.experimental``: the default step, scopes and raw messages."""

from leat.summary.kinds import summary_scope, write_raw_pb
from leat.summary.state import get_step, set_step

__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]
