#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "oracle/judge.hpp"
#include "oracle/session.hpp"

namespace hone::oracle {

/// y = x + x, the operation that tests of the judge use. Its candidates are functions on the host.
inline Operation doubling() {
  Operation operation;
  operation.name = "doubling";
  operation.signature = {"doubling",
                         {{"x", Role::input, Element::float32},
                          {"y", Role::output, Element::float32},
                          {"n", Role::scalar, Element::int32},
                          {"stream", Role::stream, Element::uint8}}};
  operation.shapes = shapes_1d({1, 33, 5000});
  operation.bench_shapes = shapes_1d({100});
  operation.families = {Family::normal, Family::zeros, Family::ones};
  operation.make = [](const Shape& shape, Inputs& inputs) {
    return Problem{{inputs.floats(shape["n"]),
                    Tensor(Element::float32, static_cast<std::size_t>(shape["n"])),
                    Scalar(shape["n"])}};
  };
  operation.reference = [](const Problem& problem) {
    Expected expected;
    for (const float x : problem.floats(0)) {
      expected.value.push_back(2 * double(x));
      expected.allowed.push_back(elementwise(double(x), 2));
    }
    return std::vector<Expected>{expected};
  };
  operation.cost = [](const Shape& shape) {
    return Cost{8.0 * double(shape["n"]), double(shape["n"])};
  };
  return operation;
}

/// Runs a function on host memory in place of a candidate's process, guard bands included.
class HostCandidate : public Caller {
 public:
  /// x and y point into buffers with guard bands; the reply may be bent as well.
  using Body = std::function<void(float* x, float* y, int n, protocol::Returned& reply)>;
  explicit HostCandidate(Body body) : body_(std::move(body)) {}

  Finding call(const protocol::Call& call, protocol::Returned& returned) override {
    ++calls;
    if (!finding.correct()) return finding;
    int n = 0;
    leads.clear();
    for (const auto& argument : call.arguments) {
      if (const auto* buffer = std::get_if<protocol::Buffer>(&argument)) {
        const auto guard = [&](std::size_t bytes) {
          return std::string(bytes, static_cast<char>(call.guard_byte));
        };
        const std::string poison(buffer->bytes, static_cast<char>(buffer->poison));
        returned.buffers.push_back(guard(buffer->lead) +
                                   (buffer->content.empty() ? poison : buffer->content) +
                                   guard(call.guard_bytes));
        leads.push_back(buffer->lead);
      } else {
        n = static_cast<int>(std::get<protocol::Value>(argument).bits);
      }
    }
    const auto payload = [&](int i) {
      return reinterpret_cast<float*>(returned.buffers[static_cast<std::size_t>(i)].data() +
                                      leads[static_cast<std::size_t>(i)]);
    };
    returned.counters = R"({"total": {"launches": 1}})";
    returned.device_ms = 0.5;
    body_(payload(0), payload(1), n, returned);
    return {};
  }

  int calls = 0;
  std::vector<std::uint32_t> leads;  ///< of the last call's buffers
  Finding finding;                   ///< returned without a call when it is not correct

 private:
  Body body_;
};

inline void double_right(const float* x, float* y, int n, protocol::Returned&) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}

}  // namespace hone::oracle
