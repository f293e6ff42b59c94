"""``tf.keras.utils.Progbar`` and other helps for long loops."""

import math
import sys
import time

import numpy as np
from leat._core.later import public

__dir__ = public(globals())


def _paint(code, text):
    return f"\x1b[{code}m{text}\x1b[0m"


def _span(seconds):
    """A time to go: 7s, 1:05 or 2:00:09."""
    if seconds > 3600:
        return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02d}:{int(seconds % 60):02d}"
    if seconds > 60:
        return f"{int(seconds // 60)}:{int(seconds % 60):02d}"
    return f"{int(seconds)}s"


def _pace(seconds, unit):
    """Time for one unit: 2s/step, 15ms/step, 120us/step."""
    for limit, factor, name in ((1, 1, "s"), (1e-3, 1e3, "ms")):
        if seconds >= limit or seconds == 0:
            return f"{seconds * factor:.0f}{name}/{unit}"
    return f"{seconds * 1e6:.0f}us/{unit}"


class Progbar:
    """A progress bar in the form of Keras (``tf.keras.utils.Progbar``).

    target: steps that are expected, None if unknown. width: of the bar in columns. verbose: 0 nothing, 1 a bar, 2 one
    line at the end. interval: seconds between two updates that are shown. stateful_metrics: names of values that are
    shown as they are, all others are averaged over the steps; stateless_metrics: names of those that are averaged, all
    others are shown as they are. unit_name: what a step is called. tqdm (leat's own): show the bars of the package
    tqdm instead; True needs it, "auto" takes it where it is installed.
    """

    def __init__(self, target, width=20, verbose=1, interval=0.05, stateful_metrics=None, stateless_metrics=None,
                 unit_name="step", tqdm=False):
        if stateful_metrics is not None and stateless_metrics is not None:
            raise ValueError("Only one of `stateful_metrics` or `stateless_metrics` can be provided: the one lists "
                             "what is shown as it is, the other what is averaged.")
        self.target, self.width, self.verbose = target, width, verbose
        self.interval, self.unit_name = interval, unit_name
        self.stateful_metrics = None if stateless_metrics is not None else set(stateful_metrics or ())
        self.stateless_metrics = None if stateless_metrics is None else set(stateless_metrics)
        self._seen_so_far = 0
        self._sums = {}  # name -> [sum, how many]
        self._start = time.time()
        self._first_step_at = None
        self._shown_at = -math.inf
        self._columns = 0  # of the line that is shown
        self._bar = _tqdm_bar(self, tqdm) if tqdm and verbose == 1 else None

    def update(self, current, values=None, finalize=None):
        """Shows step `current`, with (name, value) pairs of that step; `finalize`: it is the last one."""
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        for name, value in values or ():
            self._note(name, value, current, finalize)
        step, self._seen_so_far = current - self._seen_so_far, current
        now = time.time()
        pace = self._seconds_per_step(current, now)
        if self._bar is not None:
            self._update_bar(step, finalize)
        elif self.verbose == 1 and (finalize or now - self._shown_at >= self.interval):
            self._show(current, now, pace, finalize)
            self._shown_at = now
        elif self.verbose == 2 and finalize and self.target:
            _write(f"{self._count(current)} - {now - self._start:.0f}s - {_pace(pace, self.unit_name)}"
                   f"{self._metrics(True)}\n")

    def add(self, n, values=None):
        """`update` by n steps more."""
        self.update(self._seen_so_far + n, values)

    def _averaged(self, name):
        return name not in self.stateful_metrics if self.stateful_metrics is not None else (
            name in self.stateless_metrics)

    def _note(self, name, value, current, finalize):
        """An average weighs a value by the steps since the last update; the last update's value is final."""
        if finalize or not self._averaged(name):
            self._sums[name] = [value, 1]
            return
        steps = max(current - self._seen_so_far, 1)
        total = self._sums.setdefault(name, [0, 0])
        total[0] += value * steps
        total[1] += steps

    def _seconds_per_step(self, current, now):
        """The mean of the steps so far, without the first one where there are more."""
        if not current:
            return 0
        if self._first_step_at is not None and current > 1:
            return (now - self._first_step_at) / (current - 1)
        if current == 1:
            self._first_step_at = now
        return (now - self._start) / current

    def _count(self, current):
        return f"{current:{int(math.log10(self.target)) + 1}d}/{self.target}"

    def _means(self):
        for name, (total, steps) in self._sums.items():
            yield name, float(np.mean(total)) / max(steps, 1)

    def _metrics(self, signed=False):
        """` - name: value` of each; small ones with an exponent."""
        return "".join(f" - {name}: {mean:.4f}" if (mean if signed else abs(mean)) > 1e-3 else f" - {name}: {mean:.4e}"
                       for name, mean in self._means())

    def _show(self, current, now, pace, finalize):
        if self.target:
            full = int(self.width * (current / self.target))
            head = _paint("1", self._count(current)) + " " + (_paint("32", "━" * full) if full > 0 else "") + (
                _paint("37", "━" * (self.width - full)))
            hidden = 8 + 9 * (2 if full > 0 else 1)
        else:
            head, hidden = f"{current:7d}/Unknown", 0
        until = _span(pace * (self.target - current)) if self.target and not finalize else f"{now - self._start:.0f}s"
        rest = f" {_paint('1', until)} {_pace(pace, self.unit_name)}{self._metrics()}"
        columns = len(head) + len(rest) - hidden - 8
        _write("\b" * self._columns + "\r" + head + rest + " " * max(self._columns - columns, 0)
               + ("\n" if finalize else ""))
        self._columns = columns

    def _update_bar(self, steps, finalize):
        self._bar.set_postfix({name: f"{mean:.4g}" for name, mean in self._means()}, refresh=False)
        self._bar.update(steps)
        if finalize:
            self._bar.close()


def _tqdm_bar(progress, wanted):
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        if wanted == "auto":
            return None
        raise ImportError("Progbar(tqdm=True) needs the package tqdm; install it, or pass tqdm=False") from None
    return tqdm(total=progress.target, unit=progress.unit_name, mininterval=progress.interval)


def _write(text):
    """Writes to sys.stdout at once; what its encoding lacks, such as a path that is no UTF-8, as escapes."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        sys.stdout.write(text.replace("━", "-").encode("ascii", "backslashreplace").decode())
    sys.stdout.flush()
