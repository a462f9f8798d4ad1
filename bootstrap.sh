#!/usr/bin/env bash
# Brings what Hone needs onto this machine, then builds, tests or evaluates. See --help.
set -euo pipefail

source_dir=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
cd -- "$source_dir"

usage() {
  cat <<'EOF'
Usage: ./bootstrap.sh COMMAND

  deps     install what is missing: Debian packages, CUDA 13, llama-server, the local model
  test     deps, then configure, build and run Hone's own tests and the reference kernels
  skills   deps, then configure, build and run the skill evaluations (ctest -L '^skills$')
  doctor   say what is found and what is missing; changes nothing
  --help   this text

All commands may be repeated: what is in place is neither fetched nor built again, and once
everything is there no network is needed. For Debian 12 and Ubuntu 22.04 or newer, x86-64, as root
or with sudo.

Environment:
  HONE_BUILD_DIR     build folder (default: build)
  HONE_MODEL         local model, 0.5b or 1.5b (Qwen2.5-Coder-Instruct, default: 0.5b)
  HONE_GGUF          a GGUF file of your own in place of that model
  HONE_LLAMA_SERVER  a llama-server program of your own
  HONE_CUDA_ROOT     root of a CUDA 13 toolkit (default: /usr/local/cuda, else fetched)
  HONE_IGNORE_SYSTEM_CUDA=1
                     do not look at /usr/local/cuda
  HONE_JOBS          parallel build and test jobs (default: 2)
  HONE_CACHE         verified downloads, shared by all clones
                     (default: $XDG_CACHE_HOME/hone, else ~/.cache/hone)

What is fetched, only where it is missing, each file pinned by its SHA-256 (cmake/deps/*.txt):
  CUDA 13 compiler, runtime, Thrust   105 MB  PyPI, by NVIDIA, under NVIDIA's licence
  xllamacpp (llama.cpp's server)       34 MB  PyPI, MIT
  Qwen2.5-Coder-0.5B-Instruct, 4 bit  478 MB  PyPI, by an individual packager who states no
  (or 1.5B, 1.1 GB)                           licence (upstream: Apache-2.0, as far as we know)
  cmake, where older than 3.25         28 MB  PyPI, by Kitware, BSD-3-Clause
  toml++, where not packaged          1.3 MB  PyPI (in pytomlpp's source), MIT

Exit codes: 0 good, 1 a build, test or gate failed, 2 usage, 4 a dependency cannot be had.
EOF
}

: "${HONE_BUILD_DIR:=build}" "${HONE_MODEL:=0.5b}" "${HONE_JOBS:=2}"
case $HONE_BUILD_DIR in
  /*) build=$HONE_BUILD_DIR ;;
  *) build=$source_dir/$HONE_BUILD_DIR ;;
esac
deps=$build/deps
cache=${HONE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/hone}

die() { # die <exit code> <message line>…
  local code=$1
  shift
  printf 'bootstrap: %s\n' "$@" >&2
  exit "$code"
}

elapsed() { # elapsed <EPOCHREALTIME of the start>: seconds since, one digit
  local now=${EPOCHREALTIME/[.,]/} start=${1/[.,]/}
  printf '%d.%d' $(((now - start) / 1000000)) $(((now - start) / 100000 % 10))
}

# step <what> <command>…: says what it does, runs it, and says how long it took.
step() {
  local what=$1 start=$EPOCHREALTIME status=0
  shift
  printf -- '-- %s\n' "$what"
  "$@" || status=$?
  if ((status)); then
    printf "   failed after %s s\n" "$(elapsed "$start")" >&2
    exit "$status"
  fi
  printf "   done in %s s\n" "$(elapsed "$start")"
}

# logged <name> <command>…: runs quietly; when it fails, shows the end of its output.
logged() {
  local log=$deps/log/$1.log
  shift
  mkdir -p "$deps/log"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    printf 'bootstrap: failed: %s\n' "$*" >&2
    tail -n 15 "$log" | sed 's/^/  | /' >&2
    printf 'bootstrap: the whole output is in %s\n' "$log" >&2
    return 4
  fi
}

for part in system tomlplusplus wheels toolkit llama_server model doctor; do
  # shellcheck source=/dev/null
  source "cmake/deps/$part.sh"
done

dependencies() {
  local start=$EPOCHREALTIME
  check_machine
  ensure_packages
  ensure_toml
  ensure_cmake
  ensure_toolkit
  ensure_llama_server
  ensure_model
  ensure_answer
  printf -- '-- Dependencies are in place (%s s)\n' "$(elapsed "$start")"
}

configure() {
  logged configure cmake --preset default -B "$build" \
    -DHONE_CUDA_ROOT="$cuda_root" -DHONE_LLAMA_SERVER="$llama_server" \
    -DHONE_MODEL="$HONE_MODEL" -DHONE_GGUF="${HONE_GGUF:+$gguf}"
}

build_and_test() {
  step "Configure ($build)" configure
  step "Build" cmake --build "$build" -j "$HONE_JOBS"
  mkdir -p "$build/reports"
  ctest --test-dir "$build" -LE '^(skills|slow)$' -j "$HONE_JOBS" --no-tests=error --output-on-failure \
    --output-junit "$build/reports/tests.xml" || return 1
}

evaluate_skills() {
  local status=0
  step "Configure ($build)" configure
  # The workflow preset stands for exactly these three commands with the defaults.
  if [[ $build == "$source_dir/build" && $HONE_JOBS == 2 ]]; then
    cmake --workflow --preset skills || status=1
  else
    step "Build" cmake --build "$build" -j "$HONE_JOBS" --target hone_evaluations
    ctest --test-dir "$build" -L '^skills$' -j "$HONE_JOBS" --no-tests=error \
      --output-on-failure || status=1
  fi
  "$build/bin/hone" report --no-judge --manifest "$build/hone/manifest.json" || status=1
  return $status
}

main() {
  (($# == 1)) || { usage >&2; exit 2; }
  case $1 in
    -h | --help | help) usage; exit 0 ;;
    deps | test | skills | doctor) ;;
    *) die 2 "unknown command '$1'; known: deps, test, skills, doctor, --help" ;;
  esac
  [[ $HONE_JOBS =~ ^[1-9][0-9]*$ ]] || die 2 "HONE_JOBS=$HONE_JOBS: expected a number above 0"
  select_model
  case $1 in
    deps) dependencies ;;
    test) dependencies; ensure_test_packages; build_and_test ;;
    skills) dependencies; evaluate_skills ;;
    doctor) doctor ;;
  esac
}

main "$@"
