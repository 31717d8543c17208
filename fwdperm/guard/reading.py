"""Which files of the workspace are ordinary to read: sources, documents, and data that no secret is known to live in.

Lives here: the allow list of endings and names, and how strictly a use is held to it. Never here: which paths are
sensitive wherever they stand (`markers.py`); those are off before this list is asked.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from fwdperm.guard.self_protection import is_own
from fwdperm.guard.sensitive_paths import matches_configured
from fwdperm.guard.writing import DATA_DIRECTORIES, DATA_ENDINGS, ENDINGS, below

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location


def _f(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Exposure(StrEnum):
    """How much of a file a use shows, least first."""

    NAME = "its name"
    DIGEST = "a count or a sum of it"
    MAYBE_TREE = "its contents, unless it is a directory or a revision"
    CONTENT = "its contents"


READ_ENDINGS: Final = ENDINGS | _f(
    "sh bash zsh fish ps1 bat cmd mk cmake gradle kts sbt bazel bzl nix tf hcl tpl tmpl mustache hbs ejs erb haml "
    "slim pug sass styl astro patch diff bib sty org wiki textile png jpg jpeg gif webp ico bmp pdf woff woff2 "
    "ttf asm s f90 f jl r pl pm t zig nim v sv vhd cr clj cljs edn groovy gemspec rake podspec csproj fsproj sln "
    "props targets sum mod work typed in pyx pxd pxi cu cl glsl frag vert wgsl sol d pas ada cob abap coffee bnf "
    "ebnf g4 y l avsc thrift fbs capnp lock log cfg conf properties json5 jsonl jsonc ndjson map plist "
    "entitlements example sample template pub"
)
"""Endings that may be read: those of sources, documents, build files, pictures, logs."""
SHY_ENDINGS: Final = DATA_ENDINGS | _f(
    "cfg conf properties json5 jsonl jsonc ndjson txt csv tsv sql log plist hcl tf lock"
)
"""Endings of data, in which people also keep secrets: only where no part of the path says so."""
READ_NAMES: Final = _f(
    "readme license licence copying notice authors contributors maintainers changelog changes news history todo "
    "install makefile gnumakefile dockerfile containerfile jenkinsfile procfile rakefile gemfile guardfile "
    "vagrantfile brewfile justfile codeowners version pipfile build workspace podfile fastfile cartfile caddyfile "
    "tiltfile earthfile sconstruct sconscript wscript configure gradlew mvnw manifest patents dco dune .gitignore "
    ".gitattributes .gitmodules .gitkeep .keep .mailmap .editorconfig .dockerignore .npmignore .eslintignore "
    ".prettierignore .eslintrc .prettierrc .stylelintrc .babelrc .swcrc .browserslistrc .nycrc .nvmrc "
    ".node-version .python-version .ruby-version .tool-versions .flake8 .coveragerc .pylintrc .rspec "
    ".clang-format .clang-tidy .cursorrules .luacheckrc .jshintrc .yamllint .markdownlintrc .hgignore .helmignore "
    ".rgignore .ignore .fdignore"
)
"""Names without an ending that may be read."""
READ_HIDDEN_DIRECTORIES: Final = _f(
    ".github .gitlab .circleci .vscode .husky .storybook .changeset .devcontainer .idea .buildkite .forgejo .gitea"
)
"""Hidden directories whose data files may be read; sources and documents may be read below any."""
PUBLIC_ENDINGS: Final = _f("example sample template dist pub")
SECRET_WORDS: Final = _f(
    "secret secrets token tokens key keys credential credentials cred creds password passwords passwd pass pw "
    "shadow kubeconfig kube vault private cert certs wallet htpasswd oauth prod production staging stage live env "
    "envs adminsdk sops appsettings local database databases db connection connections connectionstrings account "
    "accounts service admin dump dumps backup backups customer customers users people payroll billing payment "
    "payments session sessions cookie cookies login logins auth signing license-key tfvars group host inventory "
    "secretsmanager age pgp"
)
"""Words in the path of a data file that say what may be in it."""
_KEY_LIKE: Final = _f(
    "key keys token tokens secret secrets credential credentials creds password passwords passwd kubeconfig "
    "shadow htpasswd rsa ed25519 ecdsa dsa env"
)
"""Last words of a name without a known ending that say it is a key and no directory."""
_CUT: Final = re.compile(r"[^a-z0-9]+")
"""What separates the words of a path: `my-secret_file.txt` has four."""


def why_not_readable(path: str, location: Location, *, look: Exposure = Exposure.CONTENT) -> str:
    """Say why reading an absolute path is not routine; empty when it is.

    Args:
        path: Absolute and normal; empty when unknown.
        location: Where the request stands.
        look: How much of it is shown.

    Returns:
        The reason in words. What is not recognised has one.
    """
    if not path or not location.is_inside(path):
        return "outside the workspace"
    around = location.surroundings
    if is_own(path, around.own, around.workspaces):
        return "belongs to this permission system"
    if look is Exposure.NAME:
        return ""
    marker = location.read_marker(path)
    if marker:
        return marker.reason
    if around.sensitive_read and matches_configured(path, around.sensitive_read, location.home, location.cwd):
        return "configured as sensitive"
    return "" if look is Exposure.DIGEST else _why_not_ordinary(below(path, location), look)


def _why_not_ordinary(typed: list[str], look: Exposure) -> str:
    if not typed:
        return "" if look is Exposure.MAYBE_TREE else "the workspace itself"
    parts = [part.lower() for part in typed]
    name = parts[-1]
    stem, _, ending = name.rpartition(".")
    if name in READ_NAMES or name.startswith(("dockerfile.", "makefile.", "readme.", "license")):
        return ""
    if ending in PUBLIC_ENDINGS and stem:
        return ""
    if ending in READ_ENDINGS and ending not in SHY_ENDINGS and stem:
        return ""
    if ending in SHY_ENDINGS and stem:
        return _why_shy(parts)
    if look is Exposure.CONTENT:
        return "not a source, a document or known data by its name"
    words = [word for word in _CUT.split(name) if word]
    if name[:1] == "." and name not in READ_HIDDEN_DIRECTORIES and name.strip("."):
        return "hidden, and not known by its name"
    return "named like a key" if words and words[-1] in _KEY_LIKE else ""


def _why_shy(parts: list[str]) -> str:
    for part in parts[:-1]:
        if part[:1] == "." and part not in READ_HIDDEN_DIRECTORIES:
            return "data in a hidden directory"
    if any(part in DATA_DIRECTORIES for part in parts[:-1]):
        return ""
    for part in parts:
        for word in _CUT.split(part):
            if word in SECRET_WORDS:
                return f"data that `{word}` in its path says may be secret"
    return ""
