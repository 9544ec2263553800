# SPDX-License-Identifier: Apache-2.0
"""How far long work is: a bar by tqdm where that is installed, else a line on a terminal or in a notebook."""
import sys
import time

_AFTER_S = 0.5  # what is faster needs no bar


class Settings:
    """px.settings: how the module behaves, for all calls.

    progress: None (a bar where somebody looks: a terminal or a notebook), True, False, or a function (label, done,
    total, text).
    """

    def __init__(self):
        self.progress = None


settings = Settings()


def in_notebook():
    shell = sys.modules.get("IPython")
    shell = shell.get_ipython() if shell else None
    return shell is not None and hasattr(shell, "kernel")


class _Function:
    def __init__(self, function):
        self._function = function

    def __call__(self, label, done, total, text):
        return self._function(label, done, total, text)

    def close(self):
        pass


class _Line:
    """A line that is written again and again; in a notebook a text that is."""

    def __init__(self):
        self._started = time.monotonic()
        self._notebook = in_notebook()
        self._shown = None

    def __call__(self, label, done, total, text):
        now = time.monotonic()
        if now - self._started < _AFTER_S:
            return
        share = done / total if total else 0.0
        left = (now - self._started) * (1.0 - share) / share if share > 0 else None
        line = f"{label} {done:,}" + (f" of {total:,} ({share:.0%})" if total else "")
        line += f", {left:.0f} s left" if left is not None and done < total else ""
        line += f"  {text}" if text else ""
        if self._notebook:
            from IPython.display import display  # pylint: disable=import-outside-toplevel
            if self._shown is None:
                self._shown = display({"text/plain": line}, raw=True, display_id=True)
            else:
                self._shown.update({"text/plain": line}, raw=True)
        else:
            self._shown = True
            sys.stderr.write("\r" + line + "\033[K")
            sys.stderr.flush()

    def close(self):
        if self._shown and not self._notebook:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


class _Tqdm:
    def __init__(self, tqdm):
        self._tqdm = tqdm
        self._bar = None
        self._label = None

    def __call__(self, label, done, total, text):
        if label != self._label:
            self.close()
            self._label = label
            self._bar = self._tqdm(total=total or None, desc=label, leave=False, delay=_AFTER_S)
        if text:
            self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self):
        if self._bar is not None:
            self._bar.close()
        self._bar = None


def _nothing(label, done, total, text):  # pylint: disable=unused-argument
    return None


def bar_for(progress):
    """What shows progress: a callable with close()."""
    if progress is None:
        progress = settings.progress
    if callable(progress):
        return _Function(progress)
    looked_at = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    if not (looked_at if progress is None else progress):
        return _Function(_nothing)
    try:
        from tqdm.auto import tqdm  # pylint: disable=import-outside-toplevel
    except ImportError:
        return _Line()
    return _Tqdm(tqdm)
