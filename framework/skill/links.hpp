#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.hpp"

namespace hone::skill {

/// A file that a Markdown text points to.
struct Link {
  std::string path;  ///< as written, without anchor and title
  Location where;
};

struct Links {
  std::vector<Link> links;  ///< in order of appearance
  Location open_fence;      ///< of a code block that is never closed; line 0: there is none
};

/// The files that a text names: targets of Markdown links that are no URLs or anchors, and paths
/// below references/, scripts/ or assets/ anywhere outside of code blocks.
Links find_links(const std::string& file, std::string_view text);

}  // namespace hone::skill
