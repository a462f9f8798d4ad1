#pragma once
#include <vector>

#include "author/trace.hpp"
#include "storage/storage.hpp"

namespace hone::author {

using storage::Json;

/// The events of a trace's JSON values, whichever format they are in; an empty format: in none.
/// Values and members that are not known are passed over, since programs add some in each version.
Trace read_events(const std::vector<Json>& values);

}  // namespace hone::author
