#include "oracle/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

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

std::string Step::name() const {
  std::string text(name_of(family));
  if (data == Data::touched) text += ", one element changed";
  if (data == Data::same) text += ", same data";
  if (shifted) text += ", shifted addresses";
  return text + (new_pointers ? ", new pointers" : ", same pointers");
}

Verifier::Verifier(const Operation& operation, Caller& caller, std::uint64_t seed,
                   std::uint32_t guard_bytes)
    : operation_(operation), caller_(caller), seed_(seed), guard_bytes_(guard_bytes) {}

std::vector<Step> Verifier::plan(const Shape& shape, std::uint64_t shape_seed) const {
  const std::vector<Family>& all = operation_.families;
  const bool small = shape.elements() <= small_elements;
  std::vector<Step> plan{{all.front(), Step::Data::fresh, true},
                         {all.front(), Step::Data::fresh, false},
                         {all.front(), Step::Data::touched, false}};
  if (small) {
    plan.push_back({all.front(), Step::Data::same, true});
    for (std::size_t i = 1; i < all.size(); ++i) {
      plan.push_back({all[i], Step::Data::fresh, i % 2 == 0});
    }
  } else if (all.size() > 1) {
    plan.push_back({all[1 + mix(shape_seed, 1000) % (all.size() - 1)], Step::Data::fresh, true});
  }
  if (operation_.alignment < malloc_alignment)
    plan.push_back({all.front(), Step::Data::fresh, true, true});
  return plan;
}

void Verifier::touch(Problem& problem, std::uint64_t seed) const {
  std::vector<Tensor*> inputs;
  std::size_t next = 0;
  for (const Parameter& parameter : operation_.signature.parameters) {
    if (parameter.role == Role::stream) continue;
    Argument& argument = problem.arguments.at(next++);
    if (parameter.is_buffer() && parameter.role != Role::output) {
      inputs.push_back(&std::get<Tensor>(argument));
    }
  }
  // Elements that are equal are tried again, but not for ever.
  for (std::uint64_t attempt = 0; attempt < 16 && !inputs.empty(); ++attempt) {
    Tensor& tensor = *inputs[mix(seed, 3 * attempt) % inputs.size()];
    const std::size_t count = tensor.count(), size = size_of(tensor.element());
    if (count < 2) continue;
    // The last element is as likely as all others together: what is sampled is mostly the start.
    const std::uint64_t draw = mix(seed, 3 * attempt + 1);
    const std::size_t to = draw % 2 == 0 ? count - 1 : draw / 2 % count;
    const std::size_t from = mix(seed, 3 * attempt + 2) % count;
    const auto bytes = tensor.bytes();
    const auto source = bytes.subspan(from * size, size), target = bytes.subspan(to * size, size);
    if (std::equal(source.begin(), source.end(), target.begin())) continue;
    std::copy(source.begin(), source.end(), target.begin());
    return;
  }
}

ShapeResult Verifier::verify(const Shape& shape) {
  const auto begin = std::chrono::steady_clock::now();
  ShapeResult result;
  result.shape = shape.name();
  // Independent of which other shapes are run.
  const std::uint64_t shape_seed = mix(seed_, hash_of(result.shape));
  Problem problem;
  std::vector<Expected> expected;
  for (const Step& step : plan(shape, shape_seed)) {
    const auto index = static_cast<std::uint64_t>(result.calls++);
    if (step.data == Step::Data::fresh) {
      Inputs inputs(mix(shape_seed, index), step.family);
      problem = operation_.make(shape, inputs);
    } else if (step.data == Step::Data::touched) {
      touch(problem, mix(shape_seed, index));
    }
    if (step.data != Step::Data::same) expected.clear();
    const CallPlan call_plan{.poison = poisons[index % 2],
                             .fresh_buffers = step.new_pointers,
                             .shifted = step.shifted,
                             .guard_bytes = guard_bytes_};
    protocol::Returned returned;
    result.finding = caller_.call(make_call(operation_, problem, call_plan), returned);
    if (result.finding.correct()) {
      if (expected.empty()) expected = operation_.reference(problem);
      const Judgement judgement = judge(operation_, problem, expected, call_plan, returned);
      result.finding = judgement.finding;
      for (const auto& [name, launches] : judgement.kernels) result.kernels[name] += launches;
      result.max_error = std::max(result.max_error, judgement.max_error);
      result.error_ratio = std::max(result.error_ratio, judgement.error_ratio);
    }
    if (!result.finding.correct()) {
      if (result.finding.outcome == Outcome::infrastructure_error) break;
      result.finding.evidence += fmt::format(" (call {}: {})", index + 1, step.name());
      break;
    }
  }
  result.seconds = seconds_since(begin);
  return result;
}

Finding Record::verdict() const {
  for (const ShapeResult& shape : shapes) {
    if (!shape.finding.correct())
      return {shape.finding.outcome, fmt::format("{}: {}", shape.shape, shape.finding.evidence)};
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
                     {"kernels", storage::Json::object()},
                     {"shapes", storage::Json::array()},
                     {"seed", seed},
                     {"device", nullptr},
                     {"sandbox", sandbox},
                     {"seconds", seconds}};
  if (!device.empty()) json["device"] = device;
  for (const ShapeResult& shape : shapes) {
    for (const auto& [name, launches] : shape.kernels) {
      json["kernels"][name] = json["kernels"].value(name, std::uint64_t{0}) + launches;
    }
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
