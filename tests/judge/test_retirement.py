"""When a model ends, as the installed SDK says, without importing it."""

from __future__ import annotations

import subprocess
import sys

from fwdperm.judge.retirement import retires_on


def test_a_model_the_sdk_calls_deprecated_has_a_date_and_another_has_none() -> None:
    from anthropic._data.deprecated_models import DEPRECATED_MODELS  # noqa: PLC0415 - the oracle

    assert {model: retires_on(model) for model in DEPRECATED_MODELS} == DEPRECATED_MODELS
    assert retires_on("no-such-model") == ""


def test_asking_does_not_import_the_sdk() -> None:
    code = "import sys; from fwdperm.judge.retirement import retires_on as r; r('x'); print('anthropic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
