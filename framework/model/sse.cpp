#include "model/sse.hpp"

namespace hone::model {

std::vector<Event> parse_events(std::string_view stream) {
  if (stream.starts_with("\xEF\xBB\xBF")) stream.remove_prefix(3);
  std::vector<Event> events;
  Event event;
  bool has_data = false;
  while (!stream.empty()) {
    const size_t end = stream.find_first_of("\r\n");
    if (end == std::string_view::npos) break;
    const std::string_view line = stream.substr(0, end);
    stream.remove_prefix(end + (stream.substr(end).starts_with("\r\n") ? 2 : 1));
    if (line.empty()) {
      if (has_data) events.push_back(std::move(event));
      event = {};
      has_data = false;
      continue;
    }
    const size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "event") {
      event.name = value;
    } else if (field == "data") {
      if (has_data) event.data += '\n';
      event.data += value;
      has_data = true;
    }
  }
  return events;
}

}  // namespace hone::model
