#include "cudasim/api/record.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cudasim/model/h100.hpp"

namespace cudasim {
namespace {

using Json = nlohmann::ordered_json;

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

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

std::string Record::report() const {
  std::string text =
      "cudasim: model bounds on the " + std::string(h100::kModelName) + " (not measured times)\n";
  char line[512];
  for (const std::string& name : order_) {
    const KernelRecord& kernel = kernels_.at(name);
    const Counters& c = kernel.counters;
    const Occupancy& occupancy = kernel.latest_bound.occupancy;
    const LaunchConfig& config = kernel.latest.config;
    const auto percent = [&](double part, double whole) {
      return whole > 0 ? 100 * part / whole : 0.0;
    };
    const auto ratio = [](std::uint64_t a, std::uint64_t b) {
      return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
    };
    constexpr std::size_t kWidth = 160;  // names of templates go on for ever
    const std::string readable = demangled(name);
    text += "\n  " + readable.substr(0, kWidth) + (readable.size() > kWidth ? " …" : "") + "\n";
    std::snprintf(line, sizeof line,
                  "    launches %-8llu grid %ux%ux%u, block %ux%ux%u, %u registers, %u B shared\n",
                  static_cast<unsigned long long>(c.launches), config.grid.x, config.grid.y,
                  config.grid.z, config.block.x, config.block.y, config.block.z,
                  kernel.latest.registers,
                  kernel.latest.static_shared + config.dynamic_shared_bytes);
    text += line;
    std::snprintf(line, sizeof line, "    model bound %.3f us, limited by %s\n",
                  kernel.seconds * 1e6, limiter_of(kernel).c_str());
    text += line;
    std::snprintf(line, sizeof line,
                  "    occupancy %.0f%% (%u warps an SM, limited by %.*s), waves %.2f\n",
                  100 * occupancy.fraction, occupancy.warps_per_sm,
                  static_cast<int>(occupancy.limiter.size()), occupancy.limiter.data(),
                  kernel.latest_bound.waves);
    text += line;
    text += "    share of the bound:";
    for (const BoundTerm& term : kernel.latest_bound.terms) {
      const double share = percent(kernel.terms.at(term.name), kernel.seconds);
      if (share < 0.5) continue;
      std::snprintf(line, sizeof line, " %s %.0f%%", term.name, share);
      text += line;
    }
    std::snprintf(
        line, sizeof line,
        "\n    sectors/request: load %.2f, store %.2f; wavefronts/request: shared load %.2f, "
        "store %.2f; lanes/instruction %.1f\n",
        ratio(c.global_load_sectors, c.global_load_requests),
        ratio(c.global_store_sectors, c.global_store_requests),
        ratio(c.shared_load_wavefronts, c.shared_load_requests),
        ratio(c.shared_store_wavefronts, c.shared_store_requests),
        ratio(c.thread_instructions, c.warp_instructions));
    text += line;
  }
  if (order_.empty()) text += "  no kernel was launched\n";
  return text;
}

void Record::reset() {
  kernels_.clear();
  order_.clear();
  copies_ = copied_bytes_ = 0;
  copy_seconds_ = 0;
}

}  // namespace cudasim
