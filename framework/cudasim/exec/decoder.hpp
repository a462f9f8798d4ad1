#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cudasim/exec/decode.hpp"
#include "cudasim/exec/isa.hpp"

namespace cudasim {

constexpr std::int32_t kCarrySlot = 4;  ///< the carry flag's predicate in every frame

/// A virtual register of a function.
struct Register {
  std::int32_t offset = -1;  ///< in the frame; -1: not placed yet
  std::uint8_t bytes = 0;    ///< 0: predicate
  bool constant = false;     ///< an alias of a constant slot
};

/// Modifiers of an instruction, consumed as they are understood.
class Modifiers {
 public:
  explicit Modifiers(const Instruction& instruction) : words_(instruction.modifiers) {}
  bool take(std::string_view word);
  /// Takes the first that is one of the words; empty when none is.
  std::string_view take_any(std::initializer_list<std::string_view> words);
  /// Takes the first that starts so.
  std::string_view take_prefix(std::string_view prefix);
  Type take_type();
  bool empty() const { return words_.size() == used_; }
  std::vector<std::string> rest() const;

 private:
  std::vector<std::string> words_;
  std::size_t used_ = 0;
  std::array<bool, 64> taken_{};
  bool taken(std::size_t i) const { return i < 64 && taken_[i]; }
  void mark(std::size_t i) {
    taken_[i] = true;
    ++used_;
  }
};

/// Turns one function's body into operations of the program.
class FunctionDecoder {
 public:
  FunctionDecoder(Program& program, int routine, const std::map<const Function*, int>& routines);
  void run();

 private:
  friend struct Decoding;
  enum class Result { done, unsupported };

  void declare();
  void place_registers();
  void fold_constants();
  void decode(const Instruction& instruction);
  Result decode_known(const Instruction& instruction);
  void resolve_branches();

  // families; decode_<family>.cpp
  Result arithmetic(Modifiers& m);
  Result test_property(Modifiers& m);
  Result extended(Modifiers& m);
  Result multiply(Modifiers& m);
  Result compare(Modifiers& m);
  Result select(Modifiers& m);
  Result convert(Modifiers& m);
  Result convert_pack(Modifiers& m);
  Result move(Modifiers& m);
  Result address_convert(Modifiers& m);
  Result load(Modifiers& m);
  Result store(Modifiers& m);
  Result atomic(Modifiers& m, bool reduction);
  Result branch(Modifiers& m);
  Result call(Modifiers& m);
  Result barrier(Modifiers& m);
  Result warp_op(Modifiers& m);
  Result async_copy(Modifiers& m);
  Result mbarrier(Modifiers& m);
  Result matrix(Modifiers& m);
  Result texture(Modifiers& m);
  Result miscellaneous(Modifiers& m);

  // operands
  const Operand& operand(std::size_t i) const;
  std::size_t operands() const { return at_->operands.size(); }
  Register* find_register(const std::string& name);
  /// Offset of a register that holds the operand, `bytes` wide a lane; narrows, widens (zero
  /// extending), or makes a constant. `type` says how an immediate is read.
  std::int32_t source(const Operand& operand, Type type);
  std::int32_t place_source(const Operand& operand, Type type);
  std::int32_t source_bytes(const Operand& operand, std::uint32_t bytes);
  std::int32_t predicate(const Operand& operand);  ///< offset; negation is the caller's
  std::int32_t destination(const Operand& operand, std::uint32_t bytes, bool sign = false);
  std::int32_t predicate_destination(const Operand& operand);
  std::int32_t allocate(std::uint32_t bytes);  ///< a new slot at the end
  std::int32_t constant(std::uint64_t bits, std::uint32_t bytes);
  std::int32_t temporary(std::uint32_t bytes);
  std::int32_t special(const std::string& name, std::uint32_t bytes);
  std::uint64_t immediate(const Operand& operand, Type type) const;
  bool is_immediate(const Operand& operand) const;
  /// Value of a symbol's address: variable, shared variable or function.
  bool symbol(const std::string& name, std::uint64_t& value, Space& space);
  /// Address register (offset in r4), added offset, 32-bit flag of an operand [a+b].
  void address(Op& op, const Operand& operand, Space space);
  const Declaration* find_local(const std::string& name, std::uint32_t& frame_offset);

