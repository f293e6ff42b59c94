"""``tf.summary``: event files that TensorBoard reads.

    writer = tf.summary.create_file_writer("logs")
    with writer.as_default():
        for step in range(100):
            tf.summary.scalar("loss", 1 / (step + 1), step=step)
"""

from leat.summary import experimental
from leat.summary.kinds import (audio, graph, histogram, image, scalar, text, trace_export, trace_off, trace_on,
                                write)
from leat.summary.state import (SummaryWriter, create_file_writer, create_noop_writer, flush, record_if,
                                should_record_summaries)

__all__ = ["SummaryWriter", "audio", "create_file_writer", "create_noop_writer", "experimental", "flush", "graph",
           "histogram", "image", "record_if", "scalar", "should_record_summaries", "text", "trace_export", "trace_off",
           "trace_on", "write"]
