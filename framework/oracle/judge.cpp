#include "oracle/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "process/terminal.hpp"
#include "storage/storage.hpp"

namespace hone::oracle {
namespace {

namespace fs = std::filesystem;
using storage::Json;

// cudaError_t values that say more than "launch error".
constexpr std::int32_t error_launch_timeout = 702, error_illegal_address = 700,
                       error_misaligned = 716, error_address_space = 717, error_invalid_pc = 718;

Outcome outcome_of_error(std::int32_t code) {
  switch (code) {
    case error_illegal_address:
    case error_misaligned:
    case error_address_space:
    case error_invalid_pc:
      return Outcome::memory_fault;
    case error_launch_timeout:
      return Outcome::timeout;
    default:
      return Outcome::launch_error;
  }
}

/// Of a fault's kind as cudasim names it: illegal_address, barrier_error …
Outcome outcome_of_fault(const std::string& kind) {
  const auto has = [&](std::string_view word) { return kind.find(word) != std::string::npos; };
  if (has("race")) return Outcome::race;
  if (has("barrier") || has("sync")) return Outcome::sync_fault;
  if (has("out_of_memory") || has("out of memory")) return Outcome::launch_error;
  if (has("address") || has("uninit") || has("memory")) return Outcome::memory_fault;
  if (has("timeout")) return Outcome::timeout;
  if (has("internal") || has("instruction") || has("program")) return Outcome::infrastructure_error;
  return Outcome::launch_error;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string()
             ? process::first_line(found->get<std::string>())
             : "";
}

std::string triple_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() ? process::first_line(found->dump(), 60) : "";
}

/// Addresses differ from run to run and say nothing to a reader: " at 0x…" is cut out.
std::string without_addresses(std::string text) {
  constexpr std::string_view mark = " at 0x";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
    const std::size_t end = text.find_first_not_of("0123456789abcdef", at + mark.size());
    text.erase(at, end == std::string::npos ? end : end - at);
  }
  return text;
}

/// "at kernel.cu:12" of a fault or a side of a finding, or "".
std::string source_of(const Json& object) {
  const std::string file = text_of(object, "file");
  if (file.empty()) return {};
  const auto line = object.find("line");
  return fmt::format("at {}:{}", fs::path(file).filename().string(),
                     line != object.end() && line->is_number_integer() ? line->get<int>() : 0);
}

/// cudasim's account of a fault (cudasim.h) as an outcome and one line.
Finding judge_fault(const std::string& text) {
  const Json fault = Json::parse(text, nullptr, false);
  if (!fault.is_object()) return {};
  const std::string kind = text_of(fault, "kind");
  if (kind.empty() || kind == "none") return {};
  Finding finding{outcome_of_fault(kind), without_addresses(text_of(fault, "message"))};
  if (finding.evidence.empty()) finding.evidence = kind;
  const auto add = [&](const std::string& detail) { finding.evidence += ", " + detail; };
  if (const std::string kernel = text_of(fault, "kernel"); !kernel.empty()) {
    add(fmt::format("in {}, block {}, thread {}", kernel, triple_of(fault, "block"),
                    triple_of(fault, "thread")));
  }
  if (const std::string source = source_of(fault); !source.empty()) add(source);
  return finding;
}

Outcome outcome_of_check(const std::string& check) {
  if (check == "racecheck") return Outcome::race;
  if (check == "synccheck") return Outcome::sync_fault;
  return Outcome::memory_fault;
}

/// "read by thread [1,0,0] of block [0,0,0] at kernel.cu:12": one side of a finding.
std::string side_of(const Json& finding, const char* key) {
  const auto side = finding.find(key);
  if (side == finding.end() || !side->is_object()) return {};
  std::string text = fmt::format("{} by thread {} of block {}", text_of(*side, "access"),
                                 triple_of(*side, "thread"), triple_of(*side, "block"));
  const std::string source = source_of(*side);
  return source.empty() ? text : text + " " + source;
}

