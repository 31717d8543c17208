"""Every byte of a line belongs to a word, an operator, a comment or a here-document that ends where bash says."""

from __future__ import annotations

import pytest

from fwdperm.shell import parse_line

UNKNOWABLE = [
    line.replace("~~", "\n")
    for line in r"""
cat <<$'E'~~x~~E~~rm y
cat <<$"E"~~x~~E~~rm y
cat <<$()~~x~~$()~~rm y
cat <<${E}~~x~~${E}~~rm y
cat <<E~~x~~ E
cat <<E~~x~~E ~~rm y
cat <<'E'~~x~~E>f
cat <<'E'<(f)~~x~~E
cat <<E~~x
[ a > /dev/sda ]
[ a & b ]
[ a ; b ]
0>/dev/null rm x
rm 0>x
rm -2>x
rm {x}>`f`
>x else
>x for
<x then rm y
x=1 do
<a >b x=1
>$ rm
>& -rm
a =~>f
z=(a)b c
x=] {
Z[[]=]
if a;then''; then b; fi
case a in b) c esac; esac
''\ ${x}
(('a[$(evil)]'))
(("$(evil)"))
for ((i='$(evil)';;)); do a; done
((a); b)
[[ a <(b) ]]
[[ a =~ (<(b)) ]]
""".strip().splitlines()
]


@pytest.mark.parametrize("line", UNKNOWABLE)
def test_what_does_not_add_up_is_unknowable(line: str) -> None:
    """The grammar takes each of them for something else than bash does."""
    assert parse_line(line).opaque


@pytest.mark.parametrize(
    "line",
    [
        "cat <<EOF > f\nx $(date)\nEOF\nls",
        "cat <<'EOF' | sort && ls\nit's\nEOF",
        "cat > f <<-EOF\n\tx\n\tEOF\nls",
        "python3 - <<'PY'\nimport os\nprint('a' if 1 > 0 else 'b')\nPY",
        "git commit -F - <<'EOF'\nSubject\n\n# not a comment\nEOF",
        "cat <<\\EOF\nx\nEOF",
        "cat <<'END-1'\nx\nEND-1\n",
        "for i in 1 2 3; do echo $i; done > out.txt 2>&1",
        "if [ -f a ] && [ ! -d b ]; then ls; elif [[ a == b* ]]; then c; else d; fi",
        'case "$1" in a|b) ls ;; *) pwd ;; esac',
        'while read -r x; do echo "$x"; done < f',
        "(cd a && ls) | sort -u; { ls; pwd; } > f",
        "a=(1 2 3); echo ${a[0]} ${#a[@]} ${a[@]:1}",
        "export A=b C=d",
        "x=$((1 + 2)); ((x++)); echo $((x > 1 ? 2 : 3))",
        "[ '<' = '>' ]",
        '[[ "$x" =~ ^[0-9]+$ && a < b ]]',
        "find . -name '*.py' -exec grep -l x {} \\; 2>/dev/null",
        "ls 2>&1 >f | tee -a g # done",
        "time ls; ! grep x f",
        "f() { local a=1; echo $a; }; f",
        "echo {a,b}.c a#b \"it's\" 'say \"x\"' $'a\\tb'",
        "echo a \\\n  b \\\n  c",
        'echo `date` "`pwd`" $(ls | wc -l)',
        "diff <(ls a) <(ls b)",
        "a && # why\nb ||\nc",
        "exec 3>&1 2>&- <&-; cat <&3",
        "echo $(\n  ls # a comment\n  pwd\n)",
    ],
)
def test_ordinary_lines_add_up(line: str) -> None:
    assert parse_line(line).opaque == ""


@pytest.mark.parametrize("line", ["time PATH=/x", "time -p LD_PRELOAD=./x.so ls", "coproc LD_PRELOAD=./x.so ls"])
def test_what_decides_what_runs_is_an_assignment_behind_time_too(line: str) -> None:
    """`time` is a word of the shell, and an assignment behind it is none of its arguments."""
    assert [name for one in parse_line(line).commands for name, _ in one.prefixes] in (["PATH"], ["LD_PRELOAD"])


def test_a_loop_behind_a_word_that_tears_it_still_sets_its_variable() -> None:
    assert {name for name, _ in parse_line("time for PATH in a b; do ls; done").loops} == {"PATH"}


def test_a_text_ends_at_a_zero_byte_as_in_bash() -> None:
    """What is behind it in the same quotes is not there."""
    assert parse_line("$'rm\\0x'y z").commands[0].argv == ("rmy", "z")


def test_a_carriage_return_is_a_character_of_its_word() -> None:
    assert [one.argv for one in parse_line("a b\r\nc").commands] == [("a", "b\r"), ("c",)]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("x=$a/$b.c", {"x": "${a}/${b}.c"}),
        ("OUT=$DIR/$name.txt; y=1", {"OUT": "${DIR}/${name}.txt", "y": "1"}),
        ("x='$a'$b/$c.d y", {"x": "'$a'${b}/${c}.d"}),
        (r"x=\$a/$b/$c.d", {"x": r"\$a/${b}/${c}.d"}),
    ],
)
def test_a_value_of_several_variables_is_one_word(line: str, values: dict[str, str]) -> None:
    """The grammar cuts `$a/$b.c` behind its second `$`; a shell does not, and nobody is asked for that."""
    parsed = parse_line(line)
    assert parsed.opaque == ""
    assert {name: value.raw for command in parsed.commands for name, value in command.prefixes} == values
    assert all(not command.opaque for command in parsed.commands)
