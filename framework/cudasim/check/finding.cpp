#include "cudasim/check/finding.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace cudasim {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string triple(const Dim3& d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string place_text(const Place& p) {
  std::string text = p.access.empty() ? "" : p.access + " by ";
  text += "block " + triple(p.block) + ", thread " + triple(p.thread);
  if (!p.file.empty())
    text += " at " + p.file + ":" + std::to_string(p.line);
  else if (p.ptx_line != 0)
    text += " at PTX line " + std::to_string(p.ptx_line) + " (build with -lineinfo)";
  if (!p.instruction.empty()) text += "\n=========     " + p.instruction;
  return text;
}

Json place_json(const Place& p) {
  return {{"access", p.access},
          {"block", {p.block.x, p.block.y, p.block.z}},
          {"thread", {p.thread.x, p.thread.y, p.thread.z}},
          {"file", p.file},
          {"line", p.line},
          {"instruction", p.instruction},
          {"ptx_line", p.ptx_line}};
}

}  // namespace

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::string Finding::text() const {
  std::string t = "========= " + std::string(name_of(check)) + " " +
                  (warning ? "warning" : "error") + ": " + kind + ": " + message + "\n";
  if (!kernel.empty()) {
    t += "=========   kernel " + demangled(kernel) + "\n";
    t += "=========   " + place_text(at) + "\n";
    if (has_other) t += "=========   and " + place_text(other) + "\n";
  }
  if (address != 0) {
    t += "=========   address " + hex(address);
    if (!space.empty()) t += " (" + space + " memory)";
    if (!allocation.empty()) t += " is " + allocation;
    t += "\n";
  }
  if (count > 1) t += "=========   " + std::to_string(count) + " times\n";
  return t;
}

std::string Finding::json() const {
  Json j = {{"schema", "cudasim.finding/1"},
            {"check", name_of(check)},
            {"kind", kind},
            {"severity", warning ? "warning" : "error"},
            {"message", message},
            {"count", count}};
  if (!kernel.empty()) {
    j["kernel"] = demangled(kernel);
    j["at"] = place_json(at);
    if (has_other) j["other"] = place_json(other);
  }
  if (address != 0) {
    j["address"] = hex(address);
    j["space"] = space;
    j["allocation"] = allocation;
  }
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void Findings::add(Finding f) {
  const std::lock_guard lock(mutex_);
  (f.warning ? warnings_ : errors_) += f.count;
  // The two sides of a race come in either order: it is one finding.
  const auto side = [](const Place& p) {
    return std::pair{p.file, p.file.empty() ? p.ptx_line : p.line};
  };
  auto a = side(f.at), b = side(f.other);
  if (b < a) std::swap(a, b);
  const Key key{f.check,  f.kind,   f.warning,
                f.kernel, a.first,  a.second,
                b.first,  b.second, f.kernel.empty() ? f.address : 0};
  if (const auto at = index_.find(key); at != index_.end()) {
    findings_[at->second].count += f.count;
    return;
  }
  if (findings_.size() >= kMost) {
    ++dropped_;
    return;
  }
  index_[key] = findings_.size();
  findings_.push_back(std::move(f));
}

std::vector<Finding> Findings::take_new() {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> fresh(findings_.begin() + static_cast<std::ptrdiff_t>(taken_),
                             findings_.end());
  taken_ = findings_.size();
  return fresh;
}

std::vector<Finding> Findings::all() const {
  const std::lock_guard lock(mutex_);
  return findings_;
}

std::uint64_t Findings::errors() const {
  const std::lock_guard lock(mutex_);
  return errors_;
}

std::uint64_t Findings::warnings() const {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

std::string Findings::summary_json() const {
  const std::lock_guard lock(mutex_);
  Json j = {{"schema", "cudasim.findings/1"},
            {"errors", errors_},
            {"warnings", warnings_},
            {"places", findings_.size()},
            {"dropped", dropped_}};
  return j.dump() + "\n";
}

std::string Findings::summary_text() const {
  const std::lock_guard lock(mutex_);
  return "========= cudasim checks: " + std::to_string(errors_) + " error" +
         (errors_ == 1 ? "" : "s") + ", " + std::to_string(warnings_) + " warning" +
         (warnings_ == 1 ? "" : "s") + " at " + std::to_string(findings_.size()) + " place" +
         (findings_.size() == 1 ? "" : "s") + "\n";
}

}  // namespace cudasim
