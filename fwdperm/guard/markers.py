"""Which paths are sensitive, to read and to write.

Lives here: the tables of markers and the one look-up. Never here: what a program does with a path. The markers stay on
this machine: they are never shown to a model.

Matched without letter case on the absolute, normal path; a backslash counts as a slash. A marker that goes by a word
in a name (`secret`, `token`) leaves source files and documents alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from fwdperm.guard.places import wildcard_pattern
from fwdperm.rules import MeetingIndex, Wildcard

_DEEPEST: Final = 32
"""Directories of a glob that are looked at as the place of a secret."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One kind of sensitive path.

    Attributes:
        id: Stable name.
        reason: Why, in words.
        patterns: Wildcards over absolute paths (`*` crosses slashes).
        critical: True where touching it is a catastrophe by itself: nobody but a recorded exact rule may allow it.
        by_name: True when it goes by a word in the name, and source files and documents are exempt.
    """

    id: str
    reason: str
    patterns: tuple[str, ...]
    critical: bool = False
    by_name: bool = False


def _p(text: str) -> tuple[str, ...]:
    return tuple(text.split())


READ: Final = (
    Marker(
        "private-key",
        "a private key",
        _p(
            "*/.ssh/id_* */.ssh/*.pem */.ssh/*_rsa */.ssh/*_ed25519 */.ssh/*_ecdsa */.ssh/identity "
            "/etc/ssh/ssh_host_*_key */.gnupg/private-keys* */.gnupg/secring*"
        ),
    ),
    Marker(
        "credentials",
        "stored credentials",
        _p(
            "*/.aws/credentials */.netrc */_netrc */.git-credentials */.pgpass */.my.cnf */.kube/config "
            "*/.config/gcloud/*credential* */.config/gcloud/access_tokens.db */application_default_credentials.json "
            "*/.azure/*token* */.azure/msal_token_cache* */.password-store/* */.local/share/keyrings/* "
            "*/library/keychains/* */.config/gh/hosts.yml */.vault-token */.terraform.d/credentials* "
            "*/.docker/config.json"
        ),
    ),
    Marker(
        "password-hashes",
        "the machine's password hashes",
        _p(
            "/etc/shadow /etc/shadow- /etc/shadow~ /etc/gshadow /etc/gshadow- /etc/master.passwd "
            "*/etc/shadow /etc/security/opasswd"
        ),
    ),
    Marker(
        "env-file",
        "an environment file with secrets",
        _p("*/.env */.env.* */.envrc */*.env */.env-* */.env_* */.flaskenv */.dev.vars"),
    ),
    Marker(
        "secret-directory",
        "a directory that holds keys or tokens",
        _p(
            "*/.ssh */.ssh/* */.gnupg */.gnupg/* */.aws */.aws/* */.azure */.azure/* */.kube */.kube/* */.docker "
            "*/.docker/* */.config/gcloud */.config/gcloud/* */.config/gh */.config/gh/* "
            "*/.password-store */.config/op/* "
            "*/.config/hub */.config/rclone/* */.oci/* */.config/doctl/* */.fly/* */.heroku/* */.config/netlify/* "
            "/etc/ssl/private /etc/ssl/private/* /var/run/secrets/* /run/secrets/* "
            "/etc/kubernetes/*.conf /etc/wireguard/* "
            "*/keychains/* */keyrings/* */.electrum/* */.bitcoin/* */.ethereum/keystore/* "
            "*/.claude/.credentials* */.codex/auth*"
        ),
    ),
    Marker(
        "key-file",
        "a key or certificate store",
        _p(
            "*/id_rsa */id_dsa */id_ecdsa */id_ed25519 */id_rsa.* */id_ed25519.* *.pem *.key *.p12 "
            "*.pfx *.jks *.keystore *.ppk *.kdbx "
            "*.kdb *.asc *.gpg *.age *.p8 *.agekey */.vault_pass* */master.key *.ovpn *.tfstate "
            "*.tfstate.backup *.tfvars"
        ),
    ),
    Marker(
        "token-file",
        "a tool's stored token",
        _p(
            "*/.npmrc */.yarnrc */.yarnrc.yml */.pypirc */.gem/credentials */.cargo/credentials* */.composer/auth.json "
            "*/.m2/settings.xml */.gradle/gradle.properties */.s3cfg */.boto */.htpasswd */.dockercfg */.mysql_history "
            "*/.config/pip/pip.conf */.pip/pip.conf */nuget.config */.terraformrc */.databrickscfg "
            "*/.snowsql/config */auth.json "
            "*/wp-config.php */.git/config */.gitconfig.local */.git/credentials"
        ),
    ),
    Marker(
        "named-secret",
        "named as a secret",
        _p(
            "*/secrets.* */secret.* */*secret* */*credential* */secrets/* */.secrets/* */*token.* "
            "*/*tokens.* */*apikey* "
            "*/*api_key* */*api-key* */*private_key* */*private-key* */*privatekey* */*password* "
            "*/*passwd* */service-account*.json "
            "*/service_account*.json */*serviceaccount*.json */htpasswd"
        ),
        by_name=True,
    ),
    Marker(
        "process-memory",
        "another process's environment or memory, or a raw disk",
        _p(
            "/proc/*/environ /proc/*/mem /proc/*/maps /proc/*/cmdline /proc/*/fd/* /proc/kcore "
            "/dev/mem /dev/kmem /dev/sd* /dev/nvme* /dev/vd* /dev/disk* /dev/mapper/* /dev/dm-* "
            "/proc/*/root/* /proc/*/cwd/* /proc/*/task/*"
        ),
    ),
    Marker(
        "history",
        "a shell's or program's history, where secrets are typed",
        _p("*/.*_history */.*history */.histfile */fish_history */.local/share/fish/* */.lesshst"),
    ),
    Marker(
        "browser-profile",
        "a browser's or mail program's profile",
        _p(
            "*/.mozilla/* */.config/google-chrome/* */.config/chromium/* */.config/brave* "
            "*/.thunderbird/* */library/cookies/* "
            "*/application?support/google/chrome/* */application?support/firefox/* */cookies.sqlite "
            "*/login?data */logins.json */key4.db"
        ),
    ),
    Marker(
        "system-secrets",
        "system configuration with secrets",
        _p("/etc/sudoers /etc/sudoers.d/* /etc/passwd- /etc/krb5.keytab *.keytab"),
    ),
)
"""Paths that no model may let an agent read."""

PUBLIC: Final = _p(
    "*.pub *.example *.sample *.template *.dist */.env.test.example */.env.defaults */.env.schema */.ssh/known_hosts"
    " */.env.example.* */*.env.example */*.env.sample */*.env.template"
)
"""Paths that look sensitive to read and are not."""

WRITE: Final = (
    Marker(
        "login-keys",
        "who may log in",
        _p("*/.ssh/authorized_keys* */.ssh/rc /etc/ssh/sshd_config* */.rhosts */.shosts"),
        critical=True,
    ),
    Marker(
        "shell-profile",
        "a shell profile: runs at every login",
        _p(
            "*/.bashrc */.bash_profile */.bash_login */.bash_logout */.bash_aliases */.profile "
            "*/.zshrc */.zshenv */.zprofile "
            "*/.zlogin */.zlogout */.kshrc */.cshrc */.tcshrc */.config/fish/config.fish "
            "*/.config/fish/conf.d/* */.inputrc"
        ),
    ),
    Marker(
        "accounts",
        "who may log in and as whom, or what every program loads",
        _p(
            "/etc/passwd* /etc/shadow* /etc/gshadow* /etc/group* /etc/sudoers /etc/sudoers.d/* /etc/pam.d/* "
            "/etc/ld.so.preload /etc/security/*"
        ),
        critical=True,
    ),
    Marker(
        "system-file",
        "a file of the operating system",
        _p(
            "/etc/* /usr/bin/* /usr/sbin/* /usr/lib/* /usr/lib64/* /usr/libexec/* /bin/* /sbin/* "
            "/lib/* /lib64/* /boot/* /sys/* "
            "/proc/sysrq-trigger /proc/sys/* /var/spool/cron/* /system/* /library/launchdaemons/* "
            "/library/launchagents/*"
        ),
    ),
    Marker(
        "git-internals",
        "inside a git directory: hooks and settings there run programs",
        _p(
            "*/.git */.git/* */.gitmodules */.gitconfig */.config/git/* */.githooks/* "
            "*/.gitattributes *.git/hooks/* *.git/config"
        ),
    ),
    Marker(
        "ci",
        "a pipeline definition: runs with the repository's secrets",
        _p(
            "*/.github/* */.gitlab-ci.y*ml */.gitlab/* */.circleci/* */jenkinsfile* */.travis.y*ml "
            "*/azure-pipelines* */.drone.y*ml "
            "*/.buildkite/* */bitbucket-pipelines* */.woodpecker* */appveyor* */.forgejo/* "
            "*/.gitea/* */.ci/* */cloudbuild.y*ml */.teamcity/* */buildspec.y*ml"
        ),
    ),
    Marker(
        "editor-tasks",
        "an editor's tasks and settings: run when the folder is opened",
        _p(
            "*/.vscode/* */.idea/* */.fleet/* */.zed/* */.devcontainer/* */.devcontainer.json "
            "*/*.code-workspace */.vim/* */.vimrc */.nvimrc */.exrc */.config/nvim/* */.emacs* "
            "*/.dir-locals.el */.editorconfig */.nvim.lua"
        ),
    ),
    Marker(
        "hooks",
        "a hook: runs at the next commit or push",
        _p(
            "*/.husky/* */.husky */.pre-commit-config.y*ml */.pre-commit-hooks.y*ml */lefthook.y*ml "
            "*/.lefthook* */.lintstagedrc* */.overcommit* */githooks/* */git-hooks/* */.direnv/* "
            "*/.envrc */.mise.toml */mise.toml */.tool-versions"
        ),
    ),
    Marker(
        "agent-settings",
        "an agent's own settings or standing instructions",
        _p(
            "*/.claude/* */.claude.json */.codex/* */.cursor/* */.cursorrules */.opencode/* "
            "*/opencode.json* */.gemini/* */.pi/* */.windsurf* "
            "*/.aider* */.continue/* */.cline* */.roo* */.copilot/* */copilot-instructions.md "
            "*/agents.md */claude.md */gemini.md "
            "*/claude.local.md */skill.md */.mcp.json */mcp.json */.agents/* */.amp/* */.goose* "
            "*/.kiro/* */.junie/* */.config/opencode/*"
        ),
    ),
    Marker(
        "autostart",
        "starts by itself later",
        _p(
            "*/.config/autostart/* */.config/systemd/* */systemd/system/* */systemd/user/* "
            "*/launchagents/* */.xinitrc */.xprofile */.xsession* */.xsessionrc */.pam_environment "
            "*/.config/environment.d/* */.local/share/applications/* */.local/bin/* */bin/activate* "
            "*/.pythonrc* */sitecustomize.py */usercustomize.py *.pth */.tmux.conf */.config/kitty/* "
            "*/.config/alacritty/*"
        ),
    ),
    Marker(
        "tool-settings",
        "settings that make a tool run or trust something else",
        _p(
            "*/.npmrc */.yarnrc* */.pnpmfile.cjs */.pypirc */pip.conf */.config/pip/* "
            "*/.cargo/config* */.docker/* */.kube/* */.aws/* */.ssh/* */.ssh */.gnupg/* */.netrc "
            "*/.curlrc */.wgetrc */.gemrc */.m2/* */.gradle/* */.bazelrc */.yarn/* */nuget.config"
        ),
    ),
)
"""Paths that no model may let an agent write."""

_SOURCE: Final = re.compile(
    r"\.(?:py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|vue|svelte|rs|go|java|kt|kts|scala|c|h|cc|cpp|"
    r"hpp|cs|fs|rb|php|swift|m|ex|exs|erl|hs|ml|lua|dart|sql|md|mdx|rst|adoc|html|css|scss|"
    r"less|svg|proto|graphql)$"
)
"""The ending of a source or a document, which a marker by name leaves alone: `token_test.go` is read like any
source."""


@dataclass(frozen=True, slots=True)
class _Matcher:
    markers: tuple[Marker, ...]
    hint: re.Pattern[str]
    compiled: tuple[re.Pattern[str], ...]
    anything: re.Pattern[str]


def _needle(pattern: str) -> str:
    """Pick a piece that every path (and every way to type it) the pattern matches must contain."""
    pieces = [piece for piece in re.split(r"[*?/]+", pattern) if piece]
    return re.escape(max(pieces, key=len))


def _matcher(markers: tuple[Marker, ...]) -> _Matcher:
    compiled = tuple(
        re.compile("|".join(f"(?:{wildcard_pattern(p)})" for p in m.patterns) or r"(?!)", re.DOTALL) for m in markers
    )
    needles = sorted({_needle(pattern) for marker in markers for pattern in marker.patterns})
    both = re.compile("|".join(f"(?:{c.pattern})" for c in compiled), re.DOTALL)
    return _Matcher(markers, re.compile("|".join(needles)), compiled, both)


_READ: Final = _matcher(READ)
_WRITE: Final = _matcher(WRITE)
_PUBLIC: Final = re.compile("|".join(wildcard_pattern(pattern) for pattern in PUBLIC), re.DOTALL)
"""Every path that a marker would take and that holds no secret: `/w/.env.example`."""
_READ_HINT: Final = _READ.hint


def may_hold_secret_path(text: str) -> bool:
    """Say whether `text` could name a path of `READ` at all; False is certain, and saves looking closer."""
    return _READ_HINT.search(text.lower()) is not None or "\\" in text


@lru_cache(maxsize=2048)
def sensitive_to_read(path: str) -> Marker | None:
    """Find the marker that makes an absolute path sensitive to read, the gravest first; None when there is none."""
    folded = path.replace("\\", "/").lower()
    while "//" in folded:
        folded = folded.replace("//", "/")
    if not _READ.hint.search(folded) or not _READ.anything.fullmatch(folded) or _PUBLIC.fullmatch(folded):
        return None
    return _first(_READ, folded)


@lru_cache(maxsize=2048)
def sensitive_to_write(path: str) -> Marker | None:
    """Find the marker that makes an absolute path sensitive to write, the gravest first; None when there is none."""
    folded = path.replace("\\", "/").lower()
    while "//" in folded:
        folded = folded.replace("//", "/")
    return _first(_WRITE, folded) if _WRITE.hint.search(folded) and _WRITE.anything.fullmatch(folded) else None


@lru_cache(maxsize=512)
def may_stand_for_secret(pattern: str, home: str, cwd: str) -> bool:
    """Say whether an absolute pattern of file names may stand for a path of `READ` at home, here or in the system."""
    stem = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    shape = pattern.lower()
    for marker in READ:
        for secret in () if marker.by_name else marker.patterns:
            tail = secret.replace("*", "x") if secret[0] == "/" else secret.lstrip("*").replace("*", "x")
            roots = ("",) if secret[0] == "/" else tuple(root for root in (home, cwd) if root)
            for path in (root.lower() + tail for root in roots):
                hidden = stem.endswith("/") and path[len(stem) : len(stem) + 1] == "."
                if path.startswith(stem.lower()) and not hidden and fnmatchcase(path, shape):
                    return True
    return False


@lru_cache(maxsize=512)
def may_reach_secret(pattern: str) -> bool:
    """Say whether an absolute glob of a search tool may stand for a usual path of `READ`, hidden ones included.

    Args:
        pattern: With `*`, `?`, `[...]` inside a name, and `**` over any number of directories.
    """
    shape = re.compile(_search_shape(pattern.lower()), re.DOTALL)
    parts = re.sub(r"\*+|\?|\[[^]/]*\]", "x", pattern.lower()).split("/")[:-1]
    above = ["/".join(parts[:size]) for size in range(1, min(len(parts), _DEEPEST) + 1)]
    for marker in READ:
        for secret in () if marker.by_name else marker.patterns:
            tail = secret.lstrip("*").replace("*", "x")
            usual = tail if tail.startswith("/") else f"/x{tail}"
            if any(shape.fullmatch(base + usual) for base in ([""] if secret[0] == "/" else above)):
                return True
    return False


def _search_shape(pattern: str) -> str:
    """Translate a search tool's glob into a regular expression; a bracket stands for any one character."""
    shapes = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*+/|\*+|\?|\[[^]/]+\])", pattern)
    return "".join(
        re.escape(piece) if at % 2 == 0 else "[^/]" if piece[0] == "[" else shapes[re.sub(r"\*{3,}", "**", piece)]
        for at, piece in enumerate(pieces)
    )


