# The local model server. Sourced by bootstrap.sh; sets $llama_server.

install_llama_server() {
  install_wheel llama_server
  mkdir -p -- "$deps/llama-server"
  cp -- cmake/deps/llama_server.py "$deps/llama-server/llama_server.py"
  cat >"$deps/llama-server/llama-server" <<EOF
#!/bin/sh
exec '$deps/venv/bin/python' '$deps/llama-server/llama_server.py' "\$@"
EOF
  chmod +x "$deps/llama-server/llama-server"
  "$llama_server" --version >/dev/null ||
    die 4 "the installed llama-server does not start on this CPU; name another by HONE_LLAMA_SERVER"
}

find_llama_server() {
  llama_server=${HONE_LLAMA_SERVER:-$deps/llama-server/llama-server}
  [[ -x $llama_server ]] || return 1
  [[ -n ${HONE_LLAMA_SERVER:-} ]] || {
    cmp -s cmake/deps/llama_server.py "$deps/llama-server/llama_server.py" &&
      grep -qF "'$deps/venv/bin/python'" "$llama_server" && [[ -x $deps/venv/bin/python ]] &&
      compgen -G "$deps/venv/lib/python3*/site-packages/xllamacpp" >/dev/null
  }
}

ensure_llama_server() {
  find_llama_server && return
  [[ -z ${HONE_LLAMA_SERVER:-} ]] || die 4 "HONE_LLAMA_SERVER=$HONE_LLAMA_SERVER: no such program"
  step "Install llama-server (xllamacpp, MIT, 34 MB) into $deps/llama-server" install_llama_server
}

# ensure_answer: once for each server and model, starts the one with the other and has it answer.
# That finds a program built for another CPU before an evaluation does.
ensure_answer() {
  local stamp
  stamp="$llama_server $(stat -Lc '%s %Y' "$llama_server") $gguf $(stat -Lc '%s %Y' "$gguf")"
  [[ $(cat "$deps/answered" 2>/dev/null) != "$stamp" ]] || return 0
  step "Ask the local model one token" logged probe \
    python3 cmake/deps/probe_server.py "$llama_server" "$gguf"
  printf '%s\n' "$stamp" >"$deps/answered"
}