  Op& emit(Handler fn, Step step = Step::simple);
  Op& emit_helper(Handler fn);  ///< not counted
  bool fold(const Instruction& instruction, Register& destination);
  std::int32_t param_constant(std::uint32_t offset, Type type, std::uint32_t register_bytes);
  bool find_param(const std::string& name, std::uint32_t& offset) const;
  Op& unimplemented();
  Extra& extra(Op& op);
  void finish_destinations();
  [[noreturn]] void fail(const std::string& message) const;
  int reads_of(const std::string& name);  ///< how often the body mentions it beyond its definition
  std::unordered_map<std::string, int> mentions_;

  Program& program_;
  Routine& routine_;
  const Function& function_;
  const std::map<const Function*, int>& routines_;
  const Isa& isa_ = host_isa();
  const Instruction* at_ = nullptr;
  Pipe pipe_ = Pipe::other;
  std::uint32_t flops_ = 0;

  std::vector<std::unordered_map<std::string, Register>> registers_;  ///< by scope
  std::vector<int> parents_;                                          ///< by scope
  std::vector<std::unordered_map<std::string, std::pair<const Declaration*, std::uint32_t>>>
      locals_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::int32_t> constants_;
  std::map<std::pair<int, std::uint32_t>, std::int32_t> specials_;
  std::unordered_map<std::string, std::uint32_t> labels_;
  struct Fixup {
    std::size_t op;
    std::string label;
    int table = -1;
    const Instruction* at;
  };
  std::vector<Fixup> fixups_;
  struct Pending {
    std::int32_t from, to;
    std::uint8_t from_bytes, to_bytes;
    bool sign;
  };
  std::vector<Pending> pending_;                            ///< widenings after the operation
  std::uint32_t end_ = 64;                                  ///< of the frame's register file
  std::map<std::uint32_t, std::uint64_t> constant_values_;  ///< slot to bits
  std::map<std::uint32_t, std::uint32_t> constant_bytes_;
  std::map<std::uint32_t, std::vector<std::int32_t>> temporaries_;  ///< by lane bytes
  std::map<std::uint32_t, std::size_t> temporaries_used_;
  std::int32_t guard_ = 0;
  std::uint32_t guard_flip_ = 0;
  std::uint32_t elided_ = 0;
  std::vector<std::size_t> counted_;          ///< operations of the current instruction
  std::vector<std::int32_t> reads_, writes_;  ///< registers of the current instruction
  void record_flow(std::size_t first);
};

/// Register numbers of a body after liveness: which slot each virtual register gets.
struct Allocation {
  std::vector<std::int32_t> offset;
  std::uint32_t bytes = 0;
};

// Handlers outside the instruction sets (handlers_*.cpp).
namespace handlers {
Handler narrow(unsigned from_bytes, unsigned to_bytes);            ///< r0 = low bytes of r1
Handler widen(unsigned from_bytes, unsigned to_bytes, bool sign);  ///< r0 = extended r1
Handler frame_load(unsigned bytes, unsigned register_bytes,
                   bool sign);  ///< r0 = lane's frame at imm
Handler frame_store(unsigned bytes);
void frame_address(std::uint8_t* r, const Op& op, std::uint32_t mask,
                   Warp& w);  ///< r0 = lane's frame + imm
void read_root(std::uint8_t* r, const Op& op, std::uint32_t mask,
               Warp& w);  ///< r0 = root register at imm
void clock32(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void clock64(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void clock_high(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void global_timer(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void nop(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void poll(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void activemask(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void move128(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void pack(std::uint8_t* r, const Op& op, std::uint32_t mask,
          Warp& w);  ///< r0 = extra registers joined; imm: bytes of each
void unpack(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void shared_to_generic(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void generic_to_shared(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void isspacep(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void fence(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void mapa(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void getctarank(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void predicate_select(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
Handler atomic(std::string_view operation, Type type, unsigned vector, bool shared);
Handler shuffle(std::string_view mode);
Handler vote(std::string_view mode);
Handler match(bool any, unsigned bytes);
Handler reduce(std::string_view operation, Type type);
void elect(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void copy_async(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void copy_bulk(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
/// Combines `bytes` of source into a target that other workers may change; for cp.reduce.
using BulkReduction = void (*)(std::uint8_t* target, const std::uint8_t* source,
                               std::uint64_t bytes);
BulkReduction bulk_reduction(std::string_view operation, Type type);
Handler mbarrier(std::string_view operation);
}  // namespace handlers

}  // namespace cudasim
