"""``tf.audio``: sounds. Operations of the library's table join these functions."""

import collections

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph import creation, ops

__all__ = ["decode_audio", "decode_wav"]

_DecodeWav = collections.namedtuple("DecodeWav", ["audio", "sample_rate"])


def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """The float32 samples [samples, channels] of a WAV file of 16 bits and its int32 sample rate
    (``tf.audio.decode_wav``): a tuple (audio, sample_rate).

    contents: a scalar string. Channels and samples of -1 are those of the file. InvalidArgumentError for other files.
    """
    return _DecodeWav(*ops.call("decode_wav", {"desired_channels": desired_channels,
                                               "desired_samples": desired_samples},
                                [convert_to_tensor(contents, dtypes.string)]))


def decode_audio(contents, desired_channels=-1, desired_samples=-1, name=None):
    """The float32 samples [samples, channels] of a FLAC, Ogg, MP3, AIFF or WAV file of any width, and its int32 sample
    rate: a tuple (audio, sample_rate). Takes libsndfile, where it is installed. Not in TensorFlow, whose addition is
    tfio.audio.

    contents: a scalar string. Channels and samples of -1 are those of the file; of fewer channels the first are taken,
    of more the last repeats, and samples are cut or followed by silence, as by decode_wav. In a map it is a function of
    Python. InvalidArgumentError for other data; UnimplementedError without libsndfile.
    """
    from leat._files import sounds
    if desired_channels < -1 or desired_samples < -1:
        raise ValueError(f"decode_audio: desired_channels={desired_channels} and desired_samples={desired_samples}; "
                         "expected -1 or more")

    def decoded(text):
        samples, rate = sounds.decode(text.numpy())
        return sounds.fitted(samples, desired_channels, desired_samples), rate
    samples, rate = creation.py_function(decoded, [convert_to_tensor(contents, dtypes.string)],
                                         [dtypes.float32, dtypes.int32])
    shape = [None if size < 0 else size for size in (desired_samples, desired_channels)]
    return _DecodeWav(ops.FUNCTIONS["ensure_shape"](samples, shape), ops.FUNCTIONS["ensure_shape"](rate, []))


ops.join(__name__)