/// The first error that cudasim's checks found (cudasim.h) as an outcome and one line.
Finding judge_findings(const std::string& text) {
  const Json findings = Json::parse(text, nullptr, false);
  if (!findings.is_array()) return {};
  for (const Json& found : findings) {
    if (!found.is_object() || text_of(found, "severity") != "error") continue;
    Finding finding{outcome_of_check(text_of(found, "check")),
                    without_addresses(text_of(found, "message"))};
    if (const std::string kernel = text_of(found, "kernel"); !kernel.empty()) {
      finding.evidence += ", in " + kernel;
    }
    for (const char* side : {"at", "other"}) {
      if (const std::string told = side_of(found, side); !told.empty()) {
        finding.evidence += "; " + told;
      }
    }
    return finding;
  }
  return {};
}

Finding judge_errors(const protocol::Returned& returned) {
  const std::string text = process::first_line(returned.error_text);
  if (returned.setup_error != 0) {
    // The device worked before the library was loaded.
    return {Outcome::launch_error, "the device failed before the call: " + text};
  }
  if (returned.entry_error != 0) {
    return {outcome_of_error(returned.entry_error), "the function returned " + text};
  }
  if (returned.last_error != 0) {
    return {outcome_of_error(returned.last_error), "after the call: " + text};
  }
  if (returned.sync_error != 0) {
    return {outcome_of_error(returned.sync_error), "waiting for the stream: " + text};
  }
  return {};
}

/// No launch in cudasim's counters. Without counters (on a GPU) nothing is said.
Finding judge_launches(const Json& counters) {
  if (!counters.is_object()) return {};
  const Json total = counters.value("total", Json::object());
  if (!total.is_object()) return {};
  const auto launches = total.find("launches");
  if (launches == total.end() || !launches->is_number() || launches->get<double>() > 0) return {};
  return {Outcome::no_kernel, "no kernel was launched"};
}

/// What the call left undone when its stream had been waited for.
Finding judge_leftovers(const Operation& operation, const protocol::Returned& returned) {
  if (returned.late >= 0) {
    std::int32_t buffer = 0;
    std::string name = "a buffer";
    for (const Parameter& parameter : operation.signature.parameters) {
      if (parameter.is_buffer() && buffer++ == returned.late) name = parameter.name;
    }
    return {Outcome::sync_fault,
            fmt::format("{} changed after the call's stream was waited for: some work ran in "
                        "another stream",
                        name)};
  }
  if (returned.threads > 0) {
    return {Outcome::suspicious,
            fmt::format("the call left {} host thread(s) running", returned.threads)};
  }
  return {};
}

std::map<std::string, std::uint64_t> kernels_of(const Json& counters) {
  std::map<std::string, std::uint64_t> kernels;
  if (!counters.is_object()) return kernels;
  const auto list = counters.find("kernels");
  if (list == counters.end() || !list->is_array()) return kernels;
  for (const Json& kernel : *list) {
    if (!kernel.is_object()) continue;
    const std::string name = text_of(kernel, "name");
    const auto launches = kernel.find("launches");
    if (name.empty() || launches == kernel.end() || !launches->is_number_unsigned()) continue;
    kernels[name] += launches->get<std::uint64_t>();
  }
  return kernels;
}

std::size_t first_not(std::string_view bytes, std::uint8_t value) {
  return bytes.find_first_not_of(static_cast<char>(value));
}

Finding judge_guards(const std::string& name, std::string_view raw, std::size_t lead,
                     std::size_t guard) {
  const std::string_view before = raw.substr(0, lead), after = raw.substr(raw.size() - guard);
  if (const std::size_t at = before.find_last_not_of(static_cast<char>(guard_byte));
      at != std::string_view::npos) {
    return {Outcome::memory_fault,
            fmt::format("wrote outside {}: {} bytes before its start", name, lead - at)};
  }
  if (const std::size_t at = first_not(after, guard_byte); at != std::string_view::npos) {
    return {Outcome::memory_fault,
            fmt::format("wrote outside {}: {} bytes past its end", name, at)};
  }
  return {};
}

