# What is found and what is missing. Sourced by bootstrap.sh.

found() { printf '  ok       %-14s %s\n' "$1" "$2"; }
absent() {
  printf '  MISSING  %-14s %s\n' "$1" "$2"
  problems=$((problems + 1))
}

doctor() {
  local problems=0 missing
  printf 'Machine: %s, %s CPUs, %s\n' "$(. /etc/os-release 2>/dev/null && echo "${PRETTY_NAME:-unknown system}")" \
    "$(nproc)" "$(uname -m)"
  mapfile -t missing < <(missing_packages "${packages[@]}")
  if ((${#missing[@]})); then absent packages "${missing[*]}"; else found packages "${#packages[@]} Debian packages"; fi
  if toml_is_there; then found toml++ "headers"; else absent toml++ "libtomlplusplus-dev"; fi
  if cmake_is_new cmake; then
    found cmake "$(cmake --version | head -n 1)"
  elif cmake_is_new "$deps/venv/bin/cmake"; then
    found cmake "$deps/venv/bin/cmake"
  else
    absent cmake "3.25 or newer"
  fi
  if find_toolkit; then
    found cuda "$cuda_root ($("$cuda_root/bin/nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'))"
  else
    absent cuda "${HONE_CUDA_ROOT:-no CUDA 13 toolkit}"
  fi
  if find_llama_server; then found llama-server "$llama_server"; else absent llama-server "$llama_server"; fi
  if [[ -n ${HONE_GGUF:-} && $(head -c 4 -- "$gguf" 2>/dev/null) == GGUF ]]; then
    found model "$gguf (your own, not verified)"
  elif [[ -z ${HONE_GGUF:-} && -f $gguf ]] && python3 cmake/deps/wheels.py check "$gguf" "$gguf_sha256"; then
    found model "$gguf (SHA-256 verified)"
  else
    absent model "$gguf"
  fi
  if bwrap --ro-bind / / --unshare-all true 2>/dev/null; then
    found sandbox "bubblewrap (build/bin/hone doctor says which tier holds)"
  else
    printf '  note     %-14s %s\n' sandbox "bubblewrap cannot make namespaces here; Landlock may do (see build/bin/hone doctor)"
  fi
  if [[ -e /dev/nvidiactl ]]; then
    found gpu "$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)"
  else
    printf '  note     %-14s %s\n' gpu "none; kernels run on cudasim"
  fi
  if [[ -d $cache ]]; then found cache "$cache ($(du -sh -- "$cache" | cut -f 1))"; else found cache "$cache (empty)"; fi
  if ((problems)); then
    printf '%d missing: ./bootstrap.sh deps brings them.\n' "$problems"
    return 4
  fi
}
