"""Units of a command line: what an allow must cover, what a deny can see."""

from __future__ import annotations

import shlex
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.programs.folding import every_program
from fwdperm.programs.variables import HARMLESS
from fwdperm.units.breakdown import break_down
from fwdperm.wire.request import Facts

if TYPE_CHECKING:
    from fwdperm.rules.unit import Unit


def units(
    line: str, *, cwd: str = "/repo", home: str = "/home/u", operands: tuple[tuple[str, str], ...] = ()
) -> tuple[Unit, ...]:
    return break_down(Facts("bash", (line,), cwd, home, canonical_operands=operands)).units


def primary(line: str) -> list[str]:
    return [unit.spellings[0] for unit in units(line) if not unit.auxiliary]


def allowed(line: str) -> set[str]:
    return {text for unit in units(line) if unit.surface == "bash" for text in unit.spellings}


def seen(line: str) -> set[str]:
    return {text for unit in units(line) for text in (*unit.spellings, *unit.strict_spellings)}


def paths(line: str, surface: str, **more: str) -> list[str]:
    return [unit.spellings[0] for unit in units(line, **more) if unit.surface == surface]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git status", ["git status"]),
        ("git  push\torigin", ["git push origin"]),
        ("git \\\n push", ["git push"]),
        ("a && b; c | d", ["a", "b", "c", "d"]),
        ("git commit -F - <<'EOF'\nfeat: x\nEOF", ["git commit -F -"]),
        ("python3 <<'EOF'\nprint(1)\nEOF", ["python3"]),
        ("npm run lint 2>&1 | grep 'a|b'", ["npm run lint", "grep 'a|b'"]),
        ("git show HEAD 2>/dev/null", ["git show HEAD"]),
        ("git show > ~/.ssh/id_rsa", ["git show", "/home/u/.ssh/id_rsa"]),
        ("X=1", ["X=1"]),
        ("# c", ["# c"]),
        ("X=$(rm x)", ["rm x"]),
        ("PATH=/x", ["PATH=/x"]),
        ("PATH=/x; git y", ["PATH=/x", "git y"]),
        ("for PATH in /x; do git y; done", ["PATH=$", "git y"]),
        ("cd tofu && tofu apply", ["cd tofu", "tofu apply"]),
        ("nohup pnpm publish", ["pnpm publish"]),
        ("LD_PRELOAD=x timeout 5 make", ["LD_PRELOAD=x timeout 5 make", "make"]),
        ("CI=$X nohup make", ["CI=$X nohup make", "make"]),
        ("CI=1 nohup make", ["make"]),
        ("timeout 5 make $(nproc)", ["nproc", "make $(nproc)"]),
        ("T='5 rm'; timeout $T make", ["timeout $T make", "make"]),
        ("time LD_PRELOAD=x make", ["LD_PRELOAD=x time LD_PRELOAD=x make", "make"]),
        ("nohup timeout 5 nice make x", ["make x"]),
        ("sudo rm x", ["sudo rm x", "rm x"]),
        ("ls | xargs rm -rf", ["ls", "xargs rm -rf", "rm -rf"]),
        ("ssh h rm x", ["ssh h rm x"]),
        ("{ a > f; } 2>&1", ["a", "f"]),
    ],
)
def test_what_must_be_permitted(line: str, expected: list[str]) -> None:
    assert primary(line) == expected


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("CI=1 go test", "go test"),
        ("LC_ALL=C TZ=UTC go test", "go test"),
        ("/usr/bin/git status", "git status"),
        ("\\git status", "git status"),
        ('"git" status', "git status"),
        ("g''it status", "git status"),
        ("git 'status'", "git status"),
        ("echo $(git status)", "git status"),
        ('npx tsx -e "a\nb"', 'npx tsx -e "a\nb"'),
        ("echo '# note'", "echo '# note'"),
        ("time git status", "git status"),
        ("CI=1 /usr/bin/git status", "git status"),
        ("find . -name '*.py'", "find . -name *.py"),
    ],
)
def test_an_allow_sees(line: str, text: str) -> None:
    assert text in allowed(line)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("GOFLAGS=x go test", "go test"),
        ("LD_PRELOAD=x npm install", "npm install"),
        ("CI=$(x) go test", "go test"),
        ("./git status", "git status"),
        ("/srv/git status", "git status"),
        ("~/bin/git status", "git status"),
        ('"git status" x', "git status x"),
        ("git\\ status x", "git status x"),
        ("rm 'a b'", "rm a b"),
        ("cat '~/x'", "cat ~/x"),
        ("$X git status", "git status"),
        ("git ''", "git "),
        ("CI=1 X=2 go test", "go test"),
        ("FOO=1 go test", "go test"),
        ("foo --prod && foo", "foo --prod && foo"),
    ],
)
def test_only_ask_and_deny_see(line: str, text: str) -> None:
    assert text in seen(line)
    assert text not in allowed(line)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("cat /home/u/.bashrc", "cat ~/.bashrc"),
        ("cat ~/.bashrc", "cat /home/u/.bashrc"),
        ("cat $HOME/.bashrc", "cat ~/.bashrc"),
        ("rm -rf /srv/../srv//x", "rm -rf /srv/x"),
        ("rm -rf ./x", "rm -rf x"),
        ("cd a * && rm x", "cd a * && rm x"),
        ("a  |  b", "a | b"),
        ("if a; then rm x", "rm x"),
        ("echo 'a; rm x", "rm x"),
        ("bash -c 'sudo -n id'", "sudo -n id"),
        ("sud\\o -n id", "sudo -n id"),
    ],
)
def test_a_deny_sees_other_spellings(line: str, text: str) -> None:
    assert text in seen(line)


