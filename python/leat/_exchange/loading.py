"""Passes over the batches of ``leat.torch.DataLoader``: what is fetched, on which threads, and where a pass is.

A pass is an iterator whose ``state()`` says where it is, as numbers, tensors and what samplers and datasets say of
themselves; a pass that is made of a state gives the batches that were left then. Numbered datasets are asked batch by
batch, in any order; the place of a pass is the first batch that it has not given, and those behind it that it has.
"""

import collections
import concurrent.futures
import copy
import itertools
import threading

from leat.data.iterator import Iterator

_END = object()


def _teller(*things):
    """(key, thing) of the first of (key, thing) that says where it is; (None, None) where none does."""
    return next(((key, thing) for key, thing in things if hasattr(thing, "state_dict")), (None, None))


def lists(items, size, drop_last):
    """Items in lists of `size`; the last may be shorter."""
    items = iter(items)
    while found := list(itertools.islice(items, size)):
        if len(found) == size or not drop_last:
            yield found


class Threads:
    """Threads that fetch; each calls `init` with its number before its first batch. They wait for the next pass where
    they are persistent."""

    def __init__(self, count, init, persistent, timeout):
        self._init, self._persistent, self._timeout = init, persistent, timeout
        self._executor = concurrent.futures.ThreadPoolExecutor(count, "leat-loader")
        self._own = threading.local()
        self._numbers = itertools.count()

    def submit(self, fetch):
        """The future of what a function returns that is called on one of the threads."""
        return self._executor.submit(self._call, fetch)

    def _call(self, fetch):
        if self._init is not None and not hasattr(self._own, "number"):
            self._own.number = next(self._numbers)
            self._init(self._own.number)
        return fetch()

    def first(self, futures, in_order):
        """The index of the future whose result is next; RuntimeError where none comes in time."""
        waited = futures[:1] if in_order else futures
        done = concurrent.futures.wait(waited, self._timeout or None, concurrent.futures.FIRST_COMPLETED).done
        if not done:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        return next(i for i, future in enumerate(futures) if future in done)

    def pass_ends(self, futures):
        """Nobody waits for these any more."""
        for future in futures:
            future.cancel()
        if not self._persistent:
            self._executor.shutdown(wait=False, cancel_futures=True)


class _Pass:
    """What the passes share: batches are fetched by `_next_fetch()` until that is None, here or on threads."""

    def __init__(self, threads, ahead, in_order):
        self._threads, self._ahead, self._in_order = threads, ahead, in_order
        self._running = []  # (number of the batch, future)
        self._drawn = 0  # batches that were begun
        self.finished = False

    def __iter__(self):
        return self

    def __next__(self):
        if self.finished:
            raise StopIteration
        number, fetch = self._take()
        if fetch is None:
            self._end()
        try:
            batch = fetch()
        except Exception:
            self._given(number)
            raise
        self._given(number)
        return batch

    def _end(self):
        self.close()
        self.finished = True
        raise StopIteration

    def _take(self):
        """The number of the next batch and a function that returns it, None behind the last one."""
        if self._threads is None:
            fetch = self._draw()
            return self._drawn - 1, fetch
        while len(self._running) < self._ahead and (fetch := self._draw()) is not None:
            self._running.append((self._drawn - 1, self._threads.submit(fetch)))
        if not self._running:
            return None, None
        number, future = self._running.pop(
            self._threads.first([future for _, future in self._running], self._in_order))
        return number, future.result

    def _draw(self):
        fetch = self._next_fetch()
        self._drawn += fetch is not None
        return fetch

    def close(self):
        """Ends the threads of the pass, unless they are persistent."""
        if self._threads is not None:
            self._threads.pass_ends([future for _, future in self._running])
        self._running = []

    def __del__(self):
        self.close()


class NumberedPass(_Pass):
    """Batches of a dataset that is asked by number. `order` gives the numbers of each batch."""

    def __init__(self, order, fetch, threads, ahead, in_order, state):
        super().__init__(threads, ahead, in_order)
        self._order, self._fetch = order, fetch
        self._first, self._beyond = 0, set()  # the first batch that was not given, and those behind it that were
        self._left_out = frozenset()  # those that were given before the state was taken
        self._states = {}  # what a sampler said behind a batch
        if state is not None:
            self._first, self._beyond = state["batches"], set(state["beyond"])
            self._drawn, self._left_out = self._first, frozenset(self._beyond)
            said = {key: state[key] for key in ("sampler", "sampler_iterator") if key in state}
            order.go_to(self._first, said)
            if said:
                self._states[self._first - 1] = said

    def _next_fetch(self):
        while True:
            numbers = next(self._order, _END)
            if numbers is _END:
                return None
            if said := self._order.state():
                self._states[self._drawn] = said
            if self._drawn not in self._left_out:
                return lambda: self._fetch(numbers)
            self._drawn += 1

    def _given(self, number):
        self._beyond.add(number)
        while self._first in self._beyond:
            self._beyond.remove(self._first)
            self._states.pop(self._first - 1, None)
            self._first += 1

    def state(self):
        """Where the pass is."""
        if not self._states:
            self._order.fix()
        return {"batches": self._first, "beyond": sorted(self._beyond), **self._order.start,
                **self._states.get(self._first - 1, {})}