@lru_cache(maxsize=64)
def _meetings(patterns: tuple[str, ...], home: str) -> MeetingIndex:
    return MeetingIndex((at, Wildcard(each.lower(), home=home.lower()).globs) for at, each in enumerate(patterns))


def may_meet_configured(path: str, patterns: tuple[str, ...], home: str, cwd: str) -> bool:
    """Say whether an absolute glob of a search tool may stand for a path that one of the operator's patterns covers."""
    index = _meetings(patterns, home)
    forms = [path.lower()]
    for start, short in ((home, "~/"), (cwd, "")):
        if start and path.startswith(start.rstrip("/") + "/"):
            forms.append(short + path[len(start.rstrip("/")) + 1 :].lower())
    return any(index.meeting(form, deep=True) for form in forms)


def _first(matcher: _Matcher, folded: str) -> Marker | None:
    for marker, pattern in zip(matcher.markers, matcher.compiled, strict=True):
        if pattern.fullmatch(folded) and not (marker.by_name and _SOURCE.search(folded)):
            return marker
    return None


@lru_cache(maxsize=2048)
def matches_configured(path: str, patterns: tuple[str, ...], home: str, cwd: str) -> str:
    """Find the operator's pattern that covers a path, in its absolute, `~` or relative form; empty when none does."""
    forms = [path]
    if home and (path == home or path.startswith(home + "/")):
        forms.append("~" + path[len(home) :])
    if cwd and path.startswith(cwd.rstrip("/") + "/"):
        forms.append(path[len(cwd.rstrip("/")) + 1 :])
    for pattern in patterns:
        compiled = _wildcard(pattern)
        if any(compiled.fullmatch(form.lower()) for form in forms):
            return pattern
    return ""


@lru_cache(maxsize=1024)
def _wildcard(pattern: str) -> re.Pattern[str]:
    return re.compile(wildcard_pattern(pattern.lower()), re.DOTALL)