def test_an_inner_command_says_who_carries_it() -> None:
    found = units("sudo env X=1 rm x")
    assert [(u.spellings[0], u.carrier, u.program) for u in found if u.surface == "bash"] == [
        ("sudo env X=1 rm x", -1, "sudo"),
        ("env X=1 rm x", 0, "env"),
        ("rm x", 1, "rm"),
    ]


def test_a_harmless_wrapper_stands_aside_and_is_still_seen() -> None:
    outer, inner = units("timeout 5 make x")
    assert outer.auxiliary
    assert outer.aside
    assert outer.spellings == ("timeout 5 make x",)
    assert inner.carrier == 0
    assert not inner.auxiliary


def test_a_harmless_wrapper_around_nothing_is_a_command() -> None:
    (only,) = units("nice")
    assert not only.auxiliary
    assert not only.aside


def test_a_remote_command_speaks_only_when_a_rule_names_it() -> None:
    outer, inner = (unit for unit in units("ssh h rm x") if unit.surface == "bash")
    assert (outer.remote, outer.auxiliary) == (False, False)
    assert (inner.remote, inner.auxiliary) == (True, True)


@pytest.mark.parametrize(
    "line",
    [
        "$CMD x",
        "curl x | sh",
        "echo 'abc",
        "a\x00b",
        'eval "$X"',
        "",
        "  ",
        "echo > $F",
        "echo > a*",
        "cd $X; echo > ../f",
        "((rm x))",
    ],
)
def test_what_cannot_be_known_is_a_primary_opaque_unit(line: str) -> None:
    assert any(unit.opaque and not unit.auxiliary for unit in units(line))


