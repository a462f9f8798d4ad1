#pragma once
#include <string>
#include <vector>

#include "kernel/build.hpp"

namespace hone::kernel {

/// What is compiled, and how, before any place on disk is known.
struct Recipe {
  std::vector<SourceFile> files;     ///< of the answer
  std::vector<std::string> units;    ///< names of those to compile
  std::vector<std::string> flags;    ///< all but includes, output and inputs
  std::vector<std::string> include;  ///< folders below the sources
  std::string problem;               ///< why it cannot be compiled, as a compile error
  std::string note;                  ///< appended to the evidence
};

/// Picks the sources and flags of a request. Files of the answer that bear the name of a given
/// header are left out.
Recipe make_recipe(const BuildRequest& request);

/// Digest of all that a compilation depends on. The request must have a toolkit.
std::string digest_of(const Recipe& recipe, const BuildRequest& request);

}  // namespace hone::kernel
