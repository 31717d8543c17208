"""Which files of the workspace are ordinary to write: sources, documents, tests.

Lives here: the allow list of endings, and what stays off it because something runs it later. Never here: paths that
are dangerous to write (`markers.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.self_protection import is_named_like_us, is_own
from fwdperm.guard.sensitive_paths import matches_configured, sensitive_to_read, sensitive_to_write

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location


def _f(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENDINGS: Final = _f(
    "py pyi js jsx mjs cjs ts tsx vue svelte rs go java kt scala c h cc cpp hpp cs fs rb php "
    "swift m ex exs erl hs ml lua dart "
    "sql md mdx rst adoc txt html css scss less svg graphql proto csv tsv tex po jinja j2 snap ipynb "
    "png jpg jpeg gif webp bmp ico pdf"
)
"""Endings of sources and documents."""
INERT_ENDINGS: Final = _f("pdf png jpg jpeg gif webp bmp ico tif tiff log")
"""Endings of documents, pictures and logs that nothing runs and nothing obeys: as ordinary to write as a text."""
DATA_ENDINGS: Final = _f("json yaml yml toml xml ini")
"""Endings of data, ordinary only below one of `DATA_DIRECTORIES`."""
DATA_DIRECTORIES: Final = _f(
    "fixtures testdata test-data __fixtures__ __snapshots__ snapshots goldens golden locales i18n"
)

RUN_LATER: Final = _f(
    "conftest.py setup.py noxfile.py tasks.py fabfile.py sitecustomize.py usercustomize.py "
    "manage.py wsgi.py asgi.py build.rs "
    "dodo.py sconstruct sconscript wscript gulpfile.js gruntfile.js rakefile.rb cmakelists.txt constraints.txt mix.exs "
    "build.sbt package.swift podfile.rb fastfile.rb build.gradle.kts settings.gradle.kts setup.ts setup.js robots.txt "
    "agents.md claude.md gemini.md skill.md copilot-instructions.md .cursorrules "
    "conanfile.py hatch_build.py xmake.lua init.lua magefile.go conf.py setup.hs spec_helper.rb rails_helper.rb "
    "test_helper.rb test_helper.exs test-helper.js test_helper.js knexfile.js knexfile.ts ormconfig.js ormconfig.ts "
    "esbuild.js esbuild.mjs codegen.ts truffle-config.js truffle.js setuptests.ts setuptests.js "
    "ember-cli-build.js dangerfile.js dangerfile.ts pavement.py versioneer.py env.rb config.exs runtime.exs "
    "autoload.php bootstrap.php"
)
"""Names that a build, a test run, a tool or an agent executes or obeys by itself."""
_RUN_LATER_SHAPES: Final = re.compile(
    r"(?:.*\.(?:config|conf|setup|rc|workspace)\.(?:js|jsx|mjs|cjs|ts|tsx|py)|"
    r"(?:.*[._-])?(?:setuptests?|globalsetup|global-setup|globalteardown|global-teardown)\.(?:js|mjs|cjs|ts|tsx)|"
    r"requirements.*\.txt|.*-requirements\.txt|\.[^/]*|.*\.d\.lock|.*\.pth)$"
)
"""A file that some tool runs or obeys later, by its name: `vite.config.ts`, `global-setup.js`, `requirements-dev.txt`,
`.npmrc`, `x.pth`."""
FOREIGN_DIRECTORIES: Final = _f(
    "node_modules vendor third_party site-packages dist-packages dist build target out venv "
    "env __pycache__ migrations alembic "
    "requirements scripts bin hooks.d githooks git-hooks deploy deployment infra ops ansible terraform charts helm k8s"
)
"""Directories whose files are somebody else's, made by a tool, or run by one."""


RUN_LATER_TREES: Final = _f("buildsrc build-logic build-tools xtask project tools tool script ci config db")
"""Directories right below a workspace whose files build, test or release the rest."""
_PLAIN_PATH: Final = re.compile(r"[A-Za-z0-9_ ./@+=,()\[\]-]+$")
"""A path of characters that mean the same to every tool that reads it: `src/a b.py`."""


def is_plain_directory(path: str, location: Location) -> str:
    """Say why making this directory is not ordinary; empty when it is."""
    problem = _problem(path, location)
    if problem:
        return problem
    return "hidden directory" if any(part.startswith(".") for part in below(path, location)) else ""


def why_not_ordinary(path: str, location: Location) -> str:
    """Say why writing this file is not ordinary work on a source, document or test; empty when it is.

    Args:
        path: Absolute and normal; empty when unknown.
        location: Where the request stands.
    """
    problem = _problem(path, location)
    if problem:
        return problem
    parts = [part.lower() for part in below(path, location)]
    if not parts:
        return "the workspace itself"
    if any(part.startswith(".") for part in parts):
        return "hidden files are settings"
    if not _PLAIN_PATH.match(path) or any(part != part.strip(" ") or part[0] == "-" for part in parts):
        return "unusual characters in the path"
    name = parts[-1]
    if parts[0] in RUN_LATER_TREES and len(parts) > 1:
        return f"`{parts[0]}` holds what builds or runs the rest"
    foreign = next((part for part in parts[:-1] if part in FOREIGN_DIRECTORIES), "")
    if foreign:
        return f"`{foreign}` holds what tools make or run"
    if name in RUN_LATER or _RUN_LATER_SHAPES.match(name):
        return "something runs or obeys this file later"
    stem, _, ending = name.rpartition(".")
    if stem and (ending in ENDINGS or ending in INERT_ENDINGS):
        return ""
    if stem and ending in DATA_ENDINGS and any(part in DATA_DIRECTORIES for part in parts[:-1]):
        return ""
    return "not a source, a document or a test by its ending"


def why_no_archive(path: str, location: Location) -> str:
    """Say why this is no place for an archive: it must stand where a text might stand; empty when it does.

    Args:
        path: Absolute and normal, with an archive's ending; empty when unknown.
        location: Where the request stands.
    """
    return why_not_ordinary(f"{path}.md" if path else "", location)


def _problem(path: str, location: Location) -> str:
    around = location.surroundings
    if not path or not location.is_inside(path):
        return "outside the workspace"
    if "\\" in path or not path.isascii() or not path.isprintable():
        return "unusual characters in the path"
    if is_own(path, around.own, around.workspaces) or any(
        is_named_like_us("/" + part) for part in below(path, location)
    ):
        return "belongs to this permission system"
    marker = sensitive_to_write(path) or sensitive_to_read(path)
    if marker:
        return marker.reason
    if matches_configured(path, around.sensitive_write, location.home, location.cwd):
        return "configured as sensitive"
    return ""


def below(path: str, location: Location) -> list[str]:
    """Give the components of an absolute path below its workspace; none when it is one, or in none."""
    for root in location.surroundings.workspaces:
        base = root.rstrip("/")
        if path == base or path.startswith(base + "/"):
            return [part for part in path[len(base) :].split("/") if part]
    return []