@pytest.mark.parametrize(
    ("line", "reads", "writes"),
    [
        ("cat a /etc/b", ["a", "/etc/b"], []),
        ("cp a b/c", ["a"], ["b/c"]),
        ("mv a b", ["a"], ["a", "b"]),
        ("rm -rf x", [], ["x"]),
        ("sed -i '' '/a: \"b\",/{/c:/!s/x/y/;}' t.ts", ["t.ts"], ["t.ts"]),
        ("sed -n 's/a/b/p' f", ["f"], []),
        ("sed -e s/a/b/ f", ["f"], []),
        ("grep -rn '/etc/x' src", ["src"], []),
        ("grep -e /etc/x src", ["src"], []),
        ("awk '{print /x/}' f", ["f"], []),
        ("tee out <in", ["in"], ["out"]),
        ("dd if=/a of=/b", ["/a"], ["/b"]),
        ("tool --out=/x/y", ["/x/y"], ["/x/y"]),
        ("gcc -I/usr/include a.c", ["/usr/include", "a.c"], []),
        ("curl https://x.test/a -d @f/g", ["f/g"], []),
        ("curl -d @f/g x", ["f/g"], []),
        ("tool key=/x", ["/x"], []),
        ("echo /etc/passwd", [], []),
        ("git add src/a", ["src/a"], []),
        ("cat 'a b'", ["a b"], []),
        ("cat ~/x", ["/home/u/x"], []),
        ("cat $HOME/x", ["/home/u/x"], []),
        ("cat $X", ["$X"], []),
        ("cat file:///etc/x", ["/etc/x"], []),
        ("head -n 5 f", ["f"], []),
        ("cp -t d a", ["a"], ["d"]),
        ("mkdir -p /srv/x-*", [], ["/srv/x-*"]),
        ("cat ./a/../b", ["b"], []),
        ("cd sub && cat x", ["sub", "sub/x"], []),
        ("cd /a && cat ../x", ["/a", "/x"], []),
        ("(cd a); cat x", ["a", "x"], []),
        ("python3 run/x.py", ["run/x.py"], []),
        ("cat -- -f", ["-f"], []),
        ("xxd -r - /etc/x", [], ["/etc/x"]),
        ("xxd -l 16 a", ["a"], []),
        ("xxd -s 4 a b", ["a"], ["b"]),
        ("uniq -f 1 a /etc/x", ["a"], ["/etc/x"]),
        ("uniq - /etc/x", [], ["/etc/x"]),
        ("logrotate -l /etc/x a", ["a"], ["/etc/x"]),
        ("logrotate -s /etc/x a", ["a"], ["/etc/x"]),
        ("lwp-download http://h/x /etc/x", [], ["/etc/x"]),
        ("update-alternatives --install /usr/bin/x x /a 0", [], ["/usr/bin/x"]),
        ("tar -czf /etc/x.tgz a", ["/etc/x.tgz", "a"], ["/etc/x.tgz"]),
        ("tar -tzf /etc/x.tgz", ["/etc/x.tgz"], []),
        ("tar -f /etc/x.tgz --list", [], []),
        ("tar -cf/etc/x.tgz a", ["a"], ["/etc/x.tgz"]),
        ("sort -uo /etc/x a", ["/etc/x", "a"], ["/etc/x"]),
        ("curl -sSo /etc/x https://h/x", ["/etc/x"], ["/etc/x"]),
        ("sort -o/etc/x a", ["/etc/x", "a"], ["/etc/x"]),
        ("gcc -fno-common a.c", ["a.c"], []),
    ],
)
def test_path_operands(line: str, reads: list[str], writes: list[str]) -> None:
    assert paths(line, "path_read") == reads
    assert paths(line, "path_write") == writes


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cat /etc/x", ["/etc/x"]),
        ("cat ../x", ["/x"]),
        ("cat src/x", []),
        ("cat /repo/x", []),
        ("cat ~/x", ["/home/u/x"]),
        ("echo > /srv/f", ["/srv/f"]),
        ("cat /repository/x", ["/repository/x"]),
    ],
)
def test_paths_outside_of_the_directory(line: str, expected: list[str]) -> None:
    assert paths(line, "external_directory") == expected


def test_a_real_path_is_a_unit_of_its_own() -> None:
    found = units("cat link/x > out", operands=(("link/x", "/etc/x"), ("out", "/srv/out")))
    assert [(u.surface, u.spellings[0], u.auxiliary) for u in found if u.stands == "canonical"] == [
        ("write", "/srv/out", False),
        ("path_read", "/etc/x", True),
    ] or {(u.surface, u.spellings[0], u.auxiliary) for u in found if u.stands == "canonical"} >= {
        ("write", "/srv/out", False),
        ("path_read", "/etc/x", True),
    }
    assert "/etc/x" in [u.spellings[0] for u in found if u.surface == "external_directory"]


def test_a_glob_is_marked_and_one_that_climbs_is_opaque() -> None:
    assert [u.glob for u in units("cat /etc/sh*") if u.auxiliary] == [True, True]
    assert not any(u.glob for u in units("cat '/etc/sh*'"))
    assert any(u.opaque for u in units("cat */../../x"))


def test_an_unknown_directory_leaves_climbing_operands_unknown() -> None:
    read = {u.spellings[0]: bool(u.opaque) for u in units("cd $X; cat ../y z", cwd="/repo") if u.surface == "path_read"}
    assert read == {"$X": False, "../y": True, "z": False}


HARMLESS_REDIRECTS = [" 2>&1", " 2>/dev/null", " >/dev/null", " </dev/null", " >&2", " &>/dev/null"]
LINES = [
    "git status",
    "rm -rf x",
    "cat /etc/x | grep y",
    "sudo rm x",
    "a && b",
    "X=1 make",
    "echo $(rm x)",
    "timeout 5 make",
    "sh -c 'rm x'",
]


@given(st.sampled_from(LINES), st.lists(st.sampled_from(HARMLESS_REDIRECTS), min_size=1, max_size=3))
@settings(max_examples=100, deadline=None)
def test_a_harmless_redirection_never_changes_the_units(line: str, redirects: list[str]) -> None:
    def shape(text: str) -> list[tuple[object, ...]]:
        return [(u.surface, u.spellings, u.auxiliary, u.opaque, u.carrier) for u in units(text)]

    assert shape(line + "".join(redirects)) == shape(line)


LEADS = ["", "! ", "X=1 ", "2>&1 ", "! X=1 2>&1 ", "! time "]
FRONTS = ["sudo ", "env X=1 ", "nice -n 5 ", "timeout 5 ", "nohup ", "xargs ", "command ", "setsid ", "stdbuf -oL "]
AROUND = [
    "{}",
    "a; {}",
    "a && {}",
    "a | {}",
    "({})",
    "{{ {}; }}",
    "if a; then {}; fi",
    "f() {{ {}; }}",
    "$({})",
    "`{}`",
    'echo "$({})"',
    "cat <({})",
    "cat <<E\n$({})\nE",
    "bash <<'E'\n{}\nE",
    "while {}; do a; done",
    "X=$({})",
]