double number_at(const Tensor& tensor, std::size_t i) {
  switch (tensor.element()) {
    case Element::float32:
      return static_cast<double>(tensor.as<float>()[i]);
    case Element::float64:
      return tensor.as<double>()[i];
    case Element::int32:
      return static_cast<double>(tensor.as<std::int32_t>()[i]);
    case Element::int64:
      return static_cast<double>(tensor.as<std::int64_t>()[i]);
    case Element::uint8:
      return static_cast<double>(tensor.as<std::uint8_t>()[i]);
  }
  return 0;
}

/// Without NaN's sign, which says nothing.
double unsigned_nan(double value) { return std::isnan(value) ? std::abs(value) : value; }

bool is_poison(const Tensor& tensor, std::size_t i, std::uint8_t poison) {
  const std::size_t size = size_of(tensor.element());
  const auto bytes = tensor.bytes().subspan(i * size, size);
  return std::all_of(bytes.begin(), bytes.end(),
                     [&](std::byte b) { return b == std::byte{poison}; });
}

/// NaN and infinities stand where the expected value has them, and nowhere else. A value too large
/// for float32 is expected as infinity.
bool matches(double got, double want, double allowed, bool float32) {
  if (float32 && std::abs(want) >= 0x1.ffffffp127) {
    want = std::copysign(std::numeric_limits<double>::infinity(), want);
  }
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::abs(got - want) <= allowed;
}

/// Of the guard band before a call's `index`-th buffer. Shifted buffers differ in their alignment,
/// so that to look at one says nothing of another.
std::uint32_t lead_of(const Operation& operation, const CallPlan& plan, std::size_t index) {
  const auto shift = static_cast<std::uint32_t>(operation.alignment * (1 + index % 3));
  return plan.guard_bytes + (plan.shifted ? shift : 0);
}

}  // namespace

protocol::Call make_call(const Operation& operation, const Problem& problem, const CallPlan& plan) {
  protocol::Call call;
  call.guard_bytes = plan.guard_bytes;
  call.guard_byte = guard_byte;
  call.fresh_buffers = plan.fresh_buffers;
  call.flush_bytes = plan.flush_bytes;
  std::size_t next = 0, buffers = 0;
  for (const Parameter& parameter : operation.signature.parameters) {
    if (parameter.role == Role::stream) continue;
    const Argument& argument = problem.arguments.at(next++);
    if (parameter.is_buffer()) {
      const auto bytes = std::get<Tensor>(argument).bytes();
      protocol::Buffer buffer{.bytes = bytes.size(),
                              .lead = lead_of(operation, plan, buffers++),
                              .poison = plan.poison,
                              .content = {}};
      if (parameter.role != Role::output) {
        buffer.content.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      }
      call.arguments.emplace_back(std::move(buffer));
      continue;
    }
    protocol::Value value;
    const auto put = [&](auto typed) { std::memcpy(&value.bits, &typed, sizeof typed); };
    std::visit(
        [&](auto number) {
          switch (parameter.element) {
            case Element::float32:
              put(static_cast<float>(number));
              break;
            case Element::float64:
              put(static_cast<double>(number));
              break;
            case Element::int32:
              put(static_cast<std::int32_t>(number));
              break;
            case Element::int64:
              put(static_cast<std::int64_t>(number));
              break;
            case Element::uint8:
              put(static_cast<std::uint8_t>(number));
              break;
          }
        },
        std::get<Scalar>(argument));
    call.arguments.emplace_back(value);
  }
  return call;
}

