# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as exceptions: each has the status, the sentence and the advice that the command line gives."""
import collections


def _advice(sentence):
    """What is behind the first semicolon that stands in no brackets."""
    parts = sentence.split("; ")
    for i in range(1, len(parts)):
        before = "; ".join(parts[:i])
        if before.count("(") <= before.count(")"):
            return "; ".join(parts[i:])
    return ""


class Error(Exception):
    """A call that failed.

    status: "PX_E_INPUT" and so on; sentence: what is wrong, and where; advice: what to do next, "" where the sentence
    has none; result: what the call still has to tell (a Result), None where there is nothing.
    """

    status = "PX_E_INTERNAL"

    def __init__(self, sentence, status=None, result=None):
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status or type(self).status
        self.advice = _advice(sentence)
        self.result = result

    def __reduce__(self):  # to another process, without the result
        return type(self), (self.sentence, self.status)


class UsageError(Error, ValueError):
    """An option, a name or a value that does not exist or does not fit."""
    status = "PX_E_USAGE"


class InputError(Error, ValueError):
    """A file or an array that cannot be used."""
    status = "PX_E_INPUT"


class UnsupportedError(Error):
    """Something that plexor does not do."""
    status = "PX_E_UNSUPPORTED"


class MismatchError(Error, ValueError):
    """Things that do not fit together, as a network and data of another shape."""
    status = "PX_E_MISMATCH"


class FileError(Error, OSError):
    """Reading or writing failed."""
    status = "PX_E_IO"

    def __str__(self):  # OSError would print its arguments
        return self.sentence


class OutOfMemoryError(Error, MemoryError):
    """No memory is left."""
    status = "PX_E_NOMEM"


class CancelledError(Error):
    """Ended before it was done, because a progress function said so."""
    status = "PX_E_CANCELLED"


class InternalError(Error):
    """A mistake of plexor's own; please report it."""
    status = "PX_E_INTERNAL"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. What was stored is intact; `result` has what the command told of it, None where it told nothing."""

    def __init__(self, result=None):
        super().__init__("interrupted")
        self.result = result


_BY_STATUS = {c.status: c for c in (UsageError, InputError, UnsupportedError, MismatchError, FileError,
                                    OutOfMemoryError, CancelledError, InternalError)}


causes = collections.deque(maxlen=64)  # (message, exception) of what was raised in functions that the library called


def error_of(status, sentence, result=None):
    """The exception for a status of the library; where Python's own code failed, that is its __cause__."""
    made = _BY_STATUS.get(status, Error)(sentence, status, result)
    made.__cause__ = next((failure for message, failure in reversed(causes) if message in sentence), None)
    return made
