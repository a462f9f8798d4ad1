#include "cudasim/check/options.hpp"

#include <array>
#include <charconv>

namespace cudasim {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Check::count_)> kNames = {
    "memcheck", "racecheck", "initcheck", "synccheck", "leakcheck"};

}  // namespace

std::string_view name_of(Check check) { return kNames.at(static_cast<std::size_t>(check)); }

Checks Checks::parse(std::string_view text) {
  Checks checks;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    bool known = word == "all";
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      if (word != "all" && word != kNames[i]) continue;
      checks.add(static_cast<Check>(i));
      known = true;
    }
    if (!known) {
      throw std::invalid_argument("unknown check \"" + std::string(word) +
                                  "\"; the checks are memcheck, racecheck, initcheck, synccheck, "
                                  "leakcheck and all");
    }
  }
  return checks;
}

bool Checks::any_in_kernels() const {
  return (bits_ & ~(1u << static_cast<unsigned>(Check::leakcheck))) != 0;
}

void parse_schedule(std::string_view text, BlockOrder& order, std::uint64_t& seed) {
  constexpr std::string_view kRandom = "random:";
  if (text == "ascending") {
    order = BlockOrder::ascending;
    return;
  }
  if (text == "descending") {
    order = BlockOrder::descending;
    return;
  }
  if (text.starts_with(kRandom)) {
    const std::string_view number = text.substr(kRandom.size());
    const auto [end, error] = std::from_chars(number.begin(), number.end(), seed);
    if (error == std::errc{} && end == number.end() && !number.empty()) {
      order = BlockOrder::random;
      return;
    }
  }
  throw std::invalid_argument("unknown schedule \"" + std::string(text) +
                              "\"; use ascending, descending or random:SEED");
}

}  // namespace cudasim