Judgement compare(const std::string& name, const Tensor& got, const Expected& expected,
                  std::uint8_t poison) {
  Judgement judgement;
  std::size_t wrong = 0, first = 0;
  const std::size_t count = expected.value.size();
  const bool float32 = got.element() == Element::float32;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = number_at(got, i), want = expected.value[i], allowed = expected.allowed[i];
    if (!matches(value, want, allowed, float32)) {
      if (wrong++ == 0) first = i;
    }
    const double error = std::abs(value - want);
    if (std::isfinite(error)) {
      judgement.max_error = std::max(judgement.max_error, error);
      judgement.error_ratio = std::max(judgement.error_ratio, error / allowed);
    }
  }
  if (wrong > 0) {
    judgement.finding = {
        Outcome::wrong,
        fmt::format("{}[{}] {}, expected {:.9g} within {:.2g} ({} of {} values are off)", name,
                    first,
                    is_poison(got, first, poison)
                        ? "is as it was before the call"
                        : fmt::format("is {:.9g}", unsigned_nan(number_at(got, first))),
                    expected.value[first], expected.allowed[first], wrong, count)};
  }
  return judgement;
}

namespace {

Judgement judge_call(const Operation& operation, const Problem& problem,
                     const std::vector<Expected>& expected, const CallPlan& plan,
                     const protocol::Returned& returned, const Json& counters) {
  for (const Finding& finding : {judge_fault(returned.fault), judge_findings(returned.findings),
                                 judge_errors(returned), judge_leftovers(operation, returned)}) {
    if (!finding.correct()) return {finding};
  }
  Judgement judgement;
  Finding launches = judge_launches(counters);
  std::size_t argument = 0, buffer = 0, output = 0;
  for (const Parameter& parameter : operation.signature.parameters) {
    if (parameter.role == Role::stream) continue;
    const Argument& sent = problem.arguments.at(argument++);
    if (!parameter.is_buffer()) continue;
    const Tensor& tensor = std::get<Tensor>(sent);
    const std::size_t size = tensor.bytes().size();
    const std::size_t lead = lead_of(operation, plan, buffer);
    if (buffer >= returned.buffers.size() ||
        returned.buffers[buffer].size() != lead + size + plan.guard_bytes) {
      return {{Outcome::crashed, fmt::format("{} could not be read back", parameter.name)}};
    }
    const std::string_view raw = returned.buffers[buffer++];
    if (Finding finding = judge_guards(parameter.name, raw, lead, plan.guard_bytes);
        !finding.correct()) {
      return {finding};
    }
    Tensor got(parameter.element, tensor.count());
    if (size > 0) std::memcpy(got.bytes().data(), raw.data() + lead, size);
    if (parameter.role == Role::input) {
      if (got == tensor) continue;
      const auto differs =
          std::mismatch(got.bytes().begin(), got.bytes().end(), tensor.bytes().begin());
      const auto at = static_cast<std::size_t>(differs.first - got.bytes().begin());
      return {{Outcome::wrong, fmt::format("the input {} was modified, first at index {}",
                                           parameter.name, at / size_of(parameter.element))}};
    }
    if (!launches.correct()) continue;
    const Judgement compared = compare(parameter.name, got, expected.at(output++), plan.poison);
    judgement.max_error = std::max(judgement.max_error, compared.max_error);
    judgement.error_ratio = std::max(judgement.error_ratio, compared.error_ratio);
    if (judgement.finding.correct()) judgement.finding = compared.finding;
  }
  if (!launches.correct()) judgement.finding = std::move(launches);
  return judgement;
}

}  // namespace

Judgement judge(const Operation& operation, const Problem& problem,
                const std::vector<Expected>& expected, const CallPlan& plan,
                const protocol::Returned& returned) {
  const Json counters = Json::parse(returned.counters, nullptr, false);
  Judgement judgement = judge_call(operation, problem, expected, plan, returned, counters);
  judgement.kernels = kernels_of(counters);
  return judgement;
}

}  // namespace hone::oracle
