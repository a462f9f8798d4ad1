#include "cases/fields.hpp"

#include <cmath>

namespace hone::cases {

using Kind = LocatedJson::Kind;

void Report::error(size_t offset, std::string message, std::string hint) {
  ++errors_;
  out_.push_back({at(offset), std::move(message), std::move(hint), false});
}

void Report::warning(size_t offset, std::string message, std::string hint) {
  out_.push_back({at(offset), std::move(message), std::move(hint), true});
}

const LocatedJson* Fields::find(std::string_view key) const {
  const auto* member = object_.find(key);
  if (member == nullptr || (null_is_absent_ && member->value.is(Kind::null))) return nullptr;
  return &member->value;
}

const LocatedJson* Fields::find(std::string_view key, Kind kind) const {
  const LocatedJson* value = find(key);
  if (value == nullptr || value->is(kind)) return value;
  report_.error(value->offset, "'" + std::string(key) + "' must be " + std::string(name(kind)) +
                                   ", not " + std::string(name(value->kind)));
  return nullptr;
}

std::optional<std::string> Fields::string(std::string_view key) const {
  const LocatedJson* value = find(key, Kind::string);
  return value != nullptr ? std::optional(value->text) : std::nullopt;
}

std::optional<double> Fields::number(std::string_view key) const {
  const LocatedJson* value = find(key, Kind::number);
  return value != nullptr ? std::optional(value->number) : std::nullopt;
}

std::optional<int> Fields::count(std::string_view key) const {
  const LocatedJson* value = find(key, Kind::number);
  if (value == nullptr) return std::nullopt;
  if (value->number >= 1 && value->number <= 1e9 && value->number == std::floor(value->number))
    return static_cast<int>(value->number);
  report_.error(value->offset, "'" + std::string(key) + "' must be a whole number from 1 up");
  return std::nullopt;
}

std::vector<std::string> Fields::strings(std::string_view key) const {
  const LocatedJson* value = find(key);
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  const std::string quoted = "'" + std::string(key) + "'";
  const auto add = [&](const LocatedJson& item) {
    if (!item.is(Kind::string))
      report_.error(item.offset,
                    quoted + " must hold strings, not " + std::string(name(item.kind)));
    else if (item.text.empty())
      report_.error(item.offset, "an empty string in " + quoted + " checks nothing");
    else
      texts.push_back(item.text);
  };
  if (value->is(Kind::array)) {
    if (value->items.empty())
      report_.error(value->offset, "an empty list in " + quoted + " checks nothing");
    for (const auto& item : value->items) add(item);
  } else if (value->is(Kind::string)) {
    add(*value);
  } else {
    report_.error(value->offset, quoted + " must be a string or a list of strings, not " +
                                     std::string(name(value->kind)));
  }
  return texts;
}

void Fields::only(const std::vector<std::string>& known) const {
  for (const auto& member : object_.members) {
    bool found = false;
    for (const auto& one : known) found = found || one == member.name;
    if (found) continue;
    const std::string near = nearest(member.name, known);
    std::string list;
    for (const auto& one : known) list += (list.empty() ? "" : ", ") + one;
    report_.error(member.offset, "unknown key '" + member.name + "'",
                  near.empty() ? "known keys: " + list : "did you mean '" + near + "'?");
  }
}

}  // namespace hone::cases
