# mypy: ignore-errors
"""The task shapes that are run with plain inv and with recording, and must not tell them apart."""

import sys

import invoke
from invoke import Collection, Context, Exit, FailingResponder, Responder, call, task


@task
def prepare(c, clean=False):
    c.run(f"echo prepare clean={clean}")


@task
def tidy(c):
    print("tidy")


@task(pre=[prepare, call(prepare, clean=True)], post=[tidy])
def build(c):
    """Build with tasks before and after."""
    c.run("echo build")


@task(pre=[prepare])
def deduped(c):
    c.run("echo deduped")


@task
def calls_directly(c):
    prepare(c, clean=True)
    prepare(c)


@task(name="renamed", aliases=["other-name"])
def odd_name(c):
    c.run("echo renamed")


@task(iterable=["names"], incrementable=["verbose"], help={"names": "who"})
def arguments(c, target, names=None, verbose=0, flag=False, count=3):
    """Show what came."""
    print(target, names, verbose, flag, count)


@task(autoprint=True)
def returns(c):
    return c.run("echo inner", hide=True).stdout.upper()


@task
def both_streams(c):
    result = c.run("echo out; echo err >&2")
    print([result.stdout, result.stderr, result.exited, result.ok])


@task
def fails(c):
    c.run("echo before; exit 3")
    print("never")


@task
def fails_hidden(c):
    c.run("echo hidden out; echo hidden err >&2; exit 4", hide=True)


@task
def warns(c):
    result = c.run("exit 5", warn=True)
    print("went on", result.exited)


@task
def killed(c):
    c.run("kill -9 $$")


@task
def echoes(c):
    c.run("true", echo=True)
    c.run("true", echo=True, echo_format="running {command}")


@task
def hides_one(c):
    c.run("echo out; echo err >&2", hide="err")


@task
def under_pty(c):
    result = c.run("test -t 1 && echo terminal; echo err >&2", pty=True)
    print(repr(result.stdout), repr(result.stderr))


@task
def asynchronous(c):
    promise = c.run("echo async; exit 0", asynchronous=True)
    print("started")
    print(repr(promise.join().stdout))


@task
def asynchronous_failing(c):
    with c.run("exit 6", asynchronous=True):
        pass


@task
def disowned(c):
    result = c.run("true", disown=True)
    print(result.exited, result.disowned, repr(result.stdout))


@task
def times_out(c):
    c.run("echo begun; sleep 60", timeout=1)


@task
def answers(c):
    result = c.run(
        "printf 'name? '; read name; echo hello $name",
        watchers=[Responder("name\\? ", "ana\n")],
        in_stream=False,
    )
    print(repr(result.stdout))


@task
def answers_in_vain(c):
    c.run(
        "printf 'password: '; read it; echo Sorry; sleep 0.3; exit 1",
        watchers=[FailingResponder("password: ", "x\n", "Sorry")],
        in_stream=False,
    )


@task
def elsewhere(c):
    with c.cd("/"), c.prefix("true"):
        print(c.run("pwd").command)


@task
def environment(c):
    c.run("echo $GREETING", env={"GREETING": "hello"})
    print(sorted(c.run("true", env={"PATH": "/usr/bin:/bin"}, replace_env=True).env))


@task
def dry(c):
    print(c.run("exit 9", dry=True).ok)


@task
def sudoed(c):
    c.sudo("echo as root", password="hunter2-hunter2", in_stream=False)


@task
def into_a_file(c):
    with open("out.txt", "w") as file:
        c.run("echo into the file", out_stream=file)
    print(open("out.txt").read())


@task
def reads_stdin(c):
    c.run("cat")


@task
def module_level_run(c):
    invoke.run("echo from invoke.run")
    Context().run("echo from a fresh context")


@task
def raises(c):
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise ValueError("outer\nsecond line") from error


@task
def exits(c):
    raise Exit("leaving", code=7)


@task
def exits_quietly(c):
    raise Exit()


@task
def leaves(c):
    sys.exit(8)


@task
def leaves_with_text(c):
    sys.exit("a last word")


@task
def interrupted(c):
    raise KeyboardInterrupt


@task
def bad_option(c):
    c.run("true", unknown_option=1)


@task
def bytes_and_colours(c):
    c.run(r"printf '\033[31mred\033[0m \377 caf\303\251\n'")


@task
def much_output(c):
    result = c.run("seq 1 50000", hide=True)
    print(len(result.stdout))


@task
def no_shell(c):
    c.run("true", shell="/no/such/shell")


@task
def counted(c):
    print(tidy.times_called, counted.called)


@task(default=True)
def inside(c):
    c.run(f"echo inside {c.config.get('greeting', 'nothing')}")


nested = Collection("nested")
nested.add_task(inside)
nested.configure({"greeting": "configured"})

twin_one, twin_two = Collection("one"), Collection("two")
for twin in (twin_one, twin_two):

    def body(c):
        """Two tasks of one shape."""
        print("twin")

    twin.add_task(task(body), name="twin")

namespace = Collection.from_module(sys.modules[__name__])
for collection in (nested, twin_one, twin_two):
    namespace.add_collection(collection)
