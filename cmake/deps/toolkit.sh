# The CUDA 13 toolkit. Sourced by bootstrap.sh; sets $cuda_root.

cuda_is_13() { [[ -x $1/bin/nvcc ]] && "$1/bin/nvcc" --version 2>/dev/null | grep -q 'release 13\.'; }

unpack_toolkit() {
  local wheels partial=$deps/cuda.new$$
  cached_wheels cuda
  rm -rf -- "$partial" "$deps/cuda"
  mkdir -p -- "$partial"
  python3 cmake/deps/wheels.py unpack "$wheels" nvidia/cu13 "$partial" || die 4 "cannot unpack the CUDA wheels"
  # The names that linkers and CMake look for; the wheels hold only the versioned ones.
  ln -s libcudart.so.13 "$partial/lib/libcudart.so"
  ln -s lib "$partial/lib64"
  cuda_is_13 "$partial" || die 4 "the unpacked nvcc does not run: $("$partial/bin/nvcc" --version 2>&1 | head -n 3)"
  mv -- "$partial" "$deps/cuda"
}

find_toolkit() {
  cuda_root=
  if [[ -n ${HONE_CUDA_ROOT:-} ]]; then
    cuda_root=$HONE_CUDA_ROOT
    cuda_is_13 "$cuda_root" || return 1
  elif [[ -z ${HONE_IGNORE_SYSTEM_CUDA:-} ]] && cuda_is_13 /usr/local/cuda; then
    cuda_root=/usr/local/cuda
  elif cuda_is_13 "$deps/cuda"; then
    cuda_root=$deps/cuda
  else
    return 1
  fi
}

ensure_toolkit() {
  find_toolkit && return
  [[ -z ${HONE_CUDA_ROOT:-} ]] ||
    die 4 "HONE_CUDA_ROOT=$HONE_CUDA_ROOT: no CUDA 13 there (bin/nvcc is missing or of another version)"
  step "Fetch CUDA 13.0 (nvcc, runtime, Thrust; 105 MB, by NVIDIA under its licence) into $deps/cuda" \
    unpack_toolkit
  cuda_root=$deps/cuda
}
