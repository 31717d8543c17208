"""The kinds of program that other rooms speak of.

Lives here: the names of families and what belonging to one means. Never here: who belongs to which; a program's page
says that.
"""

from __future__ import annotations

from typing import Final

FAMILIES: Final[dict[str, str]] = {
    "shell": "runs its standard input, a script or `-c` text as shell code",
    "interpreter": "runs its standard input or a script as code of its own language; every shell too",
    "downloader": "brings data in from the network",
    "sender": "can carry data out to the network",
    "bulk sender": "sends whole directories",
    "remote shell": "gives or takes a shell on another machine",
    "secret store": "shows stored secrets, with the right words",
    "database client": "takes SQL in its words or its input",
    "looker": "only looks at what it is given, so that a user's rule may let a search run it",
    "lister": "shows names, sizes or kinds, never contents",
    "printer": "prints its own words",
    "reader": "would show or copy the contents of a file it names",
    "writer": "changes a file it names",
    "changer": "may change a file it names, depending on how it is used",
    "archiver": "packs whole directories",
    "digester": "shows a count, a sum or a kind, and no contents",
    "rewriter": "may rewrite the sources it is given",
    "tree reader": "takes directories, and shows little of what it reads in them",
    "remover": "removes files or directories",
    "editor": "changes files as a person types, and can run programs",
    "script runner": "runs what a project's own file names",
    "argument runner": "runs whatever its arguments say",
    "package manager": "installs or publishes packages",
    "environment": "shows or sets variables of the environment",
    "text runner": "runs text or a file in the shell that is there",
    "evaluator": "a builtin of the shell whose words may hold code",
    "assigner": "a builtin of the shell that takes assignments as words",
    "builtin": "is part of the shell itself",
    "search": "searches the contents of files",
    "version control": "keeps the history of a project",
    "container": "runs or manages containers",
    "cluster": "manages a cluster of machines",
    "cloud": "manages resources of a cloud",
    "infrastructure": "changes live infrastructure from a description",
    "forge": "acts on a forge in the user's name",
    "compiler": "makes programs from sources",
    "test runner": "runs a project's tests",
    "linter": "checks sources",
    "pager": "shows text a screen at a time, and can run programs",
    "awk": "reads text by a program of its own in its first operand",
    "sed": "edits text by a script in its first operand",
    "service manager": "starts and stops services",
}
"""Every family, with what belonging to it means."""