class Order:
    """The numbers of batches, from a sampler of numbers (which `size` puts into lists) or of batches.

    start: what a state must hold so that the sampler gives the same order again: the state of its generator, or of
    torch's, of samplers that draw. Samplers, or their iterators, that have state_dict and load_state_dict are asked
    and told where they are; others are gone through again.
    """

    def __init__(self, torch, sampler, size, drop_last, start):
        self._torch, self._sampler, self._size, self._drop_last, self.start = torch, sampler, size, drop_last, start
        self._batches, self._key, self._teller = None, None, None

    def _begin(self, said):
        if "sampler" in said:
            self._sampler.load_state_dict(said["sampler"])
        items = iter(self._sampler) if said else self._drawn()
        if "sampler_iterator" in said:
            items.load_state_dict(said["sampler_iterator"])
        self._key, self._teller = _teller(("sampler_iterator", items), ("sampler", self._sampler))
        self._batches = items if self._size is None else lists(items, self._size, self._drop_last)

    def _drawn(self):
        """The sampler's items, drawn from where `start` says if it does."""
        drawing = getattr(self._sampler, "sampler", self._sampler)
        if not hasattr(drawing, "generator"):
            return iter(self._sampler)
        generator = drawing.generator
        if "drawn_from" not in self.start:
            self.start["drawn_from"] = self._torch.get_rng_state() if generator is None else generator.get_state()
        elif generator is not None:
            generator.set_state(self.start["drawn_from"])
        else:
            with self._torch.random.fork_rng(devices=[]):
                self._torch.set_rng_state(self.start["drawn_from"])
                return iter(list(self._sampler))
        return iter(self._sampler)

    def go_to(self, batches, said):
        """Goes to the place behind so many batches, of which the sampler said this."""
        self._begin(said)
        if not said:
            collections.deque(itertools.islice(self._batches, batches), 0)

    def state(self):
        """What the sampler says of its place; {} where it says nothing."""
        return {} if self._teller is None else {self._key: copy.deepcopy(self._teller.state_dict())}

    def fix(self):
        """Draws what is drawn at random, so that `start` is known."""
        if self._batches is None:
            self._begin({})
            self._batches = itertools.chain(list(itertools.islice(self._batches, 1)), self._batches)

    def __next__(self):
        if self._batches is None:
            self._begin({})
        return next(self._batches)


class StreamPass(_Pass):
    """Batches of an iterable dataset, which one thread reads. `collate` makes a batch of a list of samples, or of a
    sample where `size` is None."""

    def __init__(self, dataset, size, drop_last, collate, threads, ahead, state):
        super().__init__(threads, ahead, True)
        self._size, self._drop_last, self._collate = size, drop_last, collate
        self._batches, self._said, self._ended = 0, {}, False
        self._short = False  # the last batch, which met the end, was given; a dataset may say that it begins anew
        if state is not None:
            self._batches, self._short = state["batches"], state["short"]
            self._ended = self._short
            self._said = {key: state[key] for key in ("dataset", "dataset_iterator") if key in state}
        if "dataset" in self._said:
            dataset.load_state_dict(self._said["dataset"])
        self._items = iter(dataset)
        if "dataset_iterator" in self._said:
            self._items.load_state_dict(self._said["dataset_iterator"])
        self._key, self._teller = _teller(("dataset_iterator", self._items), ("dataset", dataset))
        if not self._said:
            collections.deque(itertools.islice(self._items, self._batches * (size or 1)), 0)

    def _next_fetch(self):
        return None if self._ended else self._fetch

    def _fetch(self):
        """(a batch, what failed, what the dataset says behind it, whether it met the end)"""
        batch, error, count = None, None, self._size
        try:
            samples = next(self._items, _END) if count is None else list(itertools.islice(self._items, count))
            count = None if count is None else len(samples)
            batch = _END if samples is _END or self._is_nothing(count) else self._collate(samples)
        except Exception as failed:  # it comes in its place, and the pass goes on
            error = failed
        said = {} if self._teller is None else {self._key: copy.deepcopy(self._teller.state_dict())}
        return batch, error, said, count != self._size

    def _is_nothing(self, count):
        return count == 0 or self._drop_last and count != self._size

    def __next__(self):
        if self.finished:
            raise StopIteration
        fetch = self._take()[1]
        batch, error, self._said, self._short = (_END, None, self._said, True) if fetch is None else fetch()
        if error is None and batch is _END:
            self._ended = True
            self._end()
        self._batches += 1
        if error is not None:
            raise error
        return batch

    def state(self):
        """Where the pass is."""
        return {"batches": self._batches, "short": self._short, **self._said}


class LeatPass:
    """Batches of a leat Dataset, which reads ahead by itself. `convert` makes torch's of an element; with `group` so
    many of these, in a list, are given to `collate`."""

    def __init__(self, dataset, convert, group, drop_last, collate, state):
        self._iterator = Iterator(dataset)
        self.finished = False
        elements = map(convert, self._iterator)
        if collate is None:
            self._batches = elements
        else:
            self._batches = map(collate, elements if group is None else lists(elements, group, drop_last))
        if state is not None:
            self._iterator.restore(bytes(state["iterator"].numpy()))

    def __iter__(self):
        return self

    def __next__(self):
        if self.finished:
            raise StopIteration
        try:
            return next(self._batches)
        except StopIteration:
            self.finished = True
            raise

    def state(self):
        """Where the pass is, as the bytes of its iterator."""
        return {"iterator": self._iterator.save()}

    def close(self):
        """Ends the run."""
        self._iterator.close()
