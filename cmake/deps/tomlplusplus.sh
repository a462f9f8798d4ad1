# toml++, from the system where it packages it. Sourced by bootstrap.sh.

toml_is_there() { [[ -f /usr/include/toml++/toml.h || -f $deps/tomlplusplus/toml++/toml.h ]]; }

fetch_toml() {
  local url digest prefix
  read -r url digest prefix < <(grep -v '^#' cmake/deps/tomlplusplus.txt)
  logged tomlplusplus python3 cmake/deps/wheels.py sdist "$url" "$digest" "$prefix" "$deps/tomlplusplus" ||
    die 4 "cannot fetch toml++ from $url"
}

ensure_toml() {
  toml_is_there && return
  if [[ $(apt-cache policy libtomlplusplus-dev 2>/dev/null) == *Candidate:\ [0-9]* ]]; then
    step "Install Debian packages: libtomlplusplus-dev" install_packages libtomlplusplus-dev
  else
    step "Fetch the headers of toml++ (1.3 MB, MIT), which this system does not package" fetch_toml
  fi
}
