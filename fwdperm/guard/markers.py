"""Markers: the patterns of paths that are sensitive to read or to write.

Lives here: the tables. Never here: how a path is matched (`sensitive_paths.py`), what a program does with it. The
markers stay on this machine: they are never shown to a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


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
