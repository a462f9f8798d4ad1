#include "oracle/timing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "storage/storage.hpp"

namespace hone::oracle {
namespace {

using storage::Json;

// H100 SXM5 (NVIDIA H100 Tensor Core GPU Architecture, 2022).
constexpr double hbm_bytes_per_second = 3.352e12;
constexpr double fp32_flops_per_second = 66.9e12;
constexpr std::uint64_t l2_flush_bytes = std::uint64_t{128} << 20;  // more than twice the L2

constexpr std::size_t data_sets = 2;

}  // namespace

double roofline_seconds(const Cost& cost) {
  return std::max(cost.bytes / hbm_bytes_per_second, cost.flops / fp32_flops_per_second);
}

void add_simulated(const std::string& counters_json, Timing& timing) {
  const Json parsed = Json::parse(counters_json, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("total") || !parsed["total"].is_object()) return;
  const Json& total = parsed["total"];
  const Json counters = total.value("counters", Json::object());
  const auto number = [](const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
  };
  timing.counters["launches"] = number(total, "launches");
  timing.counters["sectors"] = number(counters, "global_load_sectors") +
                               number(counters, "global_store_sectors") +
                               number(counters, "global_atomic_sectors");
  timing.counters["warp_instructions"] = number(counters, "warp_instructions");

  // The kernel that takes longest says what limits.
  const Json* longest = nullptr;
  const Json kernels = parsed.value("kernels", Json::array());
  for (const Json& kernel : kernels) {
    if (!kernel.is_object()) continue;
    if (longest == nullptr || number(kernel, "bound_ms") > number(*longest, "bound_ms")) {
      longest = &kernel;
    }
  }
  if (longest == nullptr) return;
  timing.counters["occupancy"] = number(longest->value("occupancy", Json::object()), "fraction");
  const Json limiter = longest->value("limiter", Json());
  if (limiter.is_string()) timing.label += "; limiter " + limiter.get<std::string>();
}

Timer::Timer(const Operation& operation, Caller& caller, Device device, std::uint64_t seed)
    : operation_(operation), caller_(caller), device_(device), seed_(seed) {}

const Timer::Prepared& Timer::prepared(const Shape& shape, std::size_t index) {
  if (shape_ != shape.name()) {
    prepared_.clear();
    shape_ = shape.name();
  }
  while (prepared_.size() <= index) {
    Inputs inputs(mix(seed_, prepared_.size()), Family::normal);
    Problem problem = operation_.make(shape, inputs);
    std::vector<Expected> expected = operation_.reference(problem);
    prepared_.push_back({std::move(problem), std::move(expected)});
  }
  return prepared_[index];
}

Timing Timer::time(const Shape& shape) {
  const Prepared& data = prepared(shape, calls_++ % data_sets);
  CallPlan plan{.poison = 0xFF, .fresh_buffers = true};
  if (device_ == Device::gpu) {
    plan.guard_bytes = 1024;
    plan.flush_bytes = l2_flush_bytes;
  }
  Timing timing;
  timing.label = time_kind(device_);
  protocol::Returned returned;
  timing.finding = caller_.call(make_call(operation_, data.problem, plan), returned);
  if (timing.finding.correct()) {
    timing.finding = judge(operation_, data.problem, data.expected, plan, returned).finding;
  }
  if (!timing.finding.correct()) {
    timing.finding.evidence = fmt::format("{}: {}", shape.name(), timing.finding.evidence);
    if (first_failure_.correct()) first_failure_ = timing.finding;
    return timing;
  }
  timing.seconds = returned.device_ms / 1e3;
  const Cost cost = operation_.cost(shape);
  timing.counters["bytes"] = cost.bytes;
  timing.counters["FLOPs"] = cost.flops;
  timing.counters["roofline_us"] = roofline_seconds(cost) * 1e6;
  if (timing.seconds > 0) {
    timing.counters["of_roofline"] = roofline_seconds(cost) / timing.seconds;
    timing.counters["bytes_per_second"] = cost.bytes / timing.seconds;
  }
  if (device_ == Device::sim) add_simulated(returned.counters, timing);
  return timing;
}

}  // namespace hone::oracle
