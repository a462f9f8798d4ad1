#include "oracle/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

namespace hone::oracle {
namespace {

/// Up to here a shape is verified with every family; above with the first and one more.
constexpr std::int64_t small_elements = 4096;

// Read as float32: a NaN, and 13 323 083.
constexpr std::uint8_t poisons[] = {0xFF, 0x4B};

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a: the same everywhere, unlike std::hash
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Verifier::Verifier(const Operation& operation, Caller& caller, std::uint64_t seed,
                   std::uint32_t guard_bytes)
    : operation_(operation), caller_(caller), seed_(seed), guard_bytes_(guard_bytes) {}

std::vector<Family> Verifier::plan(const Shape& shape, std::uint64_t shape_seed) const {
  const std::vector<Family>& all = operation_.families;
  std::vector<Family> plan{all.front(), all.front()};
  if (shape.elements() <= small_elements) {
    plan.insert(plan.end(), all.begin() + 1, all.end());
  } else if (all.size() > 1) {
    plan.push_back(all[1 + mix(shape_seed, 1000) % (all.size() - 1)]);
  }
  return plan;
}

ShapeResult Verifier::verify(const Shape& shape) {
  const auto begin = std::chrono::steady_clock::now();
  ShapeResult result;
  result.shape = shape.name();
  // Independent of which other shapes are run.
  const std::uint64_t shape_seed = mix(seed_, hash_of(result.shape));
  for (const Family family : plan(shape, shape_seed)) {
    const auto index = static_cast<std::uint64_t>(result.calls++);
    Inputs inputs(mix(shape_seed, index), family);
    const Problem problem = operation_.make(shape, inputs);
    const CallPlan call_plan{
        .poison = poisons[index % 2], .fresh_buffers = index % 2 == 0, .guard_bytes = guard_bytes_};
    protocol::Returned returned;
    result.finding = caller_.call(make_call(operation_, problem, call_plan), returned);
    if (result.finding.correct()) {
      const Judgement judgement =
          judge(operation_, problem, operation_.reference(problem), call_plan, returned);
      result.finding = judgement.finding;
      result.max_error = std::max(result.max_error, judgement.max_error);
      result.error_ratio = std::max(result.error_ratio, judgement.error_ratio);
    }
    if (!result.finding.correct()) {
      if (result.finding.outcome == Outcome::infrastructure_error) break;
      result.finding.evidence += fmt::format(" (inputs: {}, call {})", name_of(family), index + 1);
      break;
    }
  }
  result.seconds = seconds_since(begin);
  return result;
}

Finding Record::verdict() const {
  const ShapeResult* worst = nullptr;
  for (const ShapeResult& shape : shapes) {
    if (shape.finding.correct()) continue;
    if (worst == nullptr || (shape.finding.outcome == Outcome::infrastructure_error &&
                             worst->finding.outcome != Outcome::infrastructure_error)) {
      worst = &shape;
    }
  }
  if (worst != nullptr) {
    return {worst->finding.outcome, fmt::format("{}: {}", worst->shape, worst->finding.evidence)};
  }
  if (shapes.empty()) return {Outcome::infrastructure_error, "no shape was run"};
  return {};
}

storage::Json Record::to_json() const {
  const Finding finding = verdict();
  storage::Json json{{"schema", "hone.verify/1"},
                     {"outcome", name_of(finding.outcome)},
                     {"evidence", finding.evidence},
                     {"checks", storage::Json::array()},
                     {"shapes", storage::Json::array()},
                     {"seed", seed},
                     {"device", nullptr},
                     {"sandbox", sandbox},
                     {"seconds", seconds}};
  if (!device.empty()) json["device"] = device;
  for (const ShapeResult& shape : shapes) {
    json["shapes"].push_back({{"name", shape.shape},
                              {"outcome", name_of(shape.finding.outcome)},
                              {"evidence", shape.finding.evidence},
                              {"max_error", shape.max_error},
                              {"error_ratio", shape.error_ratio},
                              {"calls", shape.calls},
                              {"seconds", shape.seconds}});
  }
  return json;
}

}  // namespace hone::oracle
