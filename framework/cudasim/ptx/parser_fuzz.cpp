// libFuzzer target: any text as a PTX module; what it declares is laid out and imaged.
#include "cudasim/ptx/module.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cudasim;
  try {
    const auto module = parse({reinterpret_cast<const char*>(data), size});
    for (const Variable& variable : module->variables()) {
      if (variable.size < 1 << 20) module->image(variable);
    }
  } catch (const ParseError&) {
  }
  return 0;
}
