#pragma once

#include <memory>

#include "cudasim/exec/machine.hpp"

namespace cudasim {

/// PTX that names what isn't there; becomes Fault invalid_program.
struct DecodeError : std::runtime_error {
  DecodeError(const std::string& message, const Instruction& at_, const Function& in_)
      : std::runtime_error(message), at(&at_), in(&in_) {}
  const Instruction* at;
  const Function* in;
};

/// The kernel's decoded program, made once and kept with the kernel. An instruction that isn't
/// implemented decodes to one that faults when it is reached. Throws DecodeError.
std::shared_ptr<const Program> decoded_program(const Module& module, const Kernel& kernel);

}  // namespace cudasim
