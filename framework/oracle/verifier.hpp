#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "oracle/judge.hpp"
#include "oracle/operation.hpp"
#include "oracle/session.hpp"
#include "storage/storage.hpp"

namespace hone::oracle {

/// What verify found for one shape.
struct ShapeResult {
  std::string shape;
  Finding finding;
  double max_error = 0;
  double error_ratio = 0;
  int calls = 0;
  double seconds = 0;
  std::map<std::string, std::uint64_t> kernels =
      {};  ///< launches by kernel, where they are counted
};

/// One call of a shape.
struct Step {
  enum class Data {
    fresh,    ///< drawn anew
    touched,  ///< as in the call before, but for one element
    same,     ///< as in the call before
  };
  Family family = Family::normal;
  Data data = Data::fresh;
  bool new_pointers = false;
  bool shifted = false;  ///< addresses aligned no better than the operation promises

  /// "normal, one element changed, same pointers"
  std::string name() const;
};

/// Calls a candidate over one shape after another and judges each call.
class Verifier {
 public:
  /// `seed` fixes every input. Guard bands are for a GPU; cudasim checks bounds itself.
  Verifier(const Operation& operation, Caller& caller, std::uint64_t seed,
           std::uint32_t guard_bytes);

  /// Several calls with alternating poison. The first family: new data at the same pointers, then
  /// one element changed there, then (small shapes) the same data at new pointers: what a candidate
  /// kept from an earlier call shows. Then further families, all of them where the shape is small.
  /// Stops at the first that is not correct.
  ShapeResult verify(const Shape& shape);

 private:
  std::vector<Step> plan(const Shape& shape, std::uint64_t shape_seed) const;
  /// Copies one element of an input over another one.
  void touch(Problem& problem, std::uint64_t seed) const;

  const Operation& operation_;
  Caller& caller_;
  std::uint64_t seed_;
  std::uint32_t guard_bytes_;
};

/// All shapes of one candidate, as verify.json says it.
struct Record {
  std::uint64_t seed = 0;
  std::string device;   ///< "" when no candidate ever came up
  std::string sandbox;  ///< tier that held
  std::vector<ShapeResult> shapes;
  double seconds = 0;

  /// That of the first shape that failed. An infrastructure error after it changes nothing: a wrong
  /// candidate could bring one about to escape its verdict.
  Finding verdict() const;
  /// Schema hone.verify/1.
  storage::Json to_json() const;
};

}  // namespace hone::oracle
