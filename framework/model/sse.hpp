#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace hone::model {

struct Event {
  std::string name;  ///< "" where the stream names none
  std::string data;  ///< its data lines, joined by line feeds
};

/// The whole events of a text/event-stream body: CRLF, LF or CR ends a line, a blank line an event;
/// comments are skipped, and an event that no blank line ends is dropped.
std::vector<Event> parse_events(std::string_view stream);

}  // namespace hone::model
