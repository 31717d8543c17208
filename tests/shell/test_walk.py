"""Every simple command of a line is found, wherever it stands."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fwdperm.settings import VALUE_CHARS
from fwdperm.shell.command import CommandLine, Stands
from fwdperm.shell.parsing import parse_line


def programs(line: str) -> list[str]:
    return [" ".join(c.argv) for c in parse_line(line).commands if c.words]


@pytest.mark.parametrize(
    "line",
    [
        "true && rm x",
        "true; rm x",
        "false || rm x",
        "a | rm x",
        "a |& rm x",
        "a & rm x",
        "a\nrm x",
        "a\r\nrm x",
        "! rm x",
        "time rm x",
        "time -p rm x",
        "time { rm x; }",
        "time (rm x)",
        "time for i in a; do rm x; done",
        "! { rm x; }",
        "coproc rm x",
        "coproc N { rm x; }",
        "coproc (rm x)",
        "(rm x)",
        "{ rm x; }",
        "f() { rm x; }",
        "f(){ rm x; }; f",
        "function f { rm x; }",
        "f() ( rm x )",
        "if true; then rm x; fi",
        "if rm x; then a; fi",
        "if a; then b; elif rm x; then c; fi",
        "if a; then b; else rm x; fi",
        "for i in a; do rm x; done",
        "for i in $(rm x); do a; done",
        "for ((i=0;i<$(rm x);i++)); do a; done",
        "while rm x; do a; done",
        "until a; do rm x; done",
        "while a; do b; done < <(rm x)",
        "select i in a; do rm x; done",
        "case a in a) rm x;; esac",
        "case $(rm x) in a) b;; esac",
        "case a in $(rm x)) b;; esac",
        "X=$(rm x)",
        "X=`rm x`",
        "X=$(rm x) cmd",
        "export X=$(rm x)",
        "declare -a a=(1 $(rm x))",
        "a=($(rm x))",
        "a[$(rm x)]=1",
        "echo $(rm x)",
        "echo `rm x`",
        'echo "$(rm x)"',
        'echo "`rm x`"',
        "echo $(echo $(rm x))",
        "echo `echo \\`rm x\\``",
        "echo ${x:-$(rm x)}",
        'echo ${x:-"$(rm x)"}',
        "echo ${x#$(rm x)}",
        "echo ${x:-`rm x`}",
        "echo ${x/$(rm x)/b}",
        "echo ${a[$(rm x)]}",
        "echo $(( $(rm x) + 1 ))",
        "echo $((a[$(rm x)]))",
        "(( $(rm x) ))",
        "[[ $(rm x) ]]",
        '[[ x == "$(rm x)"* ]]',
        "[ $(rm x) = b ]",
        "[ -f x ] && rm x",
        "cat <(rm x)",
        "tee >(rm x)",
        "cat < <(rm x)",
        "a > >(rm x)",
        "a 2> >(rm x)",
        "cat <<< $(rm x)",
        "cat <<EOF\n$(rm x)\nEOF",
        "cat <<EOF\n`rm x`\nEOF",
        "cat <<EOF\n${x:-$(rm x)}\nEOF",
        "cat <<EOF | rm x\nb\nEOF",
        "cat <<'EOF' | rm x\nb\nEOF",
        "cat <<EOF && rm x\nb\nEOF",
        "cat <<EOF || rm x\nb\nEOF",
        "cat <<EOF > f && rm x\nb\nEOF",
        "r\\\n\\\nm x",
        "$\\\n(rm x)",
        "a &\\\n& rm x",
        "echo 'a\\\nb'; r\\\nm x",
        "cat -n - <<EOF | rm x\nb\nEOF",
        "a | b <<EOF | rm x\nb\nEOF",
        "if a; then b <<EOF | rm x\ny\nEOF\nfi",
        "cat <<EOF\nb\nEOF\nrm x",
        "bash <<EOF\nrm x\nEOF",
        "bash <<'EOF'\nrm x\nEOF",
        "bash -s <<EOF\nrm x\nEOF",
        "cat <<EOF | sh\nrm x\nEOF",
        "cat <<'EOF' | sudo bash\nrm x\nEOF",
        "sh <<< 'rm x'",
        "echo 'rm x' | sh",
        "trap 'rm x' EXIT",
        "alias a='rm x'",
        "rm\tx",
        "rm  x",
        "rm \\\n x",
        "r\\\nm x",
        "\\rm x",
        "r\\m x",
        "r''m x",
        '"rm" x',
        "'rm' x",
        "$'rm' x",
        "$'\\x72m' x",
        "$'\\162\\155' x",
        "> f rm x",
        "2>&1 rm x",
        "X=1 rm x",
        "rm x > f",
        "rm > f x",
        "rm 2>&1 x",
        "rm x # c",
        "# c\nrm x",
        "cat <<A\nx\nA\nrm x",
        "rm x &",
        "eval rm x",
        "eval 'rm x'",
        'eval "a; rm x"',
        "a $(b | rm x) | c",
        "{ a | rm x; } 2>&1 | b",
        "((a)) && rm x",
        "a\n\\rm x",
        "a b\n\n\\rm x",
        "a > f\n\\rm x",
        "X=1\n\\rm x",
        "a # c\n\\rm x",
        "a\r\n\\rm x",
        "a <<< b\n\\rm x",
        "if a\n\\rm x\nthen b; fi",
        "bash <<'E'\n\\rm x\nE",
        "bash <<E\n\\rm x\nE",
        "sh -c 'a\n\\rm x'",
    ],
)
def test_a_command_is_found_wherever_it_stands(line: str) -> None:
    assert "rm x" in programs(line)
    assert parse_line(line).opaque == ""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git commit -m 'a && b'", ["git commit -m a && b"]),
        ('echo "a; rm x | b"', ["echo a; rm x | b"]),
        ("grep 'mkfs' docs", ["grep mkfs docs"]),
        ("echo a # rm x", ["echo a"]),
        ("cat <<'EOF'\n$(rm x) `rm y`\nEOF", ["cat"]),
        ("npm test 2>&1 | grep 'a|b'", ["npm test", "grep a|b"]),
        ("echo '$(rm x)'", ["echo $(rm x)"]),
        ("echo \\$(rm", []),
        ("git commit -F - <<'EOF'\nfeat: x\nEOF", ["git commit -F -"]),
        (
            "git commit -m \"$(cat <<'EOF'\nfix: it (a)s\nEOF\n)\"",
            ["git commit -m $(cat <<'EOF'\nfix: it (a)s\nEOF\n)", "cat"],
        ),
        ("a>b c>d e 2>&1 f", ["a c e f"]),
        ("cat <<EOF -n\nx\nEOF", ["cat -n"]),
        ("X=1", []),
        ("# c", []),
        ("", []),
        ("   ", []),
    ],
)
def test_nothing_is_made_up(line: str, expected: list[str]) -> None:
    parsed = parse_line(line)
    if not parsed.opaque:
        assert [" ".join(c.argv) for c in parsed.commands if c.words] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a | b | c", [("a", -1), ("b", 0), ("c", 1)]),
        ("a $(x) | b", [("a", -1), ("x", -1), ("b", 0)]),
        ("curl x | sudo sh", [("curl", -1), ("sudo", 0), ("sh", 0)]),
        ("cat <<E | b\nx\nE", [("cat", -1), ("b", 0)]),
        ("sudo cat x | tee y", [("sudo", -1), ("cat", -1), ("tee", 0)]),
        ("{ a; b; } | c", [("a", -1), ("b", -1), ("c", 1)]),
        ("a | { b; c; }", [("a", -1), ("b", 0), ("c", 0)]),
        ("a; b", [("a", -1), ("b", -1)]),
    ],
)
def test_pipes_say_who_feeds_whom(line: str, expected: list[tuple[str, int]]) -> None:
    assert [(c.program, c.fed_by) for c in parse_line(line).commands] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cd /a && x", "/a"),
        ("cd a; cd b; x", "a/b"),
        ("cd $X; x", "?"),
        ("cd; x", "~"),
        ("cd -; x", "?"),
        ("(cd a); x", ""),
        ("(cd a; x)", "a"),
        ("cd a | x", ""),
        ("cd a & x", ""),
        ("echo $(cd a); x", ""),
        ("if y; then cd a; fi; x", "?"),
        ("if y; then cd a; x; fi", "a"),
        ("pushd a; x", "a"),
        ("popd; x", "?"),
        ("builtin cd a; x", "a"),
        ("cd $X; cd /b; x", "/b"),
        ("sh -c 'cd /b && x'", "/b"),
        ("sudo sh -c 'cd /b; x'", "/b"),
        ("sudo cd /b; x", ""),
        ("{ cd a; }; x", "a"),
        ("env -C /b x", "/b"),
        ("sh -c 'cd a'; x", ""),
        ("eval 'cd a'; x", "a"),
        ("f() { cd a; }; x", "?"),
        ("while y; do cd a; done; x", "?"),
        ("ssh h x", "?"),
        ("cd -P a; x", "a"),
        ("cd 'a b'; x", "a b"),
    ],
)
def test_a_literal_cd_changes_where_later_commands_run(line: str, expected: str) -> None:
    assert [c.cwd for c in parse_line(line).commands if c.program == "x"] == [expected]


def test_redirections_of_real_files_are_told_from_the_rest() -> None:
    line = "a > f 2>&1 < g >> h 2>/dev/null &> i >&2 2> >(b) > /dev/stderr < /dev/null >| j <&3 >&-"
    redirects = parse_line(line).commands[0].redirects
    assert [r.target.text for r in redirects if r.writes] == ["f", "h", "i", "j"]
    assert [r.target.text for r in redirects if r.reads] == ["g"]


@pytest.mark.parametrize(
    ("line", "writer"),
    [
        ("a && b > f", "b"),
        ("a | b > f", "b"),
        ("a > f | b", "a"),
        ("! a > f", "a"),
        ("(a; b) > f", ""),
        ("{ a; } > f", ""),
        ("if a; then b; fi > f", ""),
        ("> f", ""),
        ("cat <<E > f\nx\nE", "cat"),
        ("g() { a; } > f", ""),
    ],
)
def test_a_redirection_belongs_to_the_command_it_follows(line: str, writer: str) -> None:
    owners = [c.program for c in parse_line(line).commands if any(r.writes for r in c.redirects)]
    assert owners == [writer]


def test_where_a_command_stands_is_told() -> None:
    line = "a; (b); $(c) d; f() { e; }; if g; then h; fi; sudo i; bash <<E\nj\nE"
    stands = {c.program: c.stands for c in parse_line(line).commands}
    assert stands["a"] is Stands.TOP
    assert stands["b"] is Stands.SUBSHELL
    assert stands["c"] is Stands.SUBSTITUTION
    assert stands["e"] is Stands.FUNCTION
    assert stands["h"] is Stands.CONTROL
    assert stands["i"] is Stands.WRAPPER
    assert stands["j"] is Stands.HEREDOC
    assert parse_line(line).functions == ("f",)


@pytest.mark.parametrize(
    "line",
    [
        "echo 'abc",
        "if a; then rm x",
        "$(",
        "a\x00b",
        "a \ud800",
        "rm x )",
        "if cat <<EOF; then foo; fi\nx\nEOF",
        "((rm x))",
        "x" * (VALUE_CHARS + 1),
    ],
)
def test_what_cannot_be_understood_is_opaque_and_never_without_commands(line: str) -> None:
    parsed = parse_line(line)
    assert parsed.opaque
    assert parsed.commands
    assert parsed.commands[-1].opaque


DEEP = 10_000


@pytest.mark.parametrize(
    "line",
    [
        "$(" * DEEP + "rm" + ")" * DEEP,
        "(" * DEEP,
        "{ " * DEEP,
        "`" * DEEP,
        "${a:-" * DEEP + "}" * DEEP,
        "if a; then " * 2000,
        "[[ " + "( " * DEEP,
        "echo $((" + "(" * DEEP,
        "f(){ " * DEEP,
        "! " * DEEP + "a",
        "sudo " * DEEP + "rm x",
        "eval " * DEEP + "rm x",
        "xargs -I{} " * 5000,
        "env -S " * 9000,
        "find -exec " * 5000,
        "<<<-`" * 12_000,
        ")" * 60_000,
        "\x00" * 60_000,
        "~=$" * 20_000,
        "((1<<E))\n" + "<<<-`" * 12_000,
        "'" * 60_001,
        '"$(' * 20_000,
        "\\" * 60_001,
        "cat <<A\n" * 8000,
        "a=" * 30_000,
        "{a," * 20_000,
        "docker run " + "--weird " * 8000,
        "x" * 1_000_000,
        "$(" * 30 + "<<<-`" * 12_000,
        "case x in " * 6000,
        "nice nice " * 6000,
    ],
)
@pytest.mark.timeout(5)
def test_hostile_text_takes_bounded_time_and_is_never_nothing(line: str) -> None:
    parsed = parse_line(line)
    assert parsed.opaque or len(parsed.commands) == 1
    assert parsed.commands


@pytest.mark.parametrize("body", ["foo(bar[1], {x: 2}); if (a) { b }\n", 'it\'s <b> & "c"\n'])
def test_a_long_quoted_here_document_is_not_intricate(body: str) -> None:
    line = "cat > f <<'EOF'\n" + body * 1500 + "EOF\nrm x"
    parsed = parse_line(line)
    assert parsed.opaque == ""
    assert [c.argv for c in parsed.commands] == [("cat",), ("rm", "x")]
    assert parsed.commands[0].redirects[-1].target.text == body * 1500


def test_a_long_list_is_read_whole() -> None:
    parsed = parse_line("git status && " * 500 + "rm x")
    assert parsed.opaque == ""
    assert len(parsed.commands) == 501
    assert parsed.commands[-1].argv == ("rm", "x")


def test_a_cut_never_falls_into_a_command() -> None:
    parsed = parse_line("find . " + "-exec a \\; " * 3000)
    assert parsed.opaque or parsed.commands[0].argv[-1] == ";"
    assert not any(c.program == "-exec" for c in parsed.commands)


def test_marks_hidden_from_the_parser_in_what_is_no_quote_make_the_line_opaque() -> None:
    line = "((1<<E))\n" + "rm $x;\n" * 2000 + "E\n"
    parsed = parse_line(line)
    assert parsed.opaque or ("rm", "$x") in [c.argv for c in parsed.commands]


def test_characters_beyond_ascii_are_plain_and_never_reach_the_scanner() -> None:
    """The grammar's scanner ends the process on some of them."""
    for text in ("{\U0010ffff a", "echo {\U000b2ad7 b", "\u00a0rm x", "é=1", "cat <<é\nü\nrm x\né"):
        parse_line(text * 50)
    assert parse_line("rm\u00a0x").commands[0].argv == ("rm\u00a0x",)
    assert parse_line("é=1 x").commands[0].argv == ("é=1", "x")
    assert parse_line("echo 'é ü' | grep ☃").commands[1].argv == ("grep", "☃")


