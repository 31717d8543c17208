"""Command lines by machine against a real bash: what it would run is never allowed against a rule.

A denied command is put where a shell would run it, in places of places. Wherever bash really runs it, a deny under
an allow of everything must be heard, and an allow of all the other programs must not cover it.

Nothing outside of an empty directory is touched: the search path holds harmless programs and a stand-in that writes
down that it ran.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import pytest

from fwdperm.cli.common import Locations
from fwdperm.cli.explaining import Bulk

if TYPE_CHECKING:
    from pathlib import Path

BASH = shutil.which("bash") or ""
pytestmark = pytest.mark.skipif(not BASH, reason="needs bash")

PROGRAMS = tuple(
    re.findall(
        r"\S+",
        "true false echo cat sort tee env nice nohup timeout stdbuf setsid xargs find sh bash flock taskset ionice "
        "printf test wc head dash sleep touch chrt setpriv tr",
    )
)
BUILTINS = tuple(
    re.findall(
        r"\S+",
        ": [ eval exec command builtin trap alias shopt export declare local let wait source . time coproc read printf "
        "mapfile readarray unset break exit set cd f f-g f.g x compgen return test typeset readonly unalias",
    )
)
RAN = 0.6
"""Part of the lines that bash must really run the command in, or the generator tests nothing."""

SPELLINGS = [
    "rm secret", "\\rm secret", 'r"m" secret', "'rm' secret", "r''m secret", "rm\tsecret", "rm  secret",
    "rm \\\n secret", "r\\\nm secret", "$'rm' secret", "$'\\x72m' secret", '$"rm" secret', "X=1 rm secret",
    ">/dev/null rm secret", "2>&1 rm secret", "</dev/null rm secret", "<<<x rm secret", "rm>/dev/null secret",
    "{fd}>/dev/null rm secret", "X=1 Y='a b' rm secret", "A+=x rm secret", "rm secret\n", "\nrm secret", "X= rm secret",
    "3</dev/null rm secret 4>&1", "r\\m secret", "X=$(:) rm secret", "<&0 rm secret", "0<&- rm secret",
]  # fmt: skip
PLACES = [
    "C; true",
    "true; C",
    "true;C",
    "true && C",
    "true&&C",
    "false || C",
    "false||C",
    "true|C",
    "true | C",
    "true |& C",
    "C | cat",
    "C|cat",
    "C |& cat",
    "C & wait",
    "C& wait",
    "(C)",
    "( C )",
    "((C))",
    "( (C) )",
    "{ C; }",
    "{ C\n}",
    "if C; then :; fi",
    "if true; then C; fi",
    "if true;then C;fi",
    "if false; then :; else C; fi",
    "if false; then :; elif C; then :; fi",
    "if false; then :; elif true; then C; fi",
    "while C; do break; done",
    "while true; do C; break; done",
    "until C; do break; done",
    "for i in 1 2; do C; done",
    "for i in 1 2;do C;done",
    "for i; do :; done; C",
    "for ((i=0;i<1;i++)); do C; done",
    "for ((i=$(C)0;i<1;i++)); do :; done",
    "select x in a; do C; break; done <<< 1",
    "case x in x) C;; esac",
    "case x in x) C\nesac",
    "case x in (y|x) C;& z) :;; esac",
    "case x in y) :;; *) C ;; esac",
    "case x in x) :;;& *) C ;; esac",
    "case $(C) in *) :;; esac",
    "case x in $(C)x|x) :;; esac",
    "for i in $(C); do :; done",
    "f() { C; }; f",
    "f() { C; }; true; f",
    "f () { C; } ; f",
    "function f { C; }; f",
    "function f() ( C ); f",
    "function f ( C ); f",
    "f() ( C ); f",
    "f() if true; then C; fi; f",
    "f() { C; } >/dev/null; f",
    "f() { C; } 2>&1; f",
    "f() for i in 1; do C; done; f",
    "f() { :; } > /dev/null$(C); f",
    "echo $(C)",
    "echo $( C )",
    "echo x$(C)y",
    'echo "$(C)"',
    'echo "a $(C) b"',
    'echo "${X:-"$(C)"}"',
    "echo a\"b$(C)\"'c'",
    "echo `B`",
    'echo "`B`"',
    "echo a`B`b",
    "`B`",
    "$(C)",
    '"$(C)"',
    "$(C) true",
    "X=$(C)",
    'X="$(C)"',
    "X=`B`",
    "X=a$(C)",
    "X=$(C) true",
    "X=$(C) Y=$(:)",
    "export X=$(C)",
    'export X="$(C)"',
    "declare X=$(C)",
    "declare -a A=($(C))",
    "readonly X=$(C)",
    "A=($(C) b)",
    'A=(a b "$(C)")',
    "A=([0]=$(C))",
    "A+=($(C))",
    "A[$(C)0]=1",
    "A[0]=$(C)",
    "X+=$(C)",
    "echo ${X:-$(C)}",
    'echo "${X:-$(C)}"',
    'echo "${X:-a $(C) b}"',
    "echo ${X-$(C)}",
    "echo ${X:=$(C)}",
    ": ${X:=$(C)}",
    ': "${X:=`B`}"',
    "X=1; echo ${X:+$(C)}",
    "X=abc; echo ${X/$(C)/b}",
    "X=abc; echo ${X//a/$(C)}",
    "X=abc; echo ${X#$(C)}",
    "X=abc; echo ${X%%$(C)}",
    "X=abc; echo ${X:$(C)0:1}",
    "X=abc; echo ${X:0:$(C)1}",
    "X=abc; echo ${X^$(C)}",
    "echo ${A[$(C)0]}",
    "echo ${X:-${Y:-$(C)}}",
    "echo ${X?$(C)}",
    "echo $(( $(C) + 1 ))",
    "echo $(($(C)+1))",
    'echo "$(( $(C) + 1 ))"',
    "echo $[ $(C) + 1 ]",
    "(( $(C) 1 ))",
    "((1+$(C)))",
    "(( X = $(C) 1 )) || true",
    "let x=$(C)1",
    'let "x=$(C)1"',
    "[[ $(C) ]]",
    "[[ -n $(C) && x == x ]]",
    "[[ x == x && -z $(C) ]]",
    "[[ ! ( -n $(C) ) ]]",
    "[[ x == $(C)* ]]",
    "[[ x =~ $(C) ]]",
    "[[ x =~ ^$(C)x$ ]]",
    '[[ "$(C)" == "" ]]',
    "[[ -f $(C) ]]",
    "[[ $(C)1 -eq 1 ]]",
    '[ -n "$(C)" ]',
    "[ $(C) ]",
    "test -z `B`",
    'test -n "$(C)"',
    "cat <(C)",
    "cat < <(C)",
    "cat <(true) <(C)",
    "true > >(C)",
    "true 2> >(C)",
    "echo x | tee >(C)",
    "cat <<< $(C)",
    'cat <<< "$(C)"',
    "cat <<< `B`",
    "cat <<EOF\n$(C)\nEOF",
    "cat <<EOF\na `B` b\nEOF",
    "cat <<-EOF\n\t$(C)\n\tEOF",
    "cat <<EOF\n${X:-$(C)}\nEOF",
    "cat <<EOF\n$(( $(C) 1 ))\nEOF",
    'cat <<EOF\nit\'s "$(C)"\nEOF',
    'cat <<"EOF"; C\n$(true)\nEOF',
    "cat <<E'O'F; C\nx\nEOF",
    "cat <<\\EOF && C\nx\nEOF",
    "echo > /dev/null$(C)",
    "cat < /dev/null$(C)",
    "echo 2>/dev/null$(C)",
    ">/dev/null$(C)",
    "cat <<EOF | cat\nx\nEOF\nC",
    "cat <<EOF && C\nx\nEOF",
    "cat <<EOF; C\nx\nEOF",
    "cat <<EOF | C\nx\nEOF",
    "cat <<EOF || true; C\nx\nEOF",
    "cat <<EOF & C\nx\nEOF",
    "cat <<EOF >/dev/null; C\nx\nEOF",
    "cat <<EOF >/dev/null && true | C\nx\nEOF",
    "cat <<EOF 2>&1 | C\nx\nEOF",
    "cat - <<EOF | C\nx\nEOF",
    "cat <<EOF | cat | C\nx\nEOF",
    "cat <<EOF | cat && C\nx\nEOF",
    "cat <<EOF | sort; C\nx\nEOF",
    "cat <<E1 <<E2; C\na\nE1\nb\nE2",
    "if true; then cat <<EOF\nx\nEOF\nC; fi",
    "{ cat <<EOF\nx\nEOF\nC\n}",
    "(cat <<EOF\nx\nEOF\nC)",
    "f() { cat <<EOF\nx\nEOF\nC\n}; f",
    "true <<EOF\n'\nEOF\nC",
    "time C",
    "! C",
    "! time C",
    "coproc C; wait",
    "coproc ( C ); wait",
    "eval Q",
    "eval -- Q",
    'eval "" Q',
    "eval true\\; Q",
    "trap Q EXIT",
    "trap -- Q 0",
    "trap Q DEBUG; :",
    "trap Q ERR; false",
    "trap Q EXIT INT; true",
    "trap Q CHLD; (true); true",
    "sh -c Q",
    "bash -ec Q",
    "bash -lc Q",
    "bash -cx Q",
    "bash -x -c Q",
    "bash -c -e Q",
    "bash -c -- Q",
    "bash -o errexit -c Q",
    "bash +B -c Q",
    "bash --norc -c Q",
    "bash --noprofile --norc -ec Q",
    "bash --rcfile /dev/null -c Q",
    "bash -c Q x y z",
    "dash -c Q",
    "env bash -c Q",
    "bash <<'EOF'\nC\nEOF",
    "bash -s <<'EOF'\nC\nEOF",
    "bash -s a b <<'EOF'\nC\nEOF",
    "bash - <<'EOF'\nC\nEOF",
    "bash /dev/stdin <<'EOF'\nC\nEOF",
    "bash <<EOF\nP\nEOF",
    "sh <<-EOF\n\tP\n\tEOF",
    "bash <<< Q",
    "bash -s <<< Q",
    "bash -x <<<Q",
    ". /dev/stdin <<< Q",
    "source /dev/stdin <<'EOF'\nC\nEOF",
    "env W",
    "env X=1 W",
    "env -u Y W",
    "env -u Y -- W",
    "env - PATH=$PATH W",
    'env -i PATH="$PATH" W',
    "env -S Q1",
    "env -S 'X=1 W1'",
    "env -vS Q1",
    "env --split-string=Q1",
    "env --split-string Q1",
    "env -C / W",
    "env --chdir=/ W",
    "nice W",
    "nice -n 5 W",
    "nice -n5 W",
    "nice -5 W",
    "nice --adjustment=5 W",
    "nohup W",
    "timeout 5 W",
    "timeout 5s W",
    "timeout -k 1 5 W",
    "timeout -k1 -s KILL 5 W",
    "timeout --signal=KILL 5 W",
    "timeout --foreground 5 W",
    "timeout -- 5 W",
    "stdbuf -oL W",
    "stdbuf -o L -e0 W",
    "stdbuf --output=L W",
    "setsid W; sleep 0.05",
    "setsid -w W",
    "xargs W </dev/null",
    "echo a | xargs W",
    "echo a | xargs -n1 W",
    "echo a | xargs -n 1 -P 2 W",
    "echo a | xargs -0 W",
    "echo a | xargs -I{} W",
    "echo a | xargs -I {} W {}",
    "echo a | xargs -i W",
    "echo a | xargs --max-args=1 W",
    "echo a | xargs -r -t W",
    "echo a | xargs -d '\\n' W",
    "echo a | xargs -I{} sh -c Q",
    "echo a | xargs -I % bash -c Q",
    "echo a | xargs sh -c Q",
    "echo secret | xargs rm",
    "echo secret|xargs -- rm",
    "echo secret | xargs -E x rm",
    "find . -maxdepth 0 -exec W \\;",
    "find . -maxdepth 0 -exec W {} +",
    "find . -maxdepth 0 -exec W {} ';'",
    'find . -maxdepth 0 -exec true \\; -exec W ";"',
    "find . -maxdepth 0 -exec true {} + -exec W \\;",
    "find . -maxdepth 0 \\( -exec W \\; -o -true \\)",
    "find . -maxdepth 0 -execdir W \\;",
    "find . -maxdepth 0 -exec sh -c Q \\;",
    "find . -maxdepth 0 -exec sh -c Q _ {} +",
    "find . -maxdepth 0 ! -exec W \\;",
    "find . -exec sh -c Q x {} \\; -quit",
    "command W",
    "command -- W",
    "command eval Q",
    "builtin eval Q",
    "builtin command W",
    "builtin command eval Q",
    "exec W",
    "exec -a x W",
    "exec -c W",
    "exec >/dev/null; C",
    "exec 3>/dev/null W",
    "flock /dev/null W",
    "flock -n /dev/null W",
    "flock /dev/null -c Q",
    "flock -c Q /dev/null",
    "flock /dev/null bash -c Q",
    "taskset 1 W",
    "taskset -c 0 W",
    "ionice -c3 W",
    "ionice -c 2 -n 7 W",
    "chrt -o 0 W",
    "setpriv --no-new-privs W",
    "X=1; C",
    "X=1 Y=2; C",
    "cd /; C",
    "cd . && C",
    "true # comment\nC",
    "# it's a comment\nC",
    '# "\nC',
    "true \\\n; C",
    "true &&\nC",
    "true |\nC",
    "C # it's",
    ":;:;C",
    ": `:`; C",
    "echo 'a\nb'; C",
    'echo "a\nb"; C',
    "echo a\\;; C",
    'echo "a\\"b"; C',
    "echo 'a'\\''b'; C",
    "echo $'a\\'b'; C",
    "echo $'\\\\'; C",
    'echo "$\'a"; C',
    'echo "\\\\"; C',
    "echo '\\'; C",
    "echo \\\\; C",
    "echo \\'; C",
    "echo a#b; C",
    "echo ${X#a}; C",
    "echo ${#X}; C",
    "echo $#; C",
    "echo $; C",
    'echo "$"; C',
    'echo $"x"; C',
    "echo é; C",
    "echo 日本; C",
    "echo «x»; C",
    "echo  ; C",
    "echo 'é' \"日\" ; C",
    "[[ a == a ]] && C",
    "[[ a < b ]] && C",
    "[[ a =~ a|b ]] && C",
    "[[ a =~ ^(a|b)$ ]] && C",
    "[[ a =~ [\\'] ]] || C",
    '[[ "(" == "(" ]] && C',
    "[ 1 -lt 2 ] && C",
    "[ a = a -o b = b ] && C",
    "(( 1 < 2 )) && C",
    "(( 1 << 2 )) && C",
    "((X=1)); C",
    "echo $((1<<2)); C",
    "echo $((16#ff)); C",
    "set -- a b; C",
    "set -e; C",
    "set -x; C",
    'read -r X <<< "a"; C',
    "read X <<EOF\na\nEOF\nC",
    "for f in *; do C; done",
    'for f in a "b c"; do C; done',
    "local x; C",
    "unset X; C",
    "declare -A M=([a]=b); C",
    "declare -f; C",
    "true > /dev/null; C",
    "true 2>&1; C",
    "true >&2; C",
    "true &>/dev/null; C",
    "true >/dev/null 2>&1 & C",
    "true < /dev/null; C",
    "exec 3<&0; C",
    "{ true; } 2>/dev/null; C",
    "{ true; } | C",
    "(true) && C",
    "(true); C",
    "(true) | C",
    "if true; then true; fi && C",
    "if true; then true; fi; C",
    "if true; then true; fi | C",
    "while false; do :; done; C",
    "case x in y) ;; esac; C",
    "case x in esac; C",
    'case "x" in "a b") :;; \'x\') C;; esac',
    "f() { :; }; C",
    "f() { :; }\nC",
    "function f { :; }; C",
    "function f-g { C; }; f-g",
    "f.g() { C; }; f.g",
    "f() { if [ 1 ]; then C; fi; }; f",
    "mapfile -c 1 -C Q A <<< x",
    "readarray -c1 -C Q A <<< x",
    "compgen -C Q",
    "compgen -W '$(C0)'",
    "printf -v 'A[$(C0)0]' x",
    "test -v 'A[$(C0)0]'",
    "[ -v 'A[$(C0)0]' ]",
    "[[ -v 'A[$(C0)0]' ]]",
    "read 'A[$(C0)0]' <<< x",
    "declare 'A[$(C0)0]=1'",
    "let 'A[$(C0)0]=1'",
    "let 'X=A[$(C0)0]'",
    "A=(1); unset 'A[$(C0)0]'",
    "[[ 'A[$(C0)0]' -eq 0 ]]",
    "(( A['$(C0)0'] ))",
    "echo $((A['$(C0)0']))",
    "test 'A[$(C0)0]' -eq 0 || true",
    "echo ${X:'A[$(C0)0]'}",
    "'bash' -c Q",
    "\\bash -c Q",
    'b"as"h -c Q',
    "ba\\sh -c Q",
    "/bin/bash -c Q",
    "'eval' Q",
    "\\eval Q",
    "ev\\al Q",
    "'command' W",
    "\\command W",
    "'env' W",
    "e''nv W",
    "\\trap Q EXIT",
    "'trap' Q EXIT",
    "'export' X=$(C)",
    "'exec' W",
    "\\exec W",
    "'xargs' W",
    "true $(C) && true",
    "true ${X:-`B`}",
    "X=$(C); true",
    "X=$(true; C)",
    "X=$(true\nC\n)",
    "X=$(case x in x) C;; esac)",
    "X=$(case x in (x) C;; esac)",
    "X=$(if true; then C; fi)",
    "echo $(# comment\nC)",
    "cat <(cat <(C))",
    "cat <(true; C)",
    "diff <(C) <(true) || true",
    "wc < <(C) > /dev/null",
    "cat <<EOF\n\\$(not) $(C)\nEOF",
    "cat <<EOF\n\\\\$(C)\nEOF",
    "cat <<'EOF'\n$(not)\nEOF\nC",
    "cat <<'E F'\nx\nE F\nC",
    "cat <<-'EOF'\n\tx\n\tEOF\nC",
    "cat <<EOF\nx\n EOF\nEOF\nC",
    "cat <<EOF1; cat <<EOF2\nx\nEOF1\n$(C)\nEOF2",
    "cat <<!\nx\n!\nC",
    "cat <<@@@\nx\n@@@\nC",
    "cat <<-END-OF\nx\nEND-OF\nC",
    "cat << EOF\nx\nEOF\nC",
    "cat <<EOF;C\nx\nEOF",
    "cat 0<<EOF; C\nx\nEOF",
    'cat <<""\nx\n\nC',
]
"""Where a shell would run C (code), Q (code in quotes), W (a command in words), B and P (code escaped once)."""
FLOWS = [
    "for ((i=0;i<1;i++)) { C; }",
    "for i in 1; { C; }",
    "echo $(echo $(C))",
    "cat <<EOF\n$(cat <<IN\nx\nIN\nC)\nEOF",
    "time -p C",
    "time -- C",
    "! ! C",
    "time ! C",
    "coproc N { C; }; wait",
    "bash -O extglob -c Q",
    "bash +O extglob -c Q",
    "sh -c 'eval \"$0\"' Q",
    "bash -c '\"$@\"' x W",
    "bash -c '$0 secret' rm",
    "bash -c 'exec \"$@\"' _ W",
    "echo Q | bash",
    "echo -n Q | bash",
    "echo -e Q | bash",
    "echo true\\; Q | sh -s",
    "printf %s Q | bash",
    "printf '%s\\n' Q | bash",
    "printf Q | bash",
    "cat <<'EOF' | bash\nC\nEOF",
    "cat <<'EOF' | cat | bash\nC\nEOF",
    "bash < <(echo Q)",
    "bash <(echo Q)",
    "source <(echo Q)",
    ". <(echo Q)",
    "echo 'rm secret' | xargs -I{} sh -c {}",
    "echo 'rm secret' | xargs env",
    "echo rm secret | xargs -n2 nice",
    "[[ -e / ]] && C",
    'while read -r l; do C; done <<< "a"',
    "while read -r l; do C; done < <(echo a)",
    "echo a | while read l; do C; done",
    "mapfile -C Q -c 1 -t A < <(echo x)",
    "X='$(C0)'; echo \"${X@P}\"",
    "PS4='$(C0)'; set -x; true",
    "PS4='$(C0)' bash -xc true",
    "X=rm; $X secret",
    'X=rm; "$X" secret',
    "X='rm secret'; $X",
    'X=(rm secret); "${X[@]}"',
    'set -- rm secret; "$@"',
    'X=Q; eval "$X"',
    'X=Q; bash -c "$X"',
    "export X=Q; bash -c 'eval \"$X\"'",
    'echo Q | while read -r l; do eval "$l"; done',
    "echo rm secret | while read a b; do $a $b; done",
    "echo 'rm secret' | tr a a | sh",
    "cat <<< Q | bash",
    'bash -c "$(echo Q)"',
    "bash -c \"$(cat <<'EOF'\nC\nEOF\n)\"",
    'eval "$(echo Q)"',
    "eval \"$(cat <<'EOF'\nC\nEOF\n)\"",
    "$(echo rm) secret",
    "`echo rm` secret",
    "r$(echo m) secret\n{rm,secret}",
    "{rm,-f,secret}",
    "r{m,} secret\n$BASH -c Q",
    "${BASH} -c Q",
    '"$BASH" <<< Q',
    "$SHELL -c Q || bash -c Q",
    'y() { rm "$@"; }; y secret',
    "alias rm=true; rm secret",
    "enable -n rm; C",
    "'source' <(echo Q)",
    'f() { "$@"; }; f W',
    "f() { $1 $2; }; f rm secret",
    'f() { eval "$1"; }; f Q',
    'f() { command "$@"; }; f W',
    "export -f f; f() { C; }; f",
    "f() { C; }; export -f f; bash -c f",
    'f() { rm "$@"; }; export -f f; echo secret | xargs bash -c \'f "$@"\' _',
    "echo $(cat <<EOF\n$(C)\nEOF\n)",
    "echo \"$(cat <<'EOF'\nx\nEOF\nC)\"",
    'echo "$(echo "$(C)")"',
    'echo "$(echo \'"\'; C)"',
    "echo $(echo ')' ; C)",
    "echo $(echo \\) ; C)",
    "while read l; do :; done < <(C)",
]
"""Where it would run what is text or a value before: no narrow allow covers it; a deny may be deaf to it."""
SLOT = re.compile(r"(?<![-+\w])(C0|C|Q1|Q|W1|W|B|P)(?!\w)")


class Built(NamedTuple):
    """A line, and whether it is one simple command, and whether a here-document ends it."""

    code: str
    simple: bool
    heredoc: bool


class Grammar:
    """Builds lines from a seed."""

    def __init__(self, seed: int, places: list[str]) -> None:
        self._random = random.Random(seed)  # noqa: S311 - nothing secret
        self._places = places

    def line(self) -> str:
        return self._build(self._random.choice([1, 1, 2, 2, 3])).code

    def _build(self, depth: int) -> Built:
        if depth == 0:
            code = self._random.choice(SPELLINGS)
            simple = re.match(r"\w+\+?=|[<>&\d{]|\n", code) is None and not code.endswith("\n")
            return Built(code, simple, heredoc=False)
        place = self._random.choice(self._places)
        inner = self._build(depth - 1)
        slots = set(SLOT.findall(place))
        if (slots & {"W", "W1", "Q1"} and not inner.simple) or (slots & {"C0", "Q1", "W1"} and "'" in inner.code):
            inner = Built("rm secret", simple=True, heredoc=False)
        code = SLOT.sub(lambda found: self._filled(found[1], inner), place)
        simple = re.match(r"(env|nice|nohup|timeout|stdbuf|xargs|find|bash|sh|flock|eval)\b", place) is not None
        return Built(code, simple and re.search(r"[;|&<>\n]", code) is None, "<<" in code and "\n" in code)

    def _filled(self, slot: str, inner: Built) -> str:
        code = inner.code
        if slot.startswith("Q"):
            return self._quoted(code)
        if slot in "BP":
            return re.sub(r"([\\`$])", r"\\\1", code)
        return f"\n{code}\n" if slot == "C" and (inner.heredoc or code.endswith("\n")) else code

    def _quoted(self, code: str) -> str:
        single = "'" + code.replace("'", "'\\''") + "'"
        double = '"' + re.sub(r'([\\"$`])', r"\\\1", code) + '"'
        ansi = "$'" + code.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
        return self._random.choice([single, double, ansi])


class RealShell:
    """A bash that can reach nothing but harmless programs."""

    def __init__(self, place: Path) -> None:
        self._log = place / "log"
        self._where = place / "empty"
        self._path = place / "bin"
        self._path.mkdir()
        for name in PROGRAMS:
            if found := shutil.which(name):
                (self._path / name).symlink_to(found)
        stand_in = self._path / "rm"
        stand_in.write_text(f'#!/bin/sh\necho "$@" >> "{self._log}"\n')
        stand_in.chmod(0o755)

    def runs(self, line: str) -> bool:
        """Say whether it runs the command."""
        self._log.unlink(missing_ok=True)
        self._where.mkdir(exist_ok=True)
        shell = subprocess.Popen(
            [BASH, "--norc", "-c", line, "bash"],
            cwd=self._where,
            env={"PATH": str(self._path), "LC_ALL": "C.UTF-8", "HOME": str(self._where)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            shell.wait(5)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
        shutil.rmtree(self._where)
        return self._log.exists()


ALL_BUT_DENIED = [["*", "*", "allow"], ["bash", "rm *", "deny"]]
ONLY_THE_OTHERS = [
    ["write", "*", "allow"],
    *(["bash", f"{name} *", "allow"] for name in dict.fromkeys([*PROGRAMS, *BUILTINS])),
]


@pytest.fixture(scope="module")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> Bulk:
    place = tmp_path_factory.mktemp("root")
    setting = Locations(root=place / "root", state=place / "state", config=place / "rules.toml", config_is_named=False)
    return Bulk(setting)


def decided(bulk: Bulk, line: str, rules: list[list[str]]) -> str:
    row = {"surface": "bash", "value": line, "cwd": "/w", "home": "/home/u", "rules": rules}
    return str(bulk.decide(json.dumps(row).encode(), number=1)["action"])


@pytest.mark.parametrize("seed", [1, 2])
def test_a_deny_is_heard_and_a_narrow_allow_is_deaf_wherever_bash_runs_the_command(
    seed: int, bulk: Bulk, tmp_path: Path
) -> None:
    shell = RealShell(tmp_path)
    grammar = Grammar(seed, PLACES)
    allowed = []
    for _ in range(500):
        line = grammar.line()
        answers = [decided(bulk, line, rules) for rules in (ALL_BUT_DENIED, ONLY_THE_OTHERS)]
        if "allow" in answers and shell.runs(line):
            allowed.append((answers, line))
    assert allowed == []


def test_a_narrow_allow_is_deaf_to_text_and_values_that_become_code(bulk: Bulk, tmp_path: Path) -> None:
    shell = RealShell(tmp_path)
    grammar = Grammar(3, PLACES + FLOWS * 4)
    lines = [grammar.line() for _ in range(500)]
    allowed = [line for line in lines if decided(bulk, line, ONLY_THE_OTHERS) == "allow" and shell.runs(line)]
    assert allowed == []


def test_the_generator_makes_lines_that_bash_runs(tmp_path: Path) -> None:
    """Else the tests above could not fail."""
    shell = RealShell(tmp_path)
    grammar = Grammar(4, PLACES)
    assert sum(shell.runs(grammar.line()) for _ in range(60)) > 60 * RAN
