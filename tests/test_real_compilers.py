"""Small projects of several languages, built by their real compilers: what a broken line brings, and mending it.

Each project is built whole, with one line broken, and whole again, by ``treescribe exec``. What the broken build has
new must be exactly what its compiler complains of; what the mended one has resolved must be the same.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support import git

pytestmark = pytest.mark.once

HOME = Path.home()
"""The user's own: compilers keep their caches, libraries and plugins there."""


class Sample(NamedTuple):
    """A project.

    :ivar files: their texts, by name.
    :ivar build: the command that builds it all.
    :ivar breaking: (file, right, wrong).
    :ivar complaints: what the compiler has to say of that: (severity, path, line, column, message's beginning).
    :ivar setup: run once, before it is recorded.
    """

    needs: str
    files: dict[str, str]
    build: list[str]
    breaking: tuple[str, str, str]
    complaints: list[tuple[str, str, int, int, str]]
    setup: tuple[str, ...] = ()


MAKE = Sample(
    needs="gcc",
    files={
        "Makefile": "shop: main.o cart.o\n\t$(CC) -o $@ $^\n%.o: %.c cart.h\n\t$(CC) -Wall -c -o $@ $<\n",
        "cart.h": "int total(int price, int count);\n",
        "cart.c": '#include "cart.h"\n\nint total(int price, int count) {\n    return price * count;\n}\n',
        "main.c": '#include "cart.h"\n\nint main(void) {\n    int unused;\n    return total(3, 4) - 12;\n}\n',
    },
    build=["make", "-k", "-B"],
    breaking=("cart.c", "price * count", "prize * count"),
    complaints=[("error", "cart.c", 4, 12, "'prize' undeclared"), ("warning", "cart.c", 5, 1, "control reaches end")],
)
CARGO = Sample(
    needs="cargo",
    files={
        "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/main.rs": 'mod cart;\n\nfn main() {\n    let unused = 1;\n    println!("{}", cart::total(3, 4));\n}\n',
        "src/cart.rs": "pub fn total(price: i32, count: i32) -> i32 {\n    price * count\n}\n",
    },
    build=["cargo", "build", "--offline"],
    breaking=("src/cart.rs", "price * count", 'prize * "count"'),
    complaints=[("error", "src/cart.rs", 2, 5, "cannot find value `prize`")],
)
GO = Sample(
    needs="go",
    files={
        "go.mod": "module example.com/shop\n\ngo 1.21\n",
        "main.go": 'package main\n\nimport "example.com/shop/cart"\n\nfunc main() { println(cart.Total(3, 4)) }\n',
        "cart/cart.go": "package cart\n\nfunc Total(price, count int) int {\n\treturn price * count\n}\n",
    },
    build=["go", "build", "-o", os.devnull, "./..."],
    breaking=("cart/cart.go", "price * count", 'prize * "count"'),
    complaints=[("error", "cart/cart.go", 4, 9, "undefined: prize")],
)
TSC = Sample(
    needs="npm",
    files={
        "package.json": '{"name": "shop", "private": true}\n',
        "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "types": []}, "include": ["src"]}\n',
        "src/cart.ts": "export function total(price: number, count: number): number {\n  return price * count;\n}\n",
        "src/main.ts": 'import { total } from "./cart";\n\nexport const sum: number = total(3, 4);\n',
    },
    setup=("npm", "install", "--silent", "--no-audit", "--no-fund", "typescript@5"),
    build=["node_modules/.bin/tsc", "-p", "."],
    breaking=("src/cart.ts", "return price * count", 'return price + " times"'),
    complaints=[("error", "src/cart.ts", 2, 3, "Type 'string' is not assignable to type 'number'.")],
)
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId><artifactId>shop</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
</project>
"""
MAVEN = Sample(
    needs="mvn",
    files={
        "pom.xml": POM,
        "src/main/java/shop/Cart.java": (
            "package shop;\n\nclass Cart {\n    int total(int price, int count) {\n"
            "        return price * count;\n    }\n}\n"
        ),
    },
    build=["mvn", "-B", "compile"],
    breaking=("src/main/java/shop/Cart.java", "return price * count", 'int x = "one"; return prize * count'),
    complaints=[
        ("error", "src/main/java/shop/Cart.java", 5, 17, "incompatible types: java.lang.String cannot be converted"),
        ("error", "src/main/java/shop/Cart.java", 5, 31, "cannot find symbol"),
    ],
)


class Project:
    """A sample in a git worktree."""

    def __init__(self, root: Path, sample: Sample) -> None:
        self.root = root
        self.sample = sample
        for name, text in sample.files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        (root / ".gitignore").write_text("target/\nnode_modules/\n*.o\n")
        git(root, "init", "-q")
        if sample.setup:
            subprocess.run(sample.setup, cwd=root, check=True, env=self._environment, timeout=300)

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "HOME": str(HOME), "LC_ALL": "C"}

    def build(self) -> int:
        command = [sys.executable, "-m", "treescribe", "exec", "--", *self.sample.build]
        done = subprocess.run(command, cwd=self.root, env=self._environment, capture_output=True, timeout=300)
        return done.returncode

    def replace(self, old: str, new: str) -> None:
        path = self.root / self.sample.breaking[0]
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def diff(self, base: int, target: int) -> Any:
        command = [sys.executable, "-m", "treescribe", "history.diff", str(base), str(target), "--json"]
        done = subprocess.run(command, cwd=self.root, check=True, capture_output=True)
        return json.loads(done.stdout)


def read(diagnostics: list[dict[str, Any]], complaints: list[tuple[str, str, int, int, str]]) -> list[tuple[Any, ...]]:
    """The diagnostics as complaints, the messages cut to what is told of them there."""
    lengths = [len(message) for *_, message in complaints]
    found = sorted((one["path"], one["line"], one["column"], one["severity"], one["message"]) for one in diagnostics)
    return [
        (severity, path, line, column, message[:length])
        for (path, line, column, severity, message), length in zip(found, lengths, strict=True)
    ]


@pytest.mark.parametrize(
    "sample",
    [
        pytest.param(MAKE, id="gcc and make"),
        pytest.param(CARGO, id="cargo"),
        pytest.param(GO, id="go"),
        pytest.param(TSC, id="tsc", marks=pytest.mark.index),
        pytest.param(MAVEN, id="maven", marks=pytest.mark.index),
    ],
)
def test_a_broken_line_brings_what_the_compiler_says_and_mending_it_resolves_just_that(
    sample: Sample, tmp_path: Path
) -> None:
    if shutil.which(sample.needs) is None:
        pytest.skip(f"there is no {sample.needs} here")
    project = Project(tmp_path, sample)
    _, right, wrong = sample.breaking
    assert project.build() == 0
    project.replace(right, wrong)
    assert project.build() != 0
    project.replace(wrong, right)
    assert project.build() == 0
    broken, mended = project.diff(1, 2)["diagnostics"], project.diff(2, 3)["diagnostics"]
    assert read(broken["new"], sample.complaints) == sample.complaints
    assert "resolved" not in broken
    assert mended == {"resolved": broken["new"]}
    assert project.diff(1, 3)["identical"] is True
