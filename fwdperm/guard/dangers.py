"""What only a person may allow: destructive, secret-exposing, system-wide, privileged, lasting, remote, opaque.

Lives here: the table `DANGERS`, as data, and the look-up. Never here: catastrophes (`critical.py`). What is missing
does not become routine: only the positive list makes that. This table keeps a user's rule from covering it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Peril:
    """One entry.

    Attributes:
        id: Stable id.
        reason: Why, in words.
        programs: Programs it speaks of.
        words: Subcommand words, in this order among the words that are no flags; any one alternative with `|`.
        flags: At least one of these must be present; empty for none needed. A single letter is found in clusters too.
    """

    id: str
    reason: str
    programs: tuple[str, ...]
    words: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def _w(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _d(name: str, reason: str, programs: str, words: str = "", flags: str = "") -> Peril:
    return Peril(f"dangerous.{name}", reason, _w(programs), _w(words), _w(flags))


DANGERS: Final[tuple[Peril, ...]] = (
    # privilege
    _d(
        "privilege",
        "acts as another user",
        "sudo doas su pkexec runuser gosu su-exec sudoedit visudo run0 chroot unshare nsenter",
    ),
    _d(
        "accounts",
        "changes accounts",
        "useradd usermod userdel adduser deluser groupadd groupmod passwd chpasswd chage gpasswd vipw",
    ),
    _d("set-id", "lets a program run as its owner", "chmod", flags="u+s g+s +s 4755 4777 2755 6755 a+s"),
    _d("capabilities", "gives a program privileges", "setcap"),
    # destructive
    _d("remove-tree", "removes directories for good", "rm", flags="-r -R --recursive"),
    _d(
        "destroy-file",
        "overwrites or removes data for good",
        "shred srm wipe dd truncate mkfs fdisk parted wipefs blkdiscard sgdisk unlink",
    ),
    _d("open-permissions", "changes permissions of whole directories", "chmod chown chgrp", flags="-R --recursive"),
    _d(
        "sync-delete",
        "deletes what the source does not have",
        "rsync",
        flags="--delete --delete-after --delete-before --delete-excluded --del --remove-source-files",
    ),
    _d(
        "find-acts",
        "changes, removes or runs something for every file found",
        "find",
        flags="-delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls",
    ),
    _d("git-discard", "throws work away", "git", "reset", "--hard --merge --keep"),
    _d(
        "git-discard",
        "throws work away",
        "git",
        "clean|restore|prune|filter-branch|filter-repo|update-ref|gc|replace|symbolic-ref",
    ),
    _d("git-discard", "throws work away", "git", "checkout|switch", "-f --force -- . --discard-changes"),
    _d("git-discard", "throws work away", "git", "stash drop|clear|pop"),
    _d("git-discard", "throws work away", "git", "branch", "-D -d --delete -M -f --force"),
    _d("git-discard", "throws work away", "git", "tag", "-d --delete -f --force"),
    _d("git-discard", "throws work away", "git", "reflog expire|delete"),
    _d("git-discard", "throws work away", "git", "worktree remove|prune"),
    _d("git-discard", "throws work away", "git", "rm|rebase"),
    # git that runs or publishes
    _d("git-push", "publishes to a shared remote", "git", "push|send-email|send-pack|request-pull"),
    _d(
        "git-settings",
        "git settings can run programs",
        "git",
        flags="--config-env --exec-path --upload-pack --receive-pack --ext-diff --textconv "
        "--open-files-in-pager -O --output --git-dir --work-tree --exec -x",
    ),
    _d(
        "git-settings",
        "git settings can run programs",
        "git",
        "config|init|bisect|difftool|mergetool|submodule|credential|daemon|hook|maintenance|svn|archimport",
    ),
    _d("git-settings", "git settings can run programs", "git", "remote add|set-url|rename|remove|rm"),
    _d("git-clone", "brings foreign code here", "git", "clone"),
    # code from elsewhere
    _d(
        "package-install",
        "installs and may run foreign code",
        "npm pnpm yarn bun",
        "install|i|add|update|upgrade|up|exec|dlx|x|create|init|link",
    ),
    _d(
        "package-install",
        "installs and may run foreign code",
        "pip pip3 pipx uv poetry pdm conda mamba micromamba",
        "install|add|sync|tool|run|update|upgrade|pip|uninstall|remove",
    ),
    _d(
        "package-install",
        "installs and may run foreign code",
        "gem cargo go composer bundle brew luarocks cpan cpanm opam stack cabal nix nix-env "
        "dotnet mix deno rustup nvm pyenv asdf mise",
        "install|add|get|require|update|upgrade|tap|use|global",
    ),
    _d("package-install", "installs and may run foreign code", "npx bunx pnpx uvx pipx easy_install"),
    _d(
        "system-packages",
        "changes the machine's software",
        "apt apt-get aptitude dnf yum zypper pacman apk snap flatpak dpkg rpm port emerge swupd",
        "install|remove|purge|update|upgrade|full-upgrade|dist-upgrade|autoremove|add|del|refresh",
    ),
    _d(
        "system-packages",
        "changes the machine's software",
        "dpkg rpm pacman",
        flags="-i --install -r -P --purge -U -e -S -R",
    ),
    _d(
        "publish",
        "publishes for everybody",
        "npm pnpm yarn bun cargo gem twine poetry uv flit hatch vsce ovsx dotnet helm mvn gradle",
        "publish|upload|push|yank|unpublish|deprecate|owner|dist-tag|access|deploy",
    ),
    _d(
        "package-login",
        "handles a registry's credentials",
        "npm pnpm yarn cargo docker podman gem helm twine",
        "login|adduser|logout|token|whoami|config",
    ),
    # interpreters and opaque code
    _d(
        "inline-code",
        "runs code that stands in the command",
        "python python2 python3 perl ruby node nodejs deno php lua osascript tclsh pypy pypy3 Rscript bun groovy julia",
        flags="-c -e -E -r -p -pe -ne --eval -i",
    ),
    _d(
        "awk-code",
        "awk can run programs and write files",
        "awk gawk mawk nawk",
        flags="-f -i -e --file --include --load -l --exec -E",
    ),
    _d("eval", "runs text that is put together first", "eval source . exec trap alias enable hash bind complete"),
    _d("shell-reads", "a shell reads what it runs", "coproc mapfile readarray"),
    # secrets
    _d("environment", "shows every secret in the environment", "printenv"),
    _d(
        "secret-stores",
        "shows stored secrets",
        "pass op bw vault secret-tool security keyring gopass chamber sops doppler age keyctl ssh-add gpg gpg2 "
        "keybase lpass",
    ),
    _d("secret-tools", "shows stored secrets", "kubectl oc", "get|describe secret|secrets"),
    _d("secret-tools", "shows stored secrets", "aws", "secretsmanager|sts|ssm|iam|kms|configure"),
    _d(
        "secret-tools",
        "shows stored secrets",
        "gcloud az gh glab heroku fly vercel netlify",
        "auth|secret|secrets|login|account|config|config:get|token|env",
    ),
    _d("secret-tools", "shows stored secrets", "docker podman", "inspect|secret|config"),
    # machine
    _d(
        "services",
        "changes services",
        "systemctl service launchctl rc-service update-rc.d chkconfig supervisorctl initctl sv pm2 loginctl",
    ),
    _d("schedules", "starts by itself later", "crontab at batch anacron schtasks atrm systemd-run"),
    _d(
        "firewall",
        "changes the network's protection",
        "iptables ip6tables nft ufw firewall-cmd pfctl ip ifconfig route nmcli tc ebtables",
    ),
    _d(
        "kernel",
        "changes the running system",
        "insmod rmmod modprobe sysctl mount umount swapon swapoff losetup kexec setenforce "
        "aa-disable hostnamectl timedatectl localectl update-grub grub-install bcdedit diskutil",
    ),
    _d("clock", "sets the clock", "date", flags="-s --set"),
    _d("clock", "sets the clock", "hwclock ntpdate"),
    _d("logs", "deletes logs", "journalctl", flags="--vacuum-time --vacuum-size --vacuum-files --rotate --flush"),
    _d("logs", "deletes logs", "dmesg", flags="-C -c --clear --read-clear"),
    _d("logs", "deletes logs", "unset", "HISTFILE|HISTSIZE|HISTFILESIZE|PROMPT_COMMAND"),
    _d("send", "acts on another machine", "rsync", flags="-e --rsh --rsync-path"),
    _d("logs", "deletes logs", "logrotate history wevtutil auditctl"),
    _d("processes", "ends processes", "kill pkill killall skill xkill fuser"),
    _d("debug", "reads another process", "gdb strace ltrace lldb ptrace gcore bpftrace perf dtrace"),
    _d("links", "makes one path mean another", "ln link"),
    # containers, clusters, clouds
    _d(
        "container",
        "runs or removes containers, which can reach the whole host",
        "docker podman nerdctl lxc lxd",
        "run|exec|create|start|build|push|pull|rm|rmi|cp|load|import|commit|prune|kill|stop|volume|network|compose|context|swarm|service|stack|plugin|buildx|save|export",
    ),
    _d(
        "container",
        "runs or removes containers, which can reach the whole host",
        "docker-compose podman-compose systemd-nspawn vagrant virsh qemu-system-x86_64 multipass lima limactl",
    ),
    _d(
        "cluster",
        "changes a shared cluster",
        "kubectl oc",
        "delete|apply|create|replace|patch|edit|scale|rollout|drain|cordon|uncordon|taint|label|annotate|exec|run|expose|set|cp|port-forward|proxy|attach|debug|autoscale|auth|certificate|config",
    ),
    _d(
        "cluster",
        "changes a shared cluster",
        "helm helmfile kustomize flux argocd istioctl k9s kubeadm eksctl kops",
        "",
    ),
    _d(
        "infrastructure",
        "changes live infrastructure",
        "terraform tofu terragrunt pulumi cdk cdktf ansible ansible-playbook packer serverless "
        "sls nomad consul salt puppet chef-client cf",
        "",
    ),
    _d(
        "cloud",
        "changes cloud resources or shows their data",
        "aws gcloud az gsutil bq doctl heroku fly flyctl vercel netlify wrangler firebase "
        "supabase linode-cli oci ibmcloud scw hcloud s3cmd mc rclone",
    ),
    _d(
        "forge",
        "acts on a shared forge in the user's name",
        "gh glab hub tea",
        "create|delete|merge|close|edit|comment|review|release|upload|api|fork|rename|archive|transfer|run|workflow|reopen|sync|lock|gist|ssh-key|gpg-key|extension|alias",
    ),
    # databases
    _d(
        "database",
        "changes a database",
        "alembic flyway liquibase migrate dbmate sqitch goose prisma knex sequelize typeorm rake rails diesel sqlx",
        "downgrade|clean|down|drop|reset|rollback|undo|undo:all|db:drop|db:reset|db:rollback|migrate:reset|migrate:rollback|redo|revert|push",
    ),
    _d(
        "database",
        "changes a database",
        "dropdb createdb dropuser createuser pg_restore mysqladmin mongorestore mysqlimport "
        "pg_dropcluster initdb redis-cli valkey-cli",
    ),
    _d("database-dump", "copies a whole database", "pg_dump pg_dumpall mysqldump mongodump mongoexport"),
    # network
    _d(
        "remote-shell",
        "acts on another machine",
        "ssh mosh autossh sshpass rsh rlogin telnet pssh ssh-copy-id ssh-keygen sshfs tmate",
    ),
    _d(
        "send",
        "sends data out",
        "scp sftp ftp lftp tftp nc ncat netcat socat mail mailx mutt sendmail msmtp swaks croc "
        "wormhole rsync-ssl ngrok cloudflared localtunnel lt bore slackcat sendxmpp",
    ),
    _d(
        "send",
        "sends data out",
        "curl",
        flags="-d -F -T --data --data-raw --data-binary --data-urlencode --data-ascii --form "
        "--form-string --upload-file --json -X --request -K --config -x --proxy --preproxy -u "
        "--user -b --cookie --unix-socket --netrc -n --netrc-file --engine -H --header --resolve "
        "--connect-to --url-query",
    ),
    _d(
        "send",
        "sends data out",
        "wget",
        flags="--post-data --post-file --body-data --body-file --method --header -i --input-file -e "
        "--execute --use-askpass --user --password",
    ),
    _d("send", "sends data out", "http https xh httpie"),
    _d("serve", "opens the machine to the network", "python3 python", "http.server|SimpleHTTPServer"),
    _d("serve", "opens the machine to the network", "php", flags="-S"),
    _d("serve", "opens the machine to the network", "http-server serve live-server simple-http-server twistd"),
    _d("lookup", "names looked up leave the machine", "dig nslookup host drill whois", "$"),
    _d("scan", "probes other machines", "nmap masscan nikto hydra sqlmap zmap tcpdump tshark wireshark arp-scan"),
    # readers that write or run
    _d("runs-helper", "makes a search run a program", "rg", flags="--pre --hostname-bin --search-zip -z"),
    _d(
        "runs-helper",
        "makes a sort run a program or write a file",
        "sort",
        flags="--compress-program -o --output -T --temporary-directory --files0-from",
    ),
    _d(
        "runs-helper",
        "makes an archive tool run a program",
        "tar bsdtar gtar",
        flags="--to-command --checkpoint-action --use-compress-program -I --rsh-command --info-script "
        "-F --new-volume-script",
    ),
    _d("runs-helper", "makes a tool run a program", "zip", flags="-T -TT --unzip-command"),
    _d("runs-helper", "makes a tool run a program", "fd fdfind", flags="-x -X --exec --exec-batch"),
    _d(
        "runs-helper",
        "makes a tool run a program",
        "man less more vim vi view ed ex emacs nano git-shell watch script scriptreplay expect "
        "flock parallel ionice entr",
    ),
    _d(
        "stdin-arguments",
        "turns a listing into arguments",
        "xargs",
        "rm|mv|chmod|chown|sh|bash|kill|shred|curl|wget|git|python|python3",
    ),
    _d("patch", "changes many files from elsewhere", "patch ed"),
    _d("browser", "opens a program of the desktop", "open xdg-open start explorer gio osascript"),
    _d("clipboard", "leaves the request's sight", "pbcopy pbpaste xclip xsel wl-copy wl-paste"),
    _d(
        "settings",
        "changes a desktop's or tool's settings",
        "defaults gsettings dconf xdg-mime update-alternatives chsh",
    ),
)
"""Every peril, by program, subcommand and flags."""

CODE_VARIABLES: Final = frozenset(
    _w(
        "PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH "
        "BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND IFS "
        "NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PERL5LIB "
        "PERL5OPT RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS "
        "JDK_JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS GOFLAGS GOPROXY GONOSUMDB GONOSUMCHECK "
        "GOTOOLCHAIN CC CXX RUSTC RUSTC_WRAPPER RUSTFLAGS CARGO_HOME EDITOR VISUAL PAGER "
        "MANPAGER LESSOPEN LESSCLOSE BROWSER SHELL HOME XDG_CONFIG_HOME PIP_INDEX_URL "
        "PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE NPM_CONFIG_REGISTRY UV_INDEX_URL "
        "HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy SSL_CERT_FILE "
        "REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_TLS_REJECT_UNAUTHORIZED "
        "KUBECONFIG DOCKER_HOST AWS_PROFILE PYTEST_ADDOPTS PYTEST_PLUGINS MAKEFLAGS GCONV_PATH "
        "TERMINFO RIPGREP_CONFIG_PATH WGETRC CURL_HOME TAR_OPTIONS"
    )
)
"""Variables by which another program's code is run."""
CODE_VARIABLE_HEADS: Final = (
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_FUNC_",
    "FWDPERM_",
    "PYTHON",
    "NODE_",
    "NPM_CONFIG_",
    "npm_config_",
    "CARGO_",
    "DOCKER_",
    "KUBE",
    "AWS_",
    "SSH_",
    "PERL5",
    "RUBY",
)
"""As above, by how the name begins."""

