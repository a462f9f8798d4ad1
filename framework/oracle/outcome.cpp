#include "oracle/outcome.hpp"

namespace hone::oracle {

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::correct:
      return "correct";
    case Outcome::wrong:
      return "wrong";
    case Outcome::compile_error:
      return "compile-error";
    case Outcome::launch_error:
      return "launch-error";
    case Outcome::memory_fault:
      return "memory-fault";
    case Outcome::race:
      return "race";
    case Outcome::sync_fault:
      return "sync-fault";
    case Outcome::timeout:
      return "timeout";
    case Outcome::crashed:
      return "crashed";
    case Outcome::no_kernel:
      return "no-kernel";
    case Outcome::suspicious:
      return "suspicious";
    case Outcome::infrastructure_error:
      return "infrastructure-error";
  }
  return "infrastructure-error";
}

}  // namespace hone::oracle