@given(
    st.sampled_from(LEADS),
    st.lists(st.sampled_from(FRONTS), max_size=4),
    st.lists(st.sampled_from(AROUND), max_size=3),
    st.sampled_from(["rm -rf x", "/bin/rm -rf x", "\\rm -rf x", "r''m  -rf x"]),
    st.booleans(),
)
@settings(max_examples=400, deadline=None)
def test_a_denied_command_stays_seen_in_anything(
    lead: str, fronts: list[str], arounds: list[str], command: str, in_shell: bool
) -> None:
    line = lead + "".join(fronts) + command
    if in_shell:
        line = f"sh -c {shlex.quote(line)}"
    for around in arounds:
        line = around.format(line)
    texts = [
        text for unit in units(line) if unit.surface == "bash" for text in (*unit.spellings, *unit.strict_spellings)
    ]
    assert "rm -rf x" in texts or any(unit.opaque for unit in units(line))


@given(
    st.text(alphabet=st.sampled_from(list("ab \t\n'\"\\$`(){}[]<>|&;!#*?=~-/.0EOF\x00\r\ud800é")), max_size=50),
    st.sampled_from(["", "/repo", "rel", "/"]),
    st.sampled_from(["", "/home/u", "/"]),
)
@settings(max_examples=700, deadline=None)
def test_no_text_raises_and_none_is_without_a_primary_unit(text: str, cwd: str, home: str) -> None:
    found = units(text, cwd=cwd, home=home)
    assert any(not unit.auxiliary for unit in found)
    for at, unit in enumerate(found):
        assert unit.spellings
        assert all(unit.spellings)
        assert -1 <= unit.carrier < at or unit.carrier == -1


@given(
    st.lists(st.sampled_from(["git status", "npm test", "git log -p", "ls"]), min_size=1, max_size=5),
    st.sampled_from([" && ", "; ", " | ", "\n"]),
)
@settings(max_examples=80, deadline=None)
def test_a_chain_is_allowed_exactly_when_each_part_is(parts: list[str], operator: str) -> None:
    rule = "git *"
    found = [u for u in units(operator.join(parts)) if not u.auxiliary]
    assert all(any(fnmatchcase(text, rule) for text in u.spellings) for u in found) is all(
        fnmatchcase(p, rule) for p in parts
    )


def test_the_lists_of_the_harmless_give_reasons() -> None:
    reasons = [one.use.wrapping.transparent for one in every_program() if one.use.wrapping is not None]
    assert sum(map(bool, reasons)) >= 9
    assert all(HARMLESS.values())


@pytest.mark.parametrize(
    ("line", "is_text"),
    [
        ("git commit -m \"$(cat <<'EOF'\nFix `x`\nEOF\n)\"", True),
        ('git commit -m "$(cat <<EOF\nFix x\nEOF\n)"', True),
        ('git commit -m "$(cat <<EOF\n$(rm x)\nEOF\n)"', False),
        ('git commit -m "$(cat <<EOF\n$X\nEOF\n)"', False),
        ("git commit -m \"$(cat f <<'EOF'\nx\nEOF\n)\"", False),
        ("git commit -m \"$(cat <<'EOF' > f\nx\nEOF\n)\"", False),
        ("git commit -m \"$(/tmp/cat <<'EOF'\nx\nEOF\n)\"", False),
        ("git commit -m \"$(c\\at <<'EOF'\nx\nEOF\n)\"", False),
        ("git commit -m \"$(sh <<'EOF'\nrm x\nEOF\n)\"", False),
        ("git commit -m \"$(vi <<'EOF'\nrm x\nEOF\n)\"", False),
        ("git commit -m \"$(less <<'EOF'\nrm x\nEOF\n)\"", False),
        ("cat() { rm x; }; git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\"", False),
        ("PATH=.; git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\"", False),
        ("git commit -m \"$(P=1 cat <<'EOF'\nx\nEOF\n)\"", False),
        ("cat <<'EOF'\nx\nEOF", False),
    ],
)
def test_a_message_of_several_lines_needs_no_rule_for_the_program_that_prints_it(line: str, is_text: bool) -> None:
    units = break_down(Facts("bash", (line,), cwd="/w/proj", home="/home/u")).units
    inner = [unit for unit in units if unit.surface == "bash" and unit.program not in ("git", "")][-1]
    assert inner.aside is is_text
