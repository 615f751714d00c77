"""The diagnostics plugin: file:line messages of compilers, linters and type checkers, off what commands print."""
