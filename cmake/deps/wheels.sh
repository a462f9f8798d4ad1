# Wheels from PyPI, pinned by cmake/deps/<list>.txt. Sourced by bootstrap.sh.

# Whether folder $2 holds exactly the wheels that list $1 pins, intact.
wheels_are_intact() {
  local pinned present
  [[ -d $2 ]] || return 1
  pinned=$(grep -o 'sha256:[0-9a-f]*' "cmake/deps/$1.txt" | cut -d: -f2 | sort)
  present=$(cd "$2" && sha256sum -- *.whl 2>/dev/null | cut -d' ' -f1 | sort)
  [[ $pinned == "$present" ]]
}

ensure_venv() {
  [[ -x $deps/venv/bin/python && -x $deps/venv/bin/pip ]] ||
    logged venv python3 -m venv --clear "$deps/venv" || die 4 "cannot make a Python environment"
}

# download_wheels <list> <folder>: through pip, which checks each wheel against its pinned digest.
download_wheels() {
  local list=$1 folder=$2
  ensure_venv
  rm -rf -- "$folder"
  mkdir -p -- "$folder" || die 4 "cannot write to $folder; set HONE_CACHE to a folder you own"
  logged "download-$list" "$deps/venv/bin/pip" download --no-cache-dir --no-deps --require-hashes \
    --only-binary=:all: --disable-pip-version-check --progress-bar off \
    --dest "$folder" -r "cmake/deps/$list.txt" || {
    rm -rf -- "$folder"
    die 4 "cannot fetch the packages of cmake/deps/$list.txt: is PyPI reachable from here, and is" \
      "there room in $(dirname -- "$folder")? Run the same command again to go on."
  }
}

# cached_wheels <list>: sets $wheels to a folder with the list's wheels, fetched if need be.
cached_wheels() {
  wheels=$cache/wheels/$1
  wheels_are_intact "$1" "$wheels" && return
  download_wheels "$1" "$wheels.new$$"
  rm -rf -- "$wheels"
  mv -- "$wheels.new$$" "$wheels"
}

# install_wheel <list>: installs the list's wheels into <build>/deps/venv.
install_wheel() {
  local wheels
  cached_wheels "$1"
  ensure_venv
  logged "install-$1" "$deps/venv/bin/pip" install --no-index --no-deps --require-hashes \
    --disable-pip-version-check --find-links "$wheels" -r "cmake/deps/$1.txt" ||
    die 4 "cannot install the packages of cmake/deps/$1.txt into $deps/venv"
}
