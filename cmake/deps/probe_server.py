"""Starts a llama-server with a model, asks for one token and stops it: probe_server.py PROGRAM GGUF.

Exit codes: 0 it answered, 1 it did not; the reason and the server's output are printed.
"""

import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

LOAD_SECONDS = 180


def ask(port):
    """One chat completion of one token; raises OSError while the server is not ready."""
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1, "temperature": 0}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions",
                                     json.dumps(body).encode(), {"Content-Type": "application/json"})
    # A proxy of the environment has no say about the loopback address.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as response:
        return json.load(response)["usage"]["completion_tokens"]


def main(program, gguf):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            [program, "-m", gguf, "--host", "127.0.0.1", "--port", str(port), "-c", "512", "-np", "1"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        error = "no answer"
        try:
            end = time.monotonic() + LOAD_SECONDS
            while time.monotonic() < end and server.poll() is None:
                try:
                    ask(port)
                    return 0
                except (OSError, ValueError, KeyError) as problem:
                    error = problem
                    time.sleep(0.3)
        finally:
            status = server.poll()
            server.kill()
            server.wait()
        log.seek(0)
        sys.stdout.write(log.read().decode(errors="replace")[-4000:])
    if status is None:
        print(f"{program}: no answer within {LOAD_SECONDS} s: {error}")
    elif status < 0:
        hint = " (built for another CPU)" if -status == signal.SIGILL else ""
        print(f"{program}: died of {signal.Signals(-status).name}{hint}; set HONE_LLAMA_SERVER")
    else:
        print(f"{program}: exited with {status}")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
