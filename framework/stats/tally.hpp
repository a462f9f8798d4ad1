#pragma once
#include <string>

namespace hone::stats {

/// The two sides of every comparison; they differ by the skill alone.
enum class Arm { with_skill, without_skill };

/// "with_skill" or "without_skill".
constexpr const char* arm_name(Arm arm) {
  return arm == Arm::with_skill ? "with_skill" : "without_skill";
}

/// Passes among scored runs. Infrastructure errors are in neither number.
struct Tally {
  int passes = 0;
  int n = 0;
  /// passes / n; 0 when n is 0.
  double rate() const { return n > 0 ? static_cast<double>(passes) / n : 0.0; }
  /// Some runs passed and some did not.
  bool flaky() const { return passes > 0 && passes < n; }
  Tally& operator+=(const Tally& other) {
    passes += other.passes;
    n += other.n;
    return *this;
  }
  bool operator==(const Tally&) const = default;
};

/// One case's runs in both arms.
struct CaseTally {
  std::string name;
  Tally with_skill;
  Tally without_skill;
  const Tally& of(Arm arm) const { return arm == Arm::with_skill ? with_skill : without_skill; }
};

}  // namespace hone::stats
