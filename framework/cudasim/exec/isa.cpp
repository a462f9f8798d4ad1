#include "cudasim/exec/isa.hpp"

#include <cstdlib>

namespace cudasim {
namespace base {
extern const Isa kTable;
}
namespace avx2 {
extern const Isa kTable;
}

const Isa& host_isa() {
  static const Isa& best = []() -> const Isa& {
    const char* wanted = std::getenv("CUDASIM_ISA");
    if (wanted != nullptr && std::string_view(wanted) == "base") return base::kTable;
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return avx2 ? avx2::kTable : base::kTable;
  }();
  return best;
}

}  // namespace cudasim
