"""``tf.audio``: WAV files. Operations of the library's table join these functions."""

import collections

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph import ops

__all__ = ["decode_wav"]

_DecodeWav = collections.namedtuple("DecodeWav", ["audio", "sample_rate"])


def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """The float32 samples [samples, channels] of a WAV file of 16 bits and its int32 sample rate
    (``tf.audio.decode_wav``): a tuple (audio, sample_rate).

    contents: a scalar string. Channels and samples of -1 are those of the file. InvalidArgumentError for other files.
    """
    return _DecodeWav(*ops.call("decode_wav", {"desired_channels": desired_channels,
                                               "desired_samples": desired_samples},
                                [convert_to_tensor(contents, dtypes.string)]))


ops.join(__name__)
