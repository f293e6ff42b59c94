"""Layers that turn sounds into pictures of their frequencies."""

import math
import warnings

import numpy as np

from leat.keras import backend, initializers, ops
from leat.keras._base.input_spec import InputSpec
from leat.keras._base.layer import Layer


def _to_mel(hertz):
    return np.float32(1127.0) * np.log(np.float32(1.0) + hertz / np.float32(700.0))


class MelSpectrogram(Layer):
    """How strong the mel bands of a sound [batch, samples] are, [batch, bands, steps]
    (``keras.layers.MelSpectrogram``).

    Each `sequence_stride` samples a window of `sequence_length` of them is transformed by `fft_length`; magnitudes to
    the power `mag_exp` are summed by triangles between `min_freq` and `max_freq`. `power_to_db`: in decibels, over
    `ref_power`, at most `top_db` below the loudest.
    """

    _names = ("fft_length", "sequence_stride", "sequence_length", "window", "sampling_rate", "num_mel_bins", "min_freq",
              "max_freq", "power_to_db", "top_db", "mag_exp", "min_power", "ref_power")

    def __init__(self, fft_length=2048, sequence_stride=512, sequence_length=None, window="hann", sampling_rate=16000,
                 num_mel_bins=128, min_freq=20.0, max_freq=None, power_to_db=True, top_db=80.0, mag_exp=2.0,
                 min_power=1e-10, ref_power=1.0, **kwargs):
        given = {name: value for name, value in locals().items() if name in self._names}
        if fft_length < (sequence_length or fft_length):
            raise ValueError("`fft_length` must be greater than or equal to `sequence_length`. Received: "
                             f"`sequence_length`={sequence_length}, `fft_length`={fft_length}.")
        super().__init__(**kwargs)
        for name, value in given.items():
            setattr(self, name, value)
        self.sequence_length = sequence_length or fft_length
        self.max_freq = max_freq or int(sampling_rate / 2)

    def call(self, inputs):
        """The strengths."""
        wide = self.compute_dtype if self.compute_dtype in ("float32", "float64") else "float32"
        real, imaginary = ops.stft(ops.cast(inputs, wide), self.sequence_length, self.sequence_stride, self.fft_length,
                                   window=self.window, center=True)
        found = ops.power(ops.sqrt(ops.square(real) + ops.square(imaginary)), self.mag_exp)
        triangles = self.linear_to_mel_weight_matrix(self.num_mel_bins, self.fft_length // 2 + 1, self.sampling_rate,
                                                     self.min_freq, self.max_freq)
        found = ops.tensordot(found, triangles.astype(wide), axes=1)
        if self.power_to_db:
            found = 10.0 * ops.log10(ops.maximum(found, self.min_power))
            found = found - 10.0 * math.log10(max(abs(self.ref_power), self.min_power))
            found = ops.maximum(found, ops.max(found) - self.top_db)
        return ops.cast(ops.swapaxes(found, -1, -2), self.compute_dtype)

    def linear_to_mel_weight_matrix(self, num_mel_bins=20, num_spectrogram_bins=129, sampling_rate=8000,
                                    lower_edge_hertz=125.0, upper_edge_hertz=3800.0, dtype="float32"):
        """What of each frequency belongs to each band, an array [frequencies, bands]: triangles on the mel scale."""
        linear = np.linspace(0, sampling_rate / 2, num_spectrogram_bins, dtype="float32")[1:]
        mel = _to_mel(linear)[:, None]
        edges = np.linspace(_to_mel(np.float32(lower_edge_hertz)), _to_mel(np.float32(upper_edge_hertz)),
                            num_mel_bins + 2, dtype="float32")[None]
        low, center, high = edges[:, :-2], edges[:, 1:-1], edges[:, 2:]
        found = np.maximum(0, np.minimum((mel - low) / (center - low), (high - mel) / (high - center)))
        return np.pad(found, [[1, 0], [0, 0]]).astype(dtype)

    def compute_output_shape(self, input_shape):
        """The shape of the strengths for sounds of this shape."""
        steps = None if input_shape[-1] is None else 1 + input_shape[-1] // self.sequence_stride
        return (*input_shape[:-1], self.num_mel_bins, steps)

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), **{name: getattr(self, name) for name in self._names}}


