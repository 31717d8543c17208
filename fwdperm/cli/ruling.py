"""`fwdperm init`, `trust`, `check`: writing and looking after rulesets.

Lives here: three commands. Never here: what a rule means.
"""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import Annotated

import typer

from fwdperm.cli.common import AsJson, ConfigOption, Exit, Locations, Quiet, Root, counted, emit, fail, say, tell
from fwdperm.errors import EnvironmentFailure
from fwdperm.rules import PROJECT_SETTINGS, LayerKind, Problem, Severity, TrustStore, read_config

STARTER = """\
# fwdperm: what subagents may do without asking you.
#
# Within one surface the LAST rule that matches wins, so write the general first and the special after it.
# `*` is any run of characters, `?` exactly one; a trailing ` *` also matches the bare command.
# A command line is taken apart: every command in it must be allowed, wherever it hides.
# Try it: fwdperm explain --surface bash --value 'git status && rm -rf build'

# What happens to questions while nobody is there to answer: "hold" waits for the deadline, "reject" denies at once.
unattended = "hold"

[rules]
"*" = "ask"                      # whatever no rule below covers reaches you

[rules.bash]                     # what only looks; a pattern that ends in ` *` allows every option, so few do
"pwd" = "allow"
"ls *" = "allow"
"git status *" = "allow"
"git branch" = "allow"
"git diff" = "allow"
"git diff --stat" = "allow"
"git log --oneline" = "allow"
"git log --oneline -??" = "allow"
"git push *" = "ask"
"git push --force *" = { action = "deny", reason = "open a pull request instead" }
"sudo *" = { action = "deny", reason = "nothing here needs root" }

[rules.path_read]                # what commands and tools read; speaks only when a rule matches
"*.env" = "deny"
"~/.ssh/*" = "deny"

[rules.external_directory]       # anything outside the requester's own directory
"*" = "ask"

# What may be written without asking. Mind that instructions and settings of agents are files too.
# [rules.write]
# "src/*.py" = "allow"

# Rules for one agent; they stand behind the rules above. A name that is only claimed can narrow, never widen.
# [agents.reviewer.rules.write]
# "*" = "deny"
"""


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("init", short_help="Write a commented starter ruleset.")(init_command)
    app.command("trust", short_help="Let a project's ruleset allow, while its content stays.")(trust_command)
    app.command("check", short_help="Say what is wrong or doubtful in a ruleset.")(check_command)


def init_command(config: ConfigOption = None, root: Root = None, quiet: Quiet = False) -> None:
    """Write a commented starter ruleset, and say what to do next. Never overwrites one."""
    setting = Locations.of(root, config)
    path = setting.config
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(STARTER)
        path.chmod(0o600)
    except FileExistsError:
        fail(f"`{path}` exists and was left as it is; edit it, then run `fwdperm check`", Exit.USAGE)
    except OSError as error:
        fail(f"cannot write `{path}`: {error.strerror}", Exit.INTERNAL)
    say(str(path))
    named = f" --config {shlex.quote(str(config))}" if config else ""
    tell(
        f"wrote `{path}`; read it and make it yours",
        f"next: `fwdperm serve{named}` in a terminal of its own, then in another:",
        "      fwdperm ask --surface bash --value 'git status'",
        quiet=quiet,
    )


def trust_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A project's ruleset that you have read.")],
    revoke: Annotated[bool, typer.Option("--revoke", help="Take the trust back.")] = False,
    root: Root = None,
    quiet: Quiet = False,
) -> None:
    """Let a project's ruleset allow, as long as its content stays exactly as it is now."""
    setting = Locations.of(root)
    store = TrustStore(setting.state / "trust.json")
    try:
        if revoke:
            known = store.revoke(file)
            tell(f"`{file}` is not trusted {'any more' if known else 'and was not before'}", quiet=quiet)
            return
        content = file.read_bytes()
        problems = read_config(content, file=str(file), kind=LayerKind.PROJECT, settings=PROJECT_SETTINGS).problems
        errors = [problem for problem in problems if problem.severity is Severity.ERROR]
        if errors:
            tell(*map(str, errors))
            fail("a ruleset with errors is not trusted", Exit.CONFIG)
        store.trust(file, digest=hashlib.sha256(content).hexdigest())
    except OSError as error:
        fail(f"cannot read `{file}`: {error.strerror}", Exit.USAGE)
    except EnvironmentFailure as error:
        fail(str(error), Exit.INTERNAL)
    tell(f"trusted `{file}` as it is now; any edit takes that back", quiet=quiet)


def check_command(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="A ruleset (default: the user's).")] = None,
    config: ConfigOption = None,
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say what is wrong or doubtful in a ruleset, with file and line. Exit 3 when a daemon would not start with it."""
    from fwdperm.policy import read_settings  # noqa: PLC0415 - only here
    from fwdperm.rules import lint_rules  # noqa: PLC0415 - only here

    path = file or Locations.of(root, config).config
    try:
        read = read_config(path.read_bytes(), file=str(path), kind=LayerKind.USER)
    except OSError as error:
        then = "; `fwdperm init` writes a starter" if file is None and isinstance(error, FileNotFoundError) else ""
        fail(f"cannot read `{path}`: {error.strerror}{then}", Exit.CONFIG)
    _, wrong = read_settings(read)
    layers = (read.layer, *(section.layer for section in read.agents.values()))
    doubtful = lint_rules(layers)
    problems: list[Problem] = [*read.problems, *wrong, *doubtful]
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if as_json:
        rows = [
            {"file": one.file, "line": one.line, "severity": str(one.severity), "message": one.message}
            | ({"remedy": one.remedy} if one.remedy else {})
            for one in problems
        ]
        emit("check", {"problems": rows, "loads": not errors})
    else:
        say(*(f"{one.severity}: {one}" for one in problems))
        rules = sum(len(layer.rules) for layer in layers)
        doubts = counted(len(problems) - len(errors), "warning")
        tell(f"{counted(rules, 'rule')}, {counted(len(errors), 'error')}, {doubts}", quiet=quiet)
    raise typer.Exit(Exit.CONFIG if errors else Exit.OK)
