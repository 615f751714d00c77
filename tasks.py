"""treescribe is developed with treescribe: `treescribe test`, `treescribe check`."""

from invoke import Context, task


@task(help={"only": "what to run: paths, or pytest's own options"})
def test(c: Context, only: str = "") -> None:
    """Run the tests that need no package index."""
    c.run(f"python -m pytest -q -n auto -m 'not index' {only}".strip(), pty=False)


@task
def lint(c: Context) -> None:
    """Check rules and layout."""
    c.run("ruff check . && ruff format --check .")


@task
def types(c: Context) -> None:
    """Check types."""
    c.run("mypy")


@task(pre=[lint, types, test])
def check(c: Context) -> None:
    """Everything, on this Python."""


@task
def everything(c: Context) -> None:
    """What continuous integration runs: every Python that is here."""
    c.run("tox")
