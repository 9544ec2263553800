# SPDX-License-Identifier: Apache-2.0
"""px_call() for Python: words in; JSON, arrays, remarks and exceptions out.

While the library works the GIL is free. In the main thread the library runs in a thread of its own, so that Ctrl-C is
heard at once; whatever calls back is then handled in the thread that asked. Another thread, which Ctrl-C never
reaches, calls the library itself.
"""
import ctypes
import json
import logging
import queue
import signal
import threading

import numpy

from . import _library as c
from ._progress import bar_for
from .campaign import Failure
from .errors import Interrupted, error_of

_log = logging.getLogger("plexor")


class _Memory:
    """A px_call_result; its arrays keep it."""

    def __init__(self):
        self.c = c.CallResult(size=ctypes.sizeof(c.CallResult))
        self._done = c.lib.px_call_done

    def __del__(self):
        self._done(ctypes.byref(self.c))

    def array(self, tensor):
        return _view(tensor, self)


def _view(tensor, memory):
    """A tensor as an array on its memory, which `memory` owns and is kept with the array."""
    shape = tuple(tensor.shape.dim[:tensor.shape.rank])
    dtype = numpy.dtype(c.DTYPES[tensor.dtype])
    size = int(numpy.prod(shape, dtype=numpy.int64)) * dtype.itemsize
    if size == 0:
        return numpy.zeros(shape, dtype)
    view = (ctypes.c_uint8 * size).from_address(tensor.data)
    view.memory = memory  # a NumPy array keeps what it is a view of, and that keeps this
    values = numpy.frombuffer(view, dtype).reshape(shape)
    if tensor.dtype == c.BFLOAT16:
        values = (values.astype(numpy.uint32) << 16).view(numpy.float32)
    return values


class Answer:
    """What px_call() gave: status, json (a dict or None), text, files {file: {array: values}}."""

    def __init__(self, memory):
        got = memory.c
        self.status = got.status
        self.error = got.error.decode("utf-8", "replace") if got.error is not None else None
        self.json = json.loads(got.json) if got.json is not None else None
        self.text = got.text.decode("utf-8", "replace") if got.text is not None else ""
        self.files = {}
        for i in range(got.array_count):
            array = got.arrays[i].contents
            self.files.setdefault(array.file.decode(), {})[array.name.decode()] = memory.array(array.tensor)


class _Run:
    """One call: what is told while it runs, and how it ends."""

    def __init__(self, words, progress, remark, on_failure):
        self.words = words
        self.bar = bar_for(progress)
        self.remark = remark or _log.info
        self.on_failure = on_failure
        self.stop = ctypes.c_int(0)
        self.go_on = True
        self.failure = None
        self.memory = _Memory()
        self.finished = False
        self.events = None  # set: another thread handles what is told
        self.io = c.CallIO(size=ctypes.sizeof(c.CallIO), progress=c.ProgressFunction(self._progress),
                           remark=c.RemarkFunction(self._remark), stop=ctypes.pointer(self.stop))
        if on_failure:
            self.io.found = c.FoundFunction(self._found)

    # What the library calls: exceptions must not get lost here.
    def _progress(self, _, at):
        at = at.contents
        self._tell(self._show, at.label.decode("utf-8", "replace"), at.done, at.total,
                   at.text.decode("utf-8", "replace") if at.text else None)
        return self.go_on

    def _remark(self, _, sentence):
        self._tell(self.remark, sentence.decode("utf-8", "replace"))

    def _found(self, _, finding):
        try:
            finding = finding.contents
            told = json.loads(finding.json)
            self._tell(self._show_failure, Failure(
                told["id"], *(_view(t, None).copy() for t in (finding.input, finding.original)), told["label"],
                told["prediction"], told["confidence"], told["chain"] or ""))
        except BaseException as failure:  # pylint: disable=broad-except; raised again by run()
            self._fail(failure)
        return self.go_on

    def _show_failure(self, failure):
        if self.go_on and self.on_failure(failure) is False:
            self.go_on = False

    def _tell(self, *event):
        if self.events:
            self.events.put(event)
        else:
            self._handle(event)

    def _handle(self, event):
        if self.failure is None:
            try:
                event[0](*event[1:])
            except BaseException as failure:  # pylint: disable=broad-except; raised again by run()
                self._fail(failure)

    def _show(self, label, done, total, text):
        if self.bar(label, done, total, text) is False:
            self.go_on = False

    def _fail(self, failure):
        self.failure = self.failure or failure
        self.go_on = False
        self.stop.value = 1

    def _call(self):
        words = [w if isinstance(w, bytes) else w.encode() for w in self.words]
        argv = (ctypes.c_char_p * len(words))(*words)
        c.lib.px_call(len(words), argv, ctypes.byref(self.io), ctypes.byref(self.memory.c))

    def _call_in_thread(self):
        try:
            self._call()
        except BaseException as failure:  # pylint: disable=broad-except
            self.failure = self.failure or failure
        self.finished = True
        self.events.put(None)

    def _work_in_thread(self):
        """Lets another thread call, and handles what it tells; Ctrl-C ends it, a second one does not wait."""
        self.events = queue.SimpleQueue()
        thread = threading.Thread(target=self._call_in_thread, name="plexor", daemon=True)
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it comes before or after, not in the middle
        try:
            thread.start()
        except BaseException:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            raise
        interrupted = False
        while True:
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                return self._wait()
            except KeyboardInterrupt:
                self._fail(Interrupted())
                if interrupted:
                    raise
                interrupted = True

    def _wait(self):
        while True:
            try:
                event = self.events.get(timeout=0.2)
            except queue.Empty:
                if self.finished and self.events.empty():
                    return
                continue
            if event is None:
                return
            self._handle(event)

    def run(self):
        try:
            if threading.current_thread() is threading.main_thread():
                self._work_in_thread()
            else:
                self._call()
                self.finished = True
        finally:
            self.bar.close()
            if self.finished:
                self.io = None  # its functions keep this object
        return Answer(self.memory)


def call(words, progress=None, remark=None, result_of=None, on_failure=None):
    """Runs a command line, without the program's name. Gives an Answer of status 0 or 1; raises else.

    progress: True, False, None (as px.settings.progress), or a function (label, done, total, text) that returns False
    to end the work in order. remark: a function of a sentence. result_of: makes what an exception has as `result`. on_failure: a function of each Failure that is
    committed to a campaign; False ends the work, too.
    """
    run = _Run(words, progress, remark, on_failure)
    answer = run.run()
    failed = answer.status not in (0, 1)
    told = result_of(answer) if result_of and answer.json and "error" not in answer.json else None
    if isinstance(run.failure, KeyboardInterrupt):
        raise Interrupted(told) from None
    if run.failure is not None:
        raise run.failure
    if failed:
        said = (answer.json or {}).get("error") or {}
        status = said.get("status") or ("PX_E_USAGE" if answer.status == 2 else "PX_E_INTERNAL")
        raise error_of(status, said.get("message") or answer.error or "failed", told)
    return answer
