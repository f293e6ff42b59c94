"""As much of torch as leat.torch uses, for tests where torch is missing, and datasets for both."""

import contextlib
import sys
import types

import numpy as np
import pytest

import leat as tf


class RandomSampler:
    """Draws from a generator, or from the stand-in's own numbers."""

    def __init__(self, data, generator=None):
        self.data, self.generator = data, generator

    def __iter__(self):
        drawn = FakeTorch.own_generator if self.generator is None else self.generator
        yield from drawn.draw(len(self.data))


class Generator:
    """A state that each drawing moves on."""

    def __init__(self, seed=0):
        self.state = seed

    def manual_seed(self, seed):
        self.state = seed
        return self

    def get_state(self):
        return self.state

    def set_state(self, state):
        self.state = state

    def draw(self, count):
        self.state += 1
        return np.random.default_rng(self.state).permutation(count).tolist()


class FakeTorch(types.ModuleType):
    """As much of torch as leat.torch uses; its tensors are numpy arrays that can be pinned."""

    own_generator = Generator()

    class Tensor(np.ndarray):
        pinned = False

        def detach(self):
            return self

        cpu = detach

        def numpy(self):
            return np.asarray(self)

        def pin_memory(self):
            made = self.view()
            made.pinned = True
            return made

        def clone(self):
            return self.copy()

        def random_(self, generator=None):
            return 7

    def __init__(self):
        super().__init__("torch")
        self.int64, self.worker = np.int64, None
        self.Generator, self.own_generator.state = Generator, 0
        self.get_rng_state, self.set_rng_state = self.own_generator.get_state, self.own_generator.set_state
        self.random = types.SimpleNamespace(fork_rng=self.fork_rng)
        self.cuda = types.SimpleNamespace(is_available=lambda: False)
        self.utils = types.ModuleType("torch.utils")
        self.utils.data = types.ModuleType("torch.utils.data")
        self.utils.data.IterableDataset = type("IterableDataset", (), {})
        self.utils.data.get_worker_info = lambda: self.worker
        self.utils.data.RandomSampler = RandomSampler
        self.utils.data.default_collate, self.utils.data.default_convert = self.collate, self.convert
        self.utils.data._utils = types.SimpleNamespace(pin_memory=types.SimpleNamespace(pin_memory=self.pin))

    @contextlib.contextmanager
    def fork_rng(self, devices):
        state = self.get_rng_state()
        yield
        self.set_rng_state(state)

    def collate(self, samples):
        first = samples[0]
        if isinstance(first, dict):
            return {key: self.collate([sample[key] for sample in samples]) for key in first}
        if isinstance(first, (tuple, list)):
            return [self.collate(list(part)) for part in zip(*samples)]
        return samples if isinstance(first, str) else np.stack(samples).view(self.Tensor)

    def convert(self, sample):
        if isinstance(sample, (tuple, list)):
            return [self.convert(part) for part in sample]
        return sample.view(self.Tensor) if isinstance(sample, np.ndarray) else sample

    def pin(self, value):
        return [self.pin(part) for part in value] if isinstance(value, list) else value.pin_memory()

    def from_numpy(self, array):
        assert array.flags.writeable
        return array.view(self.Tensor)

    def from_dlpack(self, source):
        return np.from_dlpack(source).view(self.Tensor)

    def empty(self, shape, dtype):
        return np.empty(shape, dtype).view(self.Tensor)


@pytest.fixture
def torch(monkeypatch):
    """The real torch, or a stand-in where it is missing."""
    try:
        import torch as real
        import torch.utils.data  # noqa: F401
        return real
    except ImportError:
        made = FakeTorch()
        for name, module in (("torch", made), ("torch.utils", made.utils), ("torch.utils.data", made.utils.data)):
            monkeypatch.setitem(sys.modules, name, module)
        tf.torch._iterable_class.cache_clear()
        return made


class Samples:
    """A torch dataset of (tensor, number)."""

    def __init__(self, torch, count):
        self.torch, self.count = torch, count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return [self.torch.from_numpy(np.full(2, i, np.float32)), i]
