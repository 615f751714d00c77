"""`treescribe exec`: the command is untouched, and what it did is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import eventually
from terminals import Terminal

EXEC = [sys.executable, "-m", "treescribe", "exec"]


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    root = tmp_path / "work tree"
    root.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


def run(root: Path, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*EXEC, *words], cwd=root, input=stdin, capture_output=True, timeout=60)


def transcript(root: Path, number: int = 1) -> list[dict[str, Any]]:
    lines = (root / ".treescribe" / "history" / f"{number}.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]


def events(root: Path, kind: str) -> list[dict[str, Any]]:
    return [record for record in transcript(root)[1:] if record["type"] == kind]


def test_bytes_pass_both_ways_as_they_are(worktree: Path) -> None:
    every_byte = bytes(range(256)) * 500
    done = run(worktree, "--", "sh", "-c", "tee /dev/stderr", stdin=every_byte)
    assert done.stdout == every_byte
    assert done.stderr.startswith(every_byte)


def test_arguments_reach_the_command_as_they_were_given(worktree: Path) -> None:
    odd = ["", "a b", "*", "$HOME", "--", "-x", "'\"", "caf\u00e9", "line\nbreak"]
    code = "import sys, json; print(json.dumps(sys.argv[1:]))"
    done = run(worktree, "--", sys.executable, "-c", code, *odd)
    assert json.loads(done.stdout) == odd


def test_the_double_dash_may_be_left_out(worktree: Path) -> None:
    assert run(worktree, "echo", "hello").stdout == b"hello\n"


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -9 $$", 137)]
)
def test_the_exit_code_is_the_commands(worktree: Path, script: str, code: int) -> None:
    assert run(worktree, "--", "sh", "-c", script).returncode == code
    assert transcript(worktree)[-1]["exit_code"] == code


def test_a_signal_is_recorded_as_one(worktree: Path) -> None:
    run(worktree, "--", "sh", "-c", "kill -TERM $$")
    (finished,) = events(worktree, "CommandFinished")
    assert (finished["status"], finished["signal"]) == ("signalled", signal.SIGTERM)


def test_a_missing_command_ends_with_127_and_is_recorded(worktree: Path) -> None:
    done = run(worktree, "--", "no-such-command-here")
    assert done.returncode == 127
    assert b"treescribe: no-such-command-here: command not found\n" in done.stderr
    assert transcript(worktree)[-1]["outcome"] == "failed"


def test_a_command_that_cannot_be_executed_ends_with_126(worktree: Path) -> None:
    (worktree / "plain").write_text("not a program")
    done = run(worktree, "--", "./plain")
    assert done.returncode == 126
    assert b"./plain: Permission denied" in done.stderr


@pytest.mark.parametrize("words", [[], ["--"], ["--no-such-option", "x"]])
def test_without_a_command_the_usage_is_shown(worktree: Path, words: list[str]) -> None:
    done = run(worktree, *words)
    assert done.returncode == 2
    assert b"exec needs a command after --" in done.stderr
    assert not (worktree / ".treescribe").exists()


def test_help_is_shown(worktree: Path) -> None:
    assert run(worktree, "--help").stdout.startswith(b"Usage: treescribe exec -- COMMAND")


def test_outside_any_workspace_nothing_is_run(tmp_path: Path) -> None:
    done = run(tmp_path, "--", "touch", "made")
    assert done.returncode == 2
    assert b"lies in no workspace" in done.stderr
    assert not (tmp_path / "made").exists()


def test_a_bad_setting_leaves_the_command_unrecorded_and_is_told(worktree: Path) -> None:
    (worktree / "invoke.yaml").write_text("treescribe:\n  sumary: always\n")
    done = run(worktree, "--", "touch", "made")
    assert done.returncode == 0
    assert b"this command is not recorded: unknown setting treescribe.sumary" in done.stderr
    assert (worktree / "made").exists()
    assert not (worktree / ".treescribe").exists()


def test_git_status_stays_clean(worktree: Path) -> None:
    run(worktree, "--", "true")
    status = subprocess.run(["git", "status", "--porcelain"], cwd=worktree, capture_output=True, check=True)
    assert status.stdout == b""


def test_a_broken_tasks_file_is_not_even_read(worktree: Path) -> None:
    (worktree / "tasks.py").write_text("raise SystemExit('must not be loaded')")
    assert run(worktree, "--", "echo", "fine").stdout == b"fine\n"


def test_output_is_kept_by_stream(worktree: Path) -> None:
    run(worktree, "--", "sh", "-c", "echo out; echo err >&2")
    kept = {record.get("stream", "stdout"): record["text"] for record in events(worktree, "Output")}
    assert kept == {"stdout": "out\n", "stderr": "err\n"}


def test_a_secret_of_the_environment_is_not_kept(worktree: Path) -> None:
    environment = {**os.environ, "DEPLOY_TOKEN": "s3cr3t-value-1"}
    command = [*EXEC, "--", "sh", "-c", "echo $DEPLOY_TOKEN; echo s3cr3t-value-1 >&2", "s3cr3t-value-1"]
    done = subprocess.run(command, cwd=worktree, env=environment, capture_output=True)
    assert done.stdout == b"s3cr3t-value-1\n"
    kept = b"".join(path.read_bytes() for path in (worktree / ".treescribe").rglob("*") if path.is_file())
    assert b"s3cr3t-value-1" not in kept
    assert b"***" in kept


def on_terminal(root: Path, *words: str) -> Terminal:
    return Terminal(root, *EXEC, *words)


def test_on_a_terminal_the_command_prints_to_one(worktree: Path) -> None:
    terminal = on_terminal(worktree, "--", "sh", "-c", "read go; test -t 1 && test -t 2 && stty size <&1; exit 5")
    terminal.type(b"go\n")
    assert terminal.wait() == 5
    assert b"33 77" in terminal.output


def test_the_users_terminal_stays_the_controlling_one(worktree: Path) -> None:
    terminal = on_terminal(worktree, "--", "sh", "-c", "printf 'pass: ' >/dev/tty; read it </dev/tty; echo got $it")
    terminal.read_until(b"pass: ")
    terminal.type(b"word\n")
    assert terminal.wait() == 0
    assert b"got word" in terminal.output


def test_ctrl_c_reaches_the_command_which_may_take_its_time(worktree: Path) -> None:
    script = "trap 'echo cleaning; exit 9' INT; echo ready; while :; do read x || sleep 0.1; done"
    terminal = on_terminal(worktree, "--", "sh", "-c", script)
    terminal.read_until(b"ready")
    terminal.type(b"\x03")
    assert terminal.wait() == 9
    assert b"cleaning" in terminal.output
    assert transcript(worktree)[-1]["outcome"] == "cancelled"


def test_sigterm_is_passed_on_and_the_transcript_is_finished(worktree: Path) -> None:
    command = [*EXEC, "--", "sh", "-c", "echo ready; exec sleep 60"]
    process = subprocess.Popen(command, cwd=worktree, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    process.stdout.close()
    assert transcript(worktree)[-1]["outcome"] == "cancelled"


def test_a_reader_that_has_gone_is_noticed_by_the_command(worktree: Path) -> None:
    command = f"{sys.executable} -m treescribe exec -- yes | head -1"
    done = subprocess.run(["bash", "-c", command], cwd=worktree, capture_output=True, timeout=30)
    assert done.stdout == b"y\n"
    assert transcript(worktree)[-1]["exit_code"] == 141  # SIGPIPE


def test_inherited_descriptors_reach_the_command(worktree: Path) -> None:
    program = f"{sys.executable} -m treescribe exec --"
    command = f"{program} cat <(echo hi); {program} sh -c 'echo x >&3' 3>f"
    done = subprocess.run(["bash", "-c", command], cwd=worktree, capture_output=True, timeout=60)
    assert done.stdout == b"hi\n"
    assert (worktree / "f").read_text() == "x\n"


def test_where_both_streams_are_one_file_their_order_is_kept(worktree: Path) -> None:
    script = "for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done"
    command = [*EXEC, "--", "sh", "-c", script]
    done = subprocess.run(command, cwd=worktree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    expected = [line for i in range(1, 6) for line in (f"out{i}", f"err{i}")]
    assert done.stdout.decode().splitlines()[:10] == expected


def test_a_script_without_an_interpreter_line_runs_as_in_a_shell(worktree: Path) -> None:
    script = worktree / "script"
    script.write_text("echo from $0 $1\n")
    script.chmod(0o755)
    assert run(worktree, "--", "./script", "word").stdout == b"from ./script word\n"


def test_from_another_folder_it_is_another_target(worktree: Path) -> None:
    (worktree / "sub").mkdir()
    run(worktree, "--", "true")
    run(worktree / "sub", "--", "true")
    assert [transcript(worktree, number)[0]["targets"] for number in (1, 2)] == [["true"], ["true (in sub)"]]


SECRET = "SeKrItVaLuE123456"


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "1>&- 2>&-", "0<&- 1>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"])
def test_streams_that_are_closed_stay_closed_and_no_file_of_ours_takes_their_place(worktree: Path, closed: str) -> None:
    script = f"{sys.executable} -m treescribe exec -- sh -c 'echo out $IT; echo err $IT >&2; exit 4' {closed}"
    environment = {**os.environ, "IT": "printed", "X_TOKEN": SECRET}
    done = subprocess.run(["sh", "-c", script], cwd=worktree, env=environment, capture_output=True, timeout=60)
    assert done.returncode == 4
    assert (done.stdout == b"out printed\n") == ("1>" not in closed)
    assert (b"err printed" in done.stderr) == ("2>" not in closed)
    assert all("printed" not in line for line in (worktree / ".treescribe" / "lock").read_text().splitlines())
    assert transcript(worktree)[-1]["exit_code"] == 4  # whole lines of JSON, all of them
    bare = f"/bin/echo hi {closed}"
    recorded = f"{sys.executable} -m treescribe exec -- {bare}"
    codes = [
        subprocess.run(["sh", "-c", line], cwd=worktree, capture_output=True).returncode for line in (bare, recorded)
    ]
    assert codes[0] == codes[1]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_output_that_cannot_be_written_is_told_and_is_a_failure(worktree: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*EXEC, "--", "echo", "hi"], cwd=worktree, stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert done.returncode == 1
    assert b"treescribe: standard output cannot be written: No space left on device" in done.stderr
    assert transcript(worktree)[-1]["outcome"] == "failed"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_can_be_ended_while_something_left_behind_holds_its_output(worktree: Path, number: int) -> None:
    script = "setsid sleep 600 & echo $!; exit 0"
    with subprocess.Popen([*EXEC, "--", "sh", "-c", script], cwd=worktree, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        left = int(process.stdout.readline())
        eventually(lambda: not children_of(process.pid))
        process.send_signal(number)
        assert process.wait(30) == 128 + number
        os.kill(left, signal.SIGKILL)
    assert transcript(worktree)[-1]["outcome"] == "cancelled"


def children_of(pid: int) -> list[str]:
    """Those that have not been waited for are none: they have ended."""
    listed = subprocess.run(["ps", "-axo", "ppid=,stat="], capture_output=True, text=True, check=True).stdout
    return [row for row in listed.splitlines() if row.split()[0] == str(pid) and "Z" not in row]


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2])
def test_signals_for_the_commands_own_use_are_passed_on(worktree: Path, number: int) -> None:
    script = f"trap 'echo got it; exit 6' {number}; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen([*EXEC, "--", "sh", "-c", script], cwd=worktree, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait(30) == 6
        assert process.stdout.read() == b"got it\n"


def test_the_exit_code_can_be_had_where_ends_of_children_are_ignored(worktree: Path) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    assert subprocess.run([*EXEC, "--", "false"], cwd=worktree, preexec_fn=ignore).returncode == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_when_the_command_has_just_ended_loses_nothing(worktree: Path, number: int) -> None:
    """Ctrl-C reaches both: where the command is the quicker, its last words and its exit code are still its own."""
    script = "head -c 120000 /dev/zero; exit 9"  # more than one pipe holds, less than two: it ends, and we cannot yet
    with subprocess.Popen([*EXEC, "--", "sh", "-c", script], cwd=worktree, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        first = process.stdout.read(1)
        eventually(lambda: not children_of(process.pid))
        process.send_signal(number)
        assert len(first + process.stdout.read()) == 120_000
        assert process.wait(30) == 9
