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

constexpr double least_of_roofline = 0.5;
// A call's own overhead on the host: launches, and the wait.
constexpr double host_overhead_seconds = 5e-3, most_host_over_device = 10;

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

std::string implausible(double device_seconds, double host_seconds, const Cost& cost,
                        bool measured) {
  const double floor = roofline_seconds(cost);
  if (device_seconds < least_of_roofline * floor) {
    return fmt::format(
        "{:.3g} us is less than the hardware needs ({:.3g} us for {:.3g} bytes and "
        "{:.3g} FLOPs)",
        device_seconds * 1e6, floor * 1e6, cost.bytes, cost.flops);
  }
  if (measured && host_seconds > most_host_over_device * device_seconds + host_overhead_seconds) {
    return fmt::format("the device's events say {:.3g} ms, but the host waited {:.3g} ms",
                       device_seconds * 1e3, host_seconds * 1e3);
  }
  return {};
}

Timing Timer::time(const Shape& shape) {
  const bool first = calls_ == 0;
  Inputs inputs(mix(seed_, calls_++), Family::normal);
  const Problem problem = operation_.make(shape, inputs);
  CallPlan plan{.poison = 0xFF, .fresh_buffers = true};
  if (device_ == Device::gpu) {
    plan.guard_bytes = 1024;
    plan.flush_bytes = l2_flush_bytes;
  }
  Timing timing;
  timing.label = time_kind(device_);
  protocol::Returned returned;
  timing.finding = caller_.call(make_call(operation_, problem, plan), returned);
  if (timing.finding.correct()) {
    timing.finding =
        judge(operation_, problem, operation_.reference(problem), plan, returned).finding;
  }
  timing.seconds = returned.device_ms / 1e3;
  const Cost cost = operation_.cost(shape);
  if (timing.finding.correct()) {
    // The first call may load the module, which is no part of the device's time.
    const bool measured = device_ == Device::gpu && !first;
    std::string why =
        implausible(timing.seconds, static_cast<double>(returned.host_ns) / 1e9, cost, measured);
    if (!why.empty()) timing.finding = {Outcome::suspicious, std::move(why)};
  }
  if (!timing.finding.correct()) {
    timing.finding.evidence = fmt::format("{}: {}", shape.name(), timing.finding.evidence);
    if (first_failure_.correct()) first_failure_ = timing.finding;
    return timing;
  }
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