_INDEX: Final[dict[str, tuple[Peril, ...]]] = {
    program: tuple(peril for peril in DANGERS if program in peril.programs)
    for program in {name for peril in DANGERS for name in peril.programs}
}


def peril_of(argv: tuple[str, ...]) -> tuple[Peril, tuple[str, ...]] | None:
    """Find the first peril that a command is.

    Args:
        argv: Its words after quote removal, the program first.

    Returns:
        The entry and the words that earned it; None when the table has nothing to say.
    """
    base = argv[0].rpartition("/")[2]
    for peril in _INDEX.get(base) or (_INDEX.get(base.partition(".")[0], ()) if "." in base else ()):
        words = _earned(peril, argv)
        if words is not None:
            return peril, words
    return None


def _earned(peril: Peril, argv: tuple[str, ...]) -> tuple[str, ...] | None:
    words: list[str] = [argv[0]]
    if peril.words:
        rest = iter([word for word in argv[1:] if not word.startswith("-")])
        for wanted in peril.words:
            alternatives = wanted.split("|")
            found = next((word for word in rest if word in alternatives or (wanted == "$" and "$" in word)), None)
            if found is None:
                return None
            words.append(found)
    if peril.flags:
        flag = next((word for word in argv[1:] if _has(word, peril.flags)), None)
        if flag is None:
            return None
        words.append(flag)
    return tuple(words)


def _has(word: str, flags: tuple[str, ...]) -> bool:
    if word in flags:
        return True
    if word.startswith("--"):
        name = word.partition("=")[0]
        return name in flags or (
            len(name) > 4 and any(flag.startswith(name) for flag in flags if flag.startswith("--"))  # noqa: PLR2004 - a length of a flag
        )
    if len(word) > 2 and word[0] == "-":  # noqa: PLR2004
        return (
            any(len(flag) == 2 and flag[0] == "-" and flag[1] in word[1:] and flag[1].isalpha() for flag in flags)  # noqa: PLR2004 - a length of a flag
            or word.partition("=")[0] in flags
        )
    return False
