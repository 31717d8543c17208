"""The kinds of program that other rooms speak of.

Lives here: the names of families and what belonging to one means. Never here: who belongs to which; a program's page
says that.

Most are read by the rooms that analyse commands. Those in `FOR_PEOPLE` decide nothing: they say what a program is to
whoever reads its page or `fwdperm explain --program`.
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
    "web client": "asks servers of the web for something, and can send there",
    "uploads by option": "sends a file only where an option says so",
    "saves by itself": "saves a download under its own name when nothing else is said",
    "file sender": "sends the files it names",
    "remote copier": "copies to and from other machines, named as `host:path`",
    "raw connection": "joins its input and output to a connection",
    "word sender": "carries out only words, not the files it names",
    "command tree": "takes subcommands and names as bare words, never files",
    "repeater": "runs a command once for each of many things",
    "process killer": "ends processes",
    "copier": "writes what it reads to a file it names",
    "bystander": "may name this program's own files without changing them",
    "tool runner": "fetches a tool where it is missing, and runs it",
    "edits in place": "changes the files it reads where an option says so",
    "evaluator": "a builtin of the shell whose words may hold code",
    "assigner": "a builtin of the shell that takes assignments as words",
    "builtin": "is part of the shell itself",
    "reserved word": "is a word of the shell's grammar as well as a program",
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
    "awk program": "reads text by a program of its own in its first operand",
    "sed script": "edits text by a script in its first operand",
    "window": "opens a window, and stays until a person closes it",
    "service manager": "starts and stops services",
}
"""Every family, with what belonging to it means."""

FOR_PEOPLE: Final = frozenset(
    {
        "remote shell",
        "package manager",
        "evaluator",
        "assigner",
        "version control",
        "cluster",
        "cloud",
        "infrastructure",
        "forge",
        "compiler",
        "test runner",
        "linter",
        "pager",
    }
)
"""Families by which nothing is decided: what such a program endangers stands in the dangers and uses of its page."""
