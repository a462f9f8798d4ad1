"""llama.cpp's HTTP server, from the Python extension xllamacpp, behind llama-server's own flags.

bootstrap.sh installs it as <build>/deps/llama-server/llama-server. The extension holds llama.cpp's
C++ server; this file only turns the command line into its parameters and waits for a signal.
Exit codes: 0 stopped by a signal, 1 the model or the address cannot be used, 2 usage.
"""

import argparse
import os
import signal
import socket
import sys


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="llama-server",
        allow_abbrev=False,
        description="Serves a GGUF model over HTTP: /health, /v1/models, /v1/chat/completions. "
        "Takes this subset of llama-server's flags.",
    )
    add = parser.add_argument
    add("-m", "--model", metavar="FILE", required=True, help="the GGUF file")
    add("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    add("--port", type=int, default=8080, help="port, 0 for a free one (default %(default)s)")
    add("-c", "--ctx-size", type=int, default=4096, metavar="N",
        help="context tokens, shared by the slots (default %(default)s)")
    add("-np", "--parallel", type=int, default=1, metavar="N",
        help="requests answered at once (default %(default)s)")
    add("-t", "--threads", type=int, default=os.cpu_count() or 1, metavar="N",
        help="CPU threads (default: all, %(default)s)")
    add("-a", "--alias", metavar="NAME", help="name the model answers to (default: its file's)")
    add("--api-key", metavar="KEY", help="key that requests must carry")
    add("--no-webui", "--no-ui", action="store_true", help="serve the API only")
    add("-lv", "--verbosity", type=int, default=2, metavar="N",
        help="log level, 0 none to 5 debug (default %(default)s)")
    add("--version", action="store_true", help="print the version and exit")
    if "--version" in argv:
        return None
    options = parser.parse_args(argv)
    for name, low, high in (("port", 0, 65535), ("ctx_size", 1, 1 << 24), ("parallel", 1, 256),
                            ("threads", 1, 1024)):
        value = getattr(options, name)
        if not low <= value <= high:
            parser.error(f"--{name.replace('_', '-')} {value}: expected {low} to {high}")
    return options


def fail(message):
    print(f"llama-server: error: {message}", file=sys.stderr, flush=True)
    # The extension's threads may still run: leave without waiting for them.
    os._exit(1)


def check_gguf(path):
    """Says what is wrong with the file before llama.cpp aborts on it."""
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    if magic != b"GGUF":
        fail(f"{path}: not a GGUF file (it starts with {magic!r})")


def check_address(host, port):
    """Names the trouble with the address; the extension only says that it could not start."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        fail(f"{host}:{port}: {error.strerror}")


def main(argv):
    options = parse(argv)
    if options:
        check_gguf(options.model)
        check_address(options.host, options.port)
    try:
        import xllamacpp
    except ImportError as error:
        fail(f"the Python module xllamacpp is missing ({error}); run ./bootstrap.sh deps")
    if options is None:
        print(f"llama-server (xllamacpp {xllamacpp.__version__})")
        return 0

    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.hostnames = [options.host]
    params.port = options.port
    params.n_ctx = options.ctx_size
    params.n_parallel = options.parallel
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.n_gpu_layers = 0
    params.ui = not options.no_webui
    params.verbosity = options.verbosity
    if options.alias:
        params.model_alias = {options.alias}
    if options.api_key:
        params.api_keys = [options.api_key]

    # While the model loads, a signal ends the process at once; afterwards one byte in this pipe
    # wakes the main thread, whichever thread took the signal.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        server = xllamacpp.Server(params)
    except Exception as error:  # the extension raises bare exceptions of several kinds
        fail(f"cannot serve {options.model} on {options.host}:{options.port}: {error}")
    print(f"llama-server: listening on {server.listening_address}", flush=True)

    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    os.read(woken, 1)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
