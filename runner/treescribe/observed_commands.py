"""Seeing what invoke's runners run, without replacing them.

`Runner.run` is observed for the time of a run: whatever runner class is in use, and whether a task, a library or
`invoke.run` calls it. One command is followed through attributes of its runner instance: what it starts with, the
bytes it prints, its end. What the caller gets is what invoke makes of it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from invoke.exceptions import CommandTimedOut, Failure
from invoke.runners import Local, Result, Runner

from treescribe.events import CommandStatus
from treescribe.observed_tasks import current_task, error_text
from treescribe.process_tree import end_tree, marked, new_mark
from treescribe.run import Run
from treescribe.tracebacks import trim


@contextmanager
def observing_commands(run: Run) -> Iterator[None]:
    """Record every command that a runner runs during the block."""
    original = Runner.run

    def observed(self: Runner, command: str, **kwargs: Any) -> Any:
        watch = _Watch(run, self, command)
        try:
            return original(self, command, **kwargs)
        except BaseException as error:
            watch.failed(error)  # before `_finish`: it could not be started
            trim(error)
            raise

    Runner.run = observed  # type: ignore[method-assign]
    try:
        yield
    finally:
        Runner.run = original  # type: ignore[method-assign]


class _Watch:
    """Follows one call of `Runner.run`."""

    def __init__(self, run: Run, runner: Runner, line: str) -> None:
        self._run = run
        self._runner = runner
        self._line = line
        self._number: int | None = None
        self._killer: threading.Thread | None = None
        self._mark = new_mark()
        self._wrap("start", self._on_start)
        self._wrap("_finish", self._on_finish)
        self._skip_idle_responding()
        if isinstance(runner, Local) and _unwrapped(runner.kill) == Local.kill.__get__(runner):
            self._wrap("kill", self._on_kill)
            self._wrap("returncode", self._on_returncode)

    def _wrap(self, name: str, wrapper: Callable[..., Any]) -> None:
        """Have `wrapper` called in place of a method, the method first: the runner's own, of its class or instance."""
        original = _unwrapped(getattr(self._runner, name))

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return wrapper(original, *args, **kwargs)

        wrapped.treescribe_original = original  # type: ignore[attr-defined]
        setattr(self._runner, name, wrapped)

    def _skip_idle_responding(self) -> None:
        """Without watchers there is nobody to respond for, and joining all output for each chunk is quadratic."""
        runner = self._runner
        if type(runner).respond is Runner.respond:
            original = runner.respond
            runner.respond = lambda buffer_: original(buffer_) if runner.watchers else None  # type: ignore[method-assign]

    def _on_start(self, original: Callable[..., Any], command: str, shell: str, env: dict[str, Any], *args: Any) -> Any:
        runner = self._runner
        self._learn_sudo_password()
        if isinstance(runner, Local):
            env = marked(self._run.environment(env), self._mark)
        mode = "disowned" if runner._disowned else "asynchronous" if runner._asynchronous else "attached"
        self._number = self._run.command_started(
            self._line, cwd=_current_directory(), task=current_task.get(), pty=runner.using_pty, mode=mode
        )
        if mode != "disowned":
            self._tee("read_proc_stdout", "stdout")
            if not runner.using_pty:
                self._tee("read_proc_stderr", "stderr")
        return original(command, shell, env, *args)

    def _tee(self, name: str, stream: str) -> None:
        assert self._number is not None
        feed = self._run.capture(self._number, stream).feed

        def tee(read: Callable[[int], bytes | None], num_bytes: int) -> bytes | None:
            data = read(num_bytes)
            if data:
                feed(data)
            return data

        self._wrap(name, tee)

    def _on_kill(self, original: Callable[[], None]) -> None:
        self._killer = threading.current_thread()
        end_tree(cast(int, self._runner.get_pid()), mark=self._mark)

    def _on_returncode(self, original: Callable[[], int | None]) -> int | None:
        """invoke takes a timer that has ended for a timeout; ours ends a moment after the command that it kills."""
        timer = self._runner._timer
        if timer is not None and timer is self._killer:
            timer.join()
        return original()

    def _on_finish(self, original: Callable[..., Result]) -> Result:
        try:
            result = original()
        except BaseException as error:
            self.failed(error)
            raise
        self._ended(result)
        return result

    def failed(self, error: BaseException) -> None:
        """The command ended with an exception; said once."""
        if self._number is None:
            return
        result = error.result if isinstance(error, Failure) else None
        if isinstance(error, CommandTimedOut):
            self._run.command_finished(
                self._number, CommandStatus.TIMED_OUT, error=f"timed out after {error.timeout} s"
            )
        elif result is not None and result.exited is not None:
            self._ended(result)
        else:
            self._run.command_finished(self._number, CommandStatus.ERROR, error=error_text(error))

    def _ended(self, result: Result) -> None:
        assert self._number is not None
        code = result.exited
        if code is not None and code < 0:
            self._run.command_finished(self._number, CommandStatus.SIGNALLED, signal=-code)
        else:
            self._run.command_finished(self._number, CommandStatus.EXITED, exit_code=code)

    def _learn_sudo_password(self) -> None:
        try:
            password = self._runner.context.config.sudo.password
        except AttributeError:
            return
        if isinstance(password, str):
            self._run.masker.learn({"SUDO_PASSWORD": password})


def _unwrapped(method: Callable[..., Any]) -> Callable[..., Any]:
    """What a method of a runner was before an earlier command of the same runner was followed."""
    original: Callable[..., Any] = getattr(method, "treescribe_original", method)
    return original


def _current_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""
