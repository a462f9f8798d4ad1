#include "model/redactor.hpp"

#include <algorithm>

#include "storage/storage.hpp"

namespace hone::model {
namespace {

/// Base64 of `lead` other bytes and the text: the digits that depend on the text alone; with `end`
/// also the last one, as it is when nothing follows.
std::string base64(const std::string& text, size_t lead, bool end) {
  const size_t first = (lead * 8 + 5) / 6;
  const size_t last = ((lead + text.size()) * 8 + (end ? 5 : 0)) / 6;
  return storage::base64(std::string(lead, '\0') + text).substr(first, last - first);
}

std::string url_encoded(const std::string& text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-_.~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

}  // namespace

Redactor::Redactor(const std::string& key) {
  if (key.size() < 4) return;
  forms_ = {key, url_encoded(key)};
  for (size_t lead = 0; lead < 3; ++lead)
    for (const bool end : {true, false}) forms_.push_back(base64(key, lead, end));
  // A longer form before one that is a part of it.
  std::stable_sort(forms_.begin(), forms_.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

void Redactor::apply(std::string& text) const {
  for (const auto& form : forms_)
    for (size_t at = text.find(form); at != std::string::npos; at = text.find(form, at))
      text.replace(at, form.size(), "[key]");
}

void Redactor::apply(Json& json) const {
  if (json.is_string()) {
    auto text = json.get<std::string>();
    apply(text);
    json = text;
  } else if (json.is_structured()) {
    for (auto& item : json) apply(item);
  }
}

void Redactor::apply(Answer& answer) const {
  if (forms_.empty()) return;
  for (std::string* text :
       {&answer.text, &answer.finish_reason, &answer.model, &answer.system_fingerprint})
    apply(*text);
  if (answer.error) apply(answer.error->message);
  for (auto& call : answer.calls) {
    apply(call.id);
    apply(call.name);
    apply(call.arguments);
  }
  apply(answer.content);
}

}  // namespace hone::model
