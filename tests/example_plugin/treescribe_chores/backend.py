"""Running chores."""

from __future__ import annotations

from collections.abc import Sequence

from treescribe import Outcome, Run, Target, Workspace, run_command

from treescribe_chores.events import ChoreFinished

FILE = "chores.txt"


def chores_of(workspace: Workspace) -> dict[str, str]:
    """The command line of each chore, by its name."""
    lines = (workspace.root / FILE).read_text().splitlines()
    return {name.strip(): line.strip() for name, colon, line in (line.partition(":") for line in lines) if colon}


class Chores:
    """The backend: each chore is a target."""

    name = "chores"

    def detect(self, workspace: Workspace) -> bool:
        """Whether the worktree has chores."""
        return (workspace.root / FILE).is_file()

    def targets(self, workspace: Workspace) -> Sequence[Target]:
        """Every chore; its command line is its help."""
        return [Target(name, line) for name, line in chores_of(workspace).items()]

    def run(self, run: Run) -> Outcome:
        """Run the chores that were asked for until one fails."""
        chores = chores_of(run.workspace)
        outcome = Outcome("passed", 0)
        for name in run.request.targets:
            begun = run.clock.elapsed_ms()
            outcome = run_command(run, ["sh", "-c", chores[name]])
            passed = outcome.outcome == "passed"
            duration_ms = run.clock.elapsed_ms() - begun
            run.emit(ChoreFinished(chore=name, status="passed" if passed else "failed", duration_ms=duration_ms))
            if not passed:
                break
        return outcome