class STFTSpectrogram(Layer):
    """The frequencies of sounds [batch, samples, channels], step by step (``keras.layers.STFTSpectrogram``).

    Its two kernels are a Fourier transform at first, and can be trained. `mode`: "log", "magnitude", "psd", "real",
    "imag", "angle" or "stft" (real and imaginary parts behind each other); `expand_dims`: channels in a dimension of
    their own.
    """

    _MODES = ("log", "magnitude", "psd", "real", "imag", "angle", "stft")
    _names = ("mode", "frame_length", "frame_step", "fft_length", "window", "periodic", "scaling", "padding",
              "data_format", "expand_dims")

    def __init__(self, mode="log", frame_length=256, frame_step=None, fft_length=None, window="hann", periodic=False,
                 scaling="density", padding="valid", expand_dims=False, data_format=None, **kwargs):
        given = {name: value for name, value in locals().items() if name in self._names}
        if frame_step is not None and not 1 <= frame_step <= frame_length:
            raise ValueError("`frame_step` should be a positive integer not greater than `frame_length`. Received "
                             f"frame_step={frame_step}, frame_length={frame_length}")
        if fft_length is not None and fft_length < frame_length:
            raise ValueError("`fft_length` should be not less than `frame_length`. Received "
                             f"fft_length={fft_length}, frame_length={frame_length}")
        if fft_length is not None and fft_length & -fft_length != fft_length:
            warnings.warn(f"`fft_length` is recommended to be a power of two. Received fft_length={fft_length}",
                          stacklevel=2)
        if mode not in self._MODES:
            raise ValueError(f"Output mode is invalid, it must be one of {', '.join(self._MODES)}. Received: "
                             f"mode={mode}")
        if padding not in ("valid", "same"):
            raise ValueError(f"Padding is invalid, it should be 'valid', 'same'. Received: padding={padding}")
        initializers.STFT("real", window, scaling, periodic)  # checks them
        super().__init__(**kwargs)
        for name, value in given.items():
            setattr(self, name, value)
        self.data_format, self.input_spec = data_format or backend.image_data_format(), InputSpec(ndim=3)
        self._step = frame_step or frame_length // 2
        self._length = fft_length or 2 ** math.ceil(math.log2(frame_length))

    def build(self, input_shape=None):
        """Makes the kernels."""
        for side in ("real", "imag"):
            if self.mode != ("imag" if side == "real" else "real"):
                setattr(self, f"{side}_kernel", self.add_weight(
                    name=f"{side}_kernel", shape=(self.frame_length, 1, self._length // 2 + 1),
                    initializer=initializers.STFT(side, self.window, self.scaling, self.periodic)))

    def _frames(self, inputs, kernel):
        """[batch, channels, frequencies, steps] of a kernel, channel by channel."""
        _, channels, samples = ops.shape(inputs)
        found = ops.conv(ops.reshape(inputs, (-1, samples, 1)), kernel, padding=self.padding, strides=self._step,
                         data_format="channels_last")
        return ops.swapaxes(ops.reshape(found, (-1, channels, *ops.shape(found)[1:])), -1, -2)

    def call(self, inputs):
        """The frequencies. TypeError for what is no float."""
        if not inputs.dtype.is_floating:
            raise TypeError("Invalid input type. Expected `float16`, `float32` or `float64`. Received: input "
                            f"type={inputs.dtype}")
        inputs = ops.transpose(inputs, [0, 2, 1]) if self.data_format == "channels_last" else inputs
        real = self._frames(inputs, self.real_kernel) if self.mode != "imag" else None
        imaginary = self._frames(inputs, self.imag_kernel) if self.mode != "real" else None
        return self._placed(self._shown(real, imaginary))

    def _shown(self, real, imaginary):
        if self.mode == "stft":
            return ops.concatenate([real, imaginary], axis=2)
        if self.mode in ("real", "imag"):
            return real if imaginary is None else imaginary
        if self.mode == "angle":
            return ops.arctan2(imaginary, real)
        power = ops.square(real) + ops.square(imaginary)
        if self.mode == "psd":  # of both halves, of which one is computed
            return power + ops.pad(power[:, :, 1:-1], [[0, 0], [0, 0], [1, 1], [0, 0]])
        found = ops.sqrt(ops.maximum(power, backend.epsilon()))
        return found if self.mode == "magnitude" else ops.log(ops.maximum(found, backend.epsilon()))

    def _placed(self, found):
        """The dimensions in the layer's order."""
        last = self.data_format == "channels_last"
        if self.expand_dims:
            return ops.transpose(found, [0, 3, 2, 1] if last else [0, 1, 3, 2])
        _, channels, frequencies, steps = ops.shape(found)
        found = ops.reshape(found, (-1, channels * frequencies, steps))
        return ops.transpose(found, [0, 2, 1]) if last else found

    def compute_output_shape(self, input_shape):
        """The shape of the output for sounds of this shape."""
        last = self.data_format == "channels_last"
        batch, samples, channels = input_shape if last else (input_shape[0], input_shape[2], input_shape[1])
        frequencies = (self._length // 2 + 1) * (2 if self.mode == "stft" else 1)
        reach = self.frame_length - 1 if self.padding == "valid" else 0
        steps = None if samples is None else (samples - reach - 1) // self._step + 1
        if self.expand_dims:
            return (batch, steps, frequencies, channels) if last else (batch, channels, steps, frequencies)
        return (batch, steps, channels * frequencies) if last else (batch, channels * frequencies, steps)

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), **{name: getattr(self, name) for name in self._names}}