SHELLISH = st.text(
    alphabet=st.sampled_from(list("ab \t\n'\"\\$`(){}[]<>|&;!#*?=~-/0EOF\x00\r\u202e\ud800é")), max_size=60
)


@given(
    st.one_of(SHELLISH, st.text(max_size=40), st.binary(max_size=40).map(lambda b: b.decode(errors="surrogateescape")))
)
@example("a <<A <<B | c\n1\nA\n2\nB\n")
@example("A=1 >f")
@settings(max_examples=1500, deadline=None)
def test_no_text_raises(text: str) -> None:
    parsed = parse_line(text)
    assert isinstance(parsed, CommandLine)
    assert parsed.commands or not parsed.opaque or not text.strip()
    for at, command in enumerate(parsed.commands):
        assert -1 <= command.carrier <= at
        assert -1 <= command.fed_by <= at


SIMPLE = st.lists(
    st.sampled_from(["git", "status", "-x", "a/b", "'q r'", '"d e"', "x\\ y", "1"]), min_size=1, max_size=4
).filter(lambda words: words[0] in ("git", "status", "a/b"))


@given(
    st.lists(SIMPLE, min_size=1, max_size=6),
    st.sampled_from([";", " ; ", "&&", " && ", "\n", " || ", " | ", "|&", " & "]),
)
@settings(max_examples=300, deadline=None)
def test_simple_commands_joined_by_operators_are_split_as_they_were_joined(
    parts: list[list[str]], operator: str
) -> None:
    line = operator.join(" ".join(words) for words in parts)
    parsed = parse_line(line)
    assert [c.raw for c in parsed.commands] == [" ".join(words) for words in parts]
    assert [[w.raw for w in c.words] for c in parsed.commands] == parts


HARMLESS = [
    "2>&1",
    "2>/dev/null",
    ">/dev/null",
    "</dev/null",
    ">&2",
    "1>&2",
    "2>>/dev/null",
    "&>/dev/null",
    ">/dev/stderr",
]


@given(SIMPLE, st.lists(st.tuples(st.integers(1, 5), st.sampled_from(HARMLESS)), max_size=3))
@settings(max_examples=200, deadline=None)
def test_harmless_redirections_never_change_the_words(words: list[str], redirects: list[tuple[int, str]]) -> None:
    typed = list(words)
    for at, redirect in redirects:
        typed.insert(min(at, len(typed)), redirect)
    command = parse_line(" ".join(typed)).commands[0]
    assert [w.raw for w in command.words] == words
    assert not any(r.writes or r.reads for r in command.redirects)


def test_reading_is_the_same_every_time() -> None:
    rng = random.Random(7)  # noqa: S311 - repeatable on purpose
    pieces = ["a", "$(b)", "| c", "&& d", "> e", "'f g'", "; h", "sudo i", "`j`"]
    for _ in range(100):
        line = " ".join(rng.choice(pieces) for _ in range(6))
        assert parse_line(line) == parse_line(line)
