"""Families of programs that the guard speaks of.

Lives here: sets of names. Never here: what belonging to one means.
"""

from __future__ import annotations

import re
from typing import Final


def _f(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHELLS: Final = _f("sh bash zsh dash ksh mksh ash fish csh tcsh rbash busybox pwsh")
"""Programs that run their standard input or `-c` text as shell code."""
INTERPRETERS: Final = SHELLS | _f(
    "python python2 python3 perl ruby node nodejs deno bun php lua osascript tclsh pypy pypy3 Rscript groovy R julia"
)
"""Programs that run their standard input as code."""
DOWNLOADERS: Final = _f(
    "curl wget fetch http https xh aria2c lynx w3m links axel httpie nc ncat netcat socat scp sftp ftp rclone gh"
)
"""Programs that bring data in from the network."""
SENDERS: Final = _f(
    "curl wget nc ncat netcat socat telnet ssh scp sftp ftp rsync dig nslookup host drill "
    "ping mail mailx mutt sendmail msmtp http https xh httpie "
    "rclone aws gsutil gcloud az gh glab s3cmd mc openssl tftp lftp xmpp sendxmpp slack "
    "slackcat ntfy kdig resolvectl traceroute whois finger gdrive dropbox magic-wormhole "
    "wormhole croc"
)
"""Programs that can carry data out to the network."""
BULK_SENDERS: Final = _f("scp rsync aws gsutil rclone gcloud s3cmd mc croc wormhole")
SHOWS_SECRETS: Final = _f(
    "kubectl oc aws gcloud az gh glab vault pass op bw secret-tool security gopass chamber sops doppler lpass"
)
UPLOADS: Final = re.compile(
    r"(?:-d|-F|-T|--data|--data-\w+|--form|--upload-file|--post-file|--post-data|--body-file|--json)(?:=|$)"
)
INLINE_FLAGS: Final = _f("-c -e -E -r -p -pe -ne -le --eval -Command --command eval")
"""Flags behind which an interpreter takes code."""
LOOKERS: Final = _f("cat head tail ls stat file grep egrep fgrep wc basename dirname echo printf md5sum sha256sum du")
"""Programs that only look, so that a user's rule may let `find` run them."""
SQL: Final = _f(
    "psql mysql mariadb sqlite3 sqlcmd cqlsh clickhouse-client duckdb pgcli mycli usql snowsql bq cockroach"
)
"""Programs that take SQL in their words."""
