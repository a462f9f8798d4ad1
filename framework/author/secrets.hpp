#pragma once
#include <string>

namespace hone::author {

/// Puts "[redacted]" in the place of what looks like a secret and returns how many there were:
/// tokens with the prefixes of known services, JSON web tokens, PEM private keys, bearer tokens,
/// passwords in URLs, values assigned to names such as API_KEY, TOKEN, SECRET or PASSWORD, and the
/// values that variables of such names have in this process. Takes too much rather than too little.
size_t redact(std::string& text);

}  // namespace hone::author
