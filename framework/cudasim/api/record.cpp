#include "cudasim/api/record.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cudasim/check/finding.hpp"
#include "cudasim/model/h100.hpp"
#include "cudasim/model/table.hpp"

namespace cudasim {
namespace {

using Json = nlohmann::ordered_json;

Json triple(const Dim3& d) { return Json::array({d.x, d.y, d.z}); }

Json counters_of(Counters counters) {
  Json result = Json::object();
  for_each_counter(counters, [&](const char* name, std::uint64_t count) { result[name] = count; });
  return result;
}

std::string dump(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

double Record::add(const LaunchFacts& facts, const Counters& counters) {
  auto [at, fresh] = kernels_.try_emplace(facts.kernel);
  if (fresh) order_.push_back(facts.kernel);
  KernelRecord& kernel = at->second;
  const BlockNeeds needs{static_cast<std::uint32_t>(facts.config.block.count()), facts.registers,
                         facts.static_shared + facts.config.dynamic_shared_bytes};
  kernel.latest = facts;
  kernel.latest.config.print = nullptr;
  kernel.latest_bound = bound(counters, needs);
  kernel.counters.merge(counters);
  kernel.seconds += kernel.latest_bound.seconds;
  for (const BoundTerm& term : kernel.latest_bound.terms) kernel.terms[term.name] += term.seconds;
  kernel.limiters[kernel.latest_bound.limiter] += kernel.latest_bound.seconds;
  return kernel.latest_bound.seconds;
}

void Record::add_copy(std::uint64_t bytes, double seconds) {
  ++copies_;
  copied_bytes_ += bytes;
  copy_seconds_ += seconds;
}

void Record::add_fault(const Fault& fault, const char* error_name, const DeviceMemory& memory) {
  ++faults_;
  const Location location = fault.address != 0 ? memory.locate(fault.address) : Location{};
  const std::string allocation = location.region != nullptr ? location.text() : std::string();
  // The message may end with the allocation, which is told apart here.
  std::string message = fault.message;
  if (const auto at = message.find(": " + allocation);
      !allocation.empty() && at != std::string::npos) {
    message.resize(at);
  }
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(fault.address));
  Json json = {{"kind", fault_name(fault.kind)},
               {"error", error_name},
               {"message", message},
               {"kernel", demangled(fault.kernel)},
               {"block", triple(fault.block)},
               {"thread", triple(fault.thread)},
               {"address", address},
               {"allocation", allocation},
               {"instruction", fault.instruction},
               {"ptx_line", fault.ptx_line},
               {"file", fault.source_file},
               {"line", fault.source_line}};
  fault_json_ = dump(json);
  std::string text = "========= cudasim: " + std::string(fault_name(fault.kind)) + ": " + message +
                     "\n=========   kernel " + demangled(fault.kernel);
  char line[256];
  std::snprintf(line, sizeof line, ", block (%u,%u,%u), thread (%u,%u,%u)\n", fault.block.x,
                fault.block.y, fault.block.z, fault.thread.x, fault.thread.y, fault.thread.z);
  text += line;
  if (!fault.source_file.empty()) {
    text += "=========   at " + fault.source_file + ":" + std::to_string(fault.source_line) + "\n";
  } else if (fault.ptx_line != 0) {
    text += "=========   at PTX line " + std::to_string(fault.ptx_line) +
            " (build with -lineinfo to see the source line)\n";
  }
  if (!fault.instruction.empty()) text += "=========   in " + fault.instruction + "\n";
  if (!allocation.empty()) {
    text += "=========   address " + std::string(address) + " is " + allocation + "\n";
  }
  text += "=========   later calls return " + std::string(error_name) + "\n";
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
}

std::string Record::limiter_of(const KernelRecord& kernel) {
  return std::ranges::max_element(kernel.limiters, {}, [](const auto& p) { return p.second; })
      ->first;
}

std::string Record::counters_json() const {
  Json json = {
      {"schema", "cudasim.counters/1"}, {"device", h100::kModelName}, {"time_kind", "model bound"}};
  Json kernels = Json::array();
  Counters total;
  double seconds = 0;
  for (const std::string& name : order_) {
    const KernelRecord& kernel = kernels_.at(name);
    const Occupancy& occupancy = kernel.latest_bound.occupancy;
    Json terms = Json::object();
    for (const BoundTerm& term : kernel.latest_bound.terms) {
      terms[term.name] = kernel.terms.at(term.name) * 1e3;
    }
    kernels.push_back({{"name", demangled(name)},
                       {"mangled", name},
                       {"launches", kernel.counters.launches},
                       {"grid", triple(kernel.latest.config.grid)},
                       {"block", triple(kernel.latest.config.block)},
                       {"registers", kernel.latest.registers},
                       {"static_shared_bytes", kernel.latest.static_shared},
                       {"dynamic_shared_bytes", kernel.latest.config.dynamic_shared_bytes},
                       {"local_bytes", kernel.latest.local_bytes},
                       {"occupancy",
                        {{"blocks_per_sm", occupancy.blocks_per_sm},
                         {"warps_per_sm", occupancy.warps_per_sm},
                         {"fraction", occupancy.fraction},
                         {"limiter", std::string(occupancy.limiter)}}},
                       {"waves", kernel.latest_bound.waves},
                       {"tail", kernel.latest_bound.tail},
                       {"bound_ms", kernel.seconds * 1e3},
                       {"limiter", limiter_of(kernel)},
                       {"terms_ms", terms},
                       {"counters", counters_of(kernel.counters)}});
    total.merge(kernel.counters);
    seconds += kernel.seconds;
  }
  json["kernels"] = std::move(kernels);
  json["total"] = {
      {"launches", total.launches}, {"bound_ms", seconds * 1e3}, {"counters", counters_of(total)}};
  json["copies"] = {
      {"count", copies_}, {"bytes", copied_bytes_}, {"bound_ms", copy_seconds_ * 1e3}};
  json["faults"] = faults_;
  return dump(json) + "\n";
}

std::string Record::report(bool colours) const {
  std::vector<KernelSummary> summaries;
  for (const std::string& name : order_) {
    const KernelRecord& kernel = kernels_.at(name);
    const LaunchConfig& config = kernel.latest.config;
    KernelSummary& s = summaries.emplace_back();
    s.name = demangled(name);
    s.grid = config.grid;
    s.block = config.block;
    s.registers = kernel.latest.registers;
    s.static_shared = kernel.latest.static_shared;
    s.dynamic_shared = config.dynamic_shared_bytes;
    s.local_bytes = kernel.latest.local_bytes;
    s.counters = kernel.counters;
    s.seconds = kernel.seconds;
    for (const BoundTerm& term : kernel.latest_bound.terms)
      s.terms.push_back({term.name, kernel.terms.at(term.name)});
    s.limiter = limiter_of(kernel);
    s.occupancy = kernel.latest_bound.occupancy;
    s.waves = kernel.latest_bound.waves;
    s.tail = kernel.latest_bound.tail;
  }
  return table(summaries, colours);
}

void Record::reset() {
  kernels_.clear();
  order_.clear();
  copies_ = copied_bytes_ = 0;
  copy_seconds_ = 0;
}

}  // namespace cudasim
