#include "oracle/signature.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace hone::oracle {

std::size_t size_of(Element element) {
  switch (element) {
    case Element::float32:
    case Element::int32:
      return 4;
    case Element::float64:
    case Element::int64:
      return 8;
    case Element::uint8:
      return 1;
  }
  return 0;
}

Signature Signature::updating(const std::string& name) const {
  Signature changed = *this;
  for (Parameter& parameter : changed.parameters) {
    if (parameter.name == name && parameter.role == Role::output) {
      parameter.role = Role::updated;
      return changed;
    }
  }
  throw std::logic_error(fmt::format("{} has no output named {}", entry, name));
}

void detail::expect_names(const std::string& entry, std::size_t names, std::size_t count) {
  if (names != count) {
    throw std::logic_error(
        fmt::format("{} takes {} parameters; {} names given", entry, count, names));
  }
}

}  // namespace hone::oracle
