"""A search that runs: its budget, its progress, and what ends it early."""

import numbers
import signal
import sys
import threading
import time
from typing import NamedTuple, Optional

from . import _c


def _limit(name, value):
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected a number, not {value!r}")
    if not value >= 0:  # NaN is neither
        raise ValueError(f"{name}: {value} is not a limit")
    return value


def limit_of(nodes):
    """A number of nodes as C has it; float("inf") is no limit."""
    return _c.NONE if _limit("nodes", nodes) >= _c.NONE else int(nodes)


class Progress(NamedTuple):
    """The state of a running search."""

    phase: str  # what it is doing, in a word or two
    best: Optional[int]  # bytes of the best placement so far; None before the first
    bound: int  # proven: no placement is lower
    nodes: int  # search nodes spent


def print_progress(progress):
    """A line on standard error, drawn again and again: what `progress=True` calls."""
    best = "none yet" if progress.best is None else f"{progress.best} B"
    sys.stderr.write(f"\r{progress.phase:9} best {best}  bound {progress.bound} B  "
                     f"{progress.nodes} nodes\033[K")
    sys.stderr.flush()


class Search:
    """Has the callback of a search, as long as it is entered.

    The first SIGINT ends the search with its best result; the second raises KeyboardInterrupt once
    the search has returned. Handlers of the caller's own are left alone.
    """

    def __init__(self, seconds, progress):
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise TypeError(f"progress: expected a function or True, not {progress!r}")
        self._limit = None if seconds is None else time.monotonic() + _limit("time", seconds)
        self._progress = print_progress if progress is True else progress or None
        self._raised = None
        self._signals = 0
        self._shown = 0.0
        self.stopped_by = None  # "time", "interrupt", "progress"; None: it came to its end
        self.callback = _c.on_progress(self._on_progress)

    def _on_progress(self, _, state):
        try:
            return self._goes_on(state[0])
        except BaseException as error:  # cannot pass through C
            self._raised = error
            return False

    def _goes_on(self, state):
        now = time.monotonic()
        best = None if state.best == _c.NONE else state.best
        if self._progress is not None and now - self._shown > 0.1:
            self._shown = now
            told = Progress(state.phase.decode(), best, state.bound, state.nodes)
            if self._progress(told) is False:
                self.stopped_by = "progress"
        if self._signals > 0:
            self.stopped_by = "interrupt"
        elif self._limit is not None and now >= self._limit:
            self.stopped_by = self.stopped_by or "time"
        return best is None or self.stopped_by is None  # the first placement is waited for

    def _on_signal(self, *_):
        self._signals += 1

    def __enter__(self):
        is_main = threading.current_thread() is threading.main_thread()
        self._handles = is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._handles:
            signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *_):
        if self._handles:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._progress is print_progress and self._shown:
            sys.stderr.write("\n")
        if self._raised is not None:
            raise self._raised
        if self._signals > 1:
            raise KeyboardInterrupt
