# Debian packages and CMake itself. Sourced by bootstrap.sh.

packages=(
  g++ cmake ninja-build ccache git pkg-config python3 python3-venv ca-certificates
  libgtest-dev libgmock-dev libbenchmark-dev
  nlohmann-json3-dev libfmt-dev libcli11-dev libyaml-cpp-dev
  libcurl4-openssl-dev libcpp-httplib-dev libssl-dev
  libzstd-dev zlib1g-dev
  libtbb-dev libboost-dev libffi-dev libsqlite3-dev libjs-chart.js gnuplot-nox
  bubblewrap libseccomp-dev libxml2-utils
)

# What only tests use: readers of our formats, and a browser for the report page. A test whose package
# is not to be had skips and names it.
test_packages=(python3-jsonschema libbenchmark-tools python3-scipy chromium chromium-driver)

check_machine() {
  [[ $(uname -sm) == "Linux x86_64" ]] ||
    die 4 "this is $(uname -sm); the pinned packages are for Linux x86_64"
  command -v dpkg-query >/dev/null ||
    die 4 "no dpkg here: install the equivalents of these Debian packages by hand:" "${packages[*]}"
}

missing_packages() { # missing_packages <package>…: those that are not installed
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      printf '%s\n' "$package"
  done
}

install_packages() {
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die 4 "not root and no sudo; have these installed: apt-get install $*"
    as_root=(sudo)
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y
    -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
  # An old package list may still do, so a failed update alone does not end it.
  logged apt-update "${apt[@]}" update || true
  logged apt-install "${apt[@]}" install --no-install-recommends "$@" ||
    die 4 "apt-get cannot install: $*"
}

ensure_packages() {
  local missing
  mapfile -t missing < <(missing_packages "${packages[@]}")
  ((${#missing[@]} == 0)) ||
    step "Install Debian packages: ${missing[*]}" install_packages "${missing[@]}"
}

ensure_test_packages() {
  local package missing=()
  for package in $(missing_packages "${test_packages[@]}"); do
    if apt-cache show "$package" >/dev/null 2>&1; then
      missing+=("$package")
    else
      printf -- '-- %s is not to be had here: its tests skip\n' "$package"
    fi
  done
  ((${#missing[@]} == 0)) ||
    step "Install Debian packages for tests: ${missing[*]}" install_packages "${missing[@]}"
}

# Whether CMake is 3.25 or newer, which presets of version 6 and the tests' discovery need.
cmake_is_new() {
  local version
  version=$("$1" --version 2>/dev/null | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
  [[ -n $version && $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) == 3.25 ]]
}

install_cmake() { install_wheel cmake; }

ensure_cmake() {
  if ! cmake_is_new cmake; then
    cmake_is_new "$deps/venv/bin/cmake" || step "Install a newer CMake into $deps/venv" install_cmake
    export PATH=$deps/venv/bin:$PATH
  fi
}
