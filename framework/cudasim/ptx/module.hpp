#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cudasim/ptx/syntax.hpp"

namespace cudasim {

/// PTX text that can't be read; what() says "line:column: …" and what would be right.
struct ParseError : std::runtime_error {
  ParseError(int line_, int column_, const std::string& what_text)
      : std::runtime_error(std::to_string(line_) + ":" + std::to_string(column_) + ": " +
                           what_text),
        line(line_),
        column(column_) {}
  int line;
  int column;
};

/// A place in a variable's initial bytes that holds the address of another symbol.
struct Relocation {
  std::uint64_t offset = 0;
  std::uint32_t size = 8;
  std::string symbol;
  std::int64_t addend = 0;
  bool generic = false;  ///< generic(symbol): the same value here, all windows are identity mapped
};

/// A module-scope variable. Shared variables have no device address: they live in each block.
struct Variable {
  std::string name;
  Space space = Space::global;  ///< global, constant, shared or texture-like (texref, surfref …)
  std::uint64_t size = 0;       ///< bytes; 0 for `extern .shared x[]`
  std::uint32_t align = 1;
  std::vector<std::byte> initial;  ///< may be shorter than size; the rest is zero
  std::vector<Relocation> relocations;
  bool external = false;      ///< .extern: defined elsewhere
  bool visible = false;       ///< .visible, .weak or .common
  bool managed = false;       ///< .attribute(.managed)
  std::uint64_t address = 0;  ///< set by Module::bind
};

/// One parameter of a kernel or a function, at `offset` in its parameter block.
struct Param {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t align = 1;
};

/// A .entry or .func with its body.
struct Function {
  std::string name;
  bool entry = false;
  bool defined = false;  ///< false: a prototype only
  bool noreturn = false;
  std::vector<Param> params;
  std::vector<Param> results;      ///< .func only
  std::uint32_t param_bytes = 0;   ///< whole parameter block
  std::uint32_t result_bytes = 0;  ///< whole result block
  std::uint32_t static_shared_bytes =
      0;                          ///< shared memory a block of this kernel needs, without dynamic
  std::uint32_t local_bytes = 0;  ///< local memory of one thread in this function's frame
  std::uint32_t register_estimate = 0;       ///< 32-bit registers live at once, estimated from PTX
  std::uint32_t max_threads[3] = {0, 0, 0};  ///< .maxntid, 0 when absent
  std::uint32_t required_threads[3] = {0, 0, 0};  ///< .reqntid, 0 when absent
  std::uint32_t min_blocks_per_sm = 0;            ///< .minnctapersm
  std::uint32_t max_registers = 0;                ///< .maxnreg
  std::uint32_t cluster[3] = {0, 0, 0};           ///< .reqnctapercluster, 0 when absent
  bool explicit_cluster = false;                  ///< .explicitcluster
  bool uses_grid_sync = false;  ///< reads %envreg1/2: cooperative_groups grid sync
  int line = 0;

  /// Kernels: where each shared variable of the kernel and of what it calls lies in the block's
  /// shared memory; body-level ones are named "function/variable".
  std::map<std::string, std::uint32_t, std::less<>> shared_offsets;
  /// Kernels: functions that may run, this one first.
  std::vector<const Function*> reachable;

  std::vector<Declaration> declarations;  ///< registers and variables of the body
  std::vector<Instruction> body;
  std::map<int, int> scope_parents;  ///< block scope to the enclosing one, -1 for the body

  /// The kernel's decoded form, made and owned by exec at the first launch.
  mutable std::shared_ptr<const void> decoded;
};
using Kernel = Function;

/// One PTX module: what one fatbin entry holds.
class Module {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const Kernel* find_kernel(std::string_view name) const;      ///< nullptr when absent
  const Function* find_function(std::string_view name) const;  ///< kernels and .func alike
  const Variable* find_variable(std::string_view name) const;
  const std::vector<Variable>& variables() const { return variables_; }
  std::vector<const Kernel*> kernels() const;

  /// Sets the device address of a global or constant variable; before the first launch.
  void bind(std::string_view name, std::uint64_t address);
  /// Bytes to copy to the bound address: the initialiser, zero filled, with relocations applied.
  /// Bind all variables first.
  std::vector<std::byte> image(const Variable& variable) const;
  /// The value a kernel sees when it takes the function's address.
  static std::uint64_t function_address(const Function& function);
  const Function* function_at(std::uint64_t address) const;  ///< nullptr when no function is there

  std::string version;               ///< "9.0"
  std::string target;                ///< "sm_90"
  std::map<int, std::string> files;  ///< .file index to path
  mutable std::recursive_mutex decode_mutex;

 private:
  friend class Parser;
  std::vector<std::unique_ptr<Function>> functions_;
  std::map<std::string, Function*, std::less<>> function_index_;
  std::vector<Variable> variables_;
  std::map<std::string, std::size_t, std::less<>> variable_index_;
};

/// Reads PTX text (ISA up to 9.0). Throws ParseError.
std::unique_ptr<Module> parse(std::string_view ptx);

}  // namespace cudasim
