#include "cudasim/check/shared_bounds.hpp"

#include <unordered_map>

namespace cudasim {
namespace {

/// What a register may hold.
struct Origin {
  enum class Kind : std::uint8_t {
    none,        ///< nothing yet
    number,      ///< anything but an address that is known
    variable,    ///< an address in `name`
    difference,  ///< of two variables' addresses: added to one it gives another
  };
  Kind kind = Kind::none;
  const std::string* name = nullptr;
  bool operator==(const Origin&) const = default;
};
constexpr Origin kNumber{Origin::Kind::number, nullptr};

Origin join(const Origin& a, const Origin& b) {
  if (a.kind == Origin::Kind::none || a == b) return b;
  if (b.kind == Origin::Kind::none) return a;
  const bool differs = a.kind == Origin::Kind::difference || b.kind == Origin::Kind::difference;
  return differs ? Origin{Origin::Kind::difference, nullptr} : kNumber;
}
Origin sum(const Origin& a, const Origin& b) {
  if (a.kind == Origin::Kind::none || b.kind == Origin::Kind::none) return {};
  if (a.kind == Origin::Kind::number && b.kind == Origin::Kind::variable) return b;
  if (b.kind == Origin::Kind::number && a.kind == Origin::Kind::variable) return a;
  return a.kind == Origin::Kind::variable ? kNumber : join(a, b);
}

class Flow {
 public:
  Flow(const Kernel& kernel, const Function& function) : kernel_(kernel), function_(function) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction& i : function.body) {
        if (i.operands.empty() || i.root.empty() || i.root == "st" || i.root == "bra") continue;
        changed |= define(i.operands[0], result_of(i));
      }
    }
  }
  Origin of(const Operand& operand) const {
    if (operand.kind != Operand::Kind::identifier && operand.kind != Operand::Kind::address)
      return kNumber;
    if (const std::string* variable = variable_of(operand.name))
      return {Origin::Kind::variable, variable};
    const auto found = registers_.find(operand.name);
    return found == registers_.end() ? Origin{} : found->second;
  }

 private:
  /// The key of a shared variable in the kernel's table; null for other names.
  const std::string* variable_of(const std::string& name) const {
    auto found = kernel_.shared_offsets.find(function_.name + "/" + name);
    if (found == kernel_.shared_offsets.end()) found = kernel_.shared_offsets.find(name);
    return found == kernel_.shared_offsets.end() ? nullptr : &found->first;
  }
  bool define(const Operand& to, const Origin& origin) {
    bool changed = false;
    for (const Operand& item : to.items) changed |= define(item, kNumber);
    if (to.kind != Operand::Kind::identifier) return changed;
    Origin& known = registers_[to.name];
    const Origin joined = join(known, origin);
    changed |= !(joined == known);
    known = joined;
    return changed;
  }
  Origin result_of(const Instruction& i) const {
    const auto n = i.operands.size();
    const auto source = [&](std::size_t k) {
      // A special register or a label is a number; a register without a definition isn't one yet.
      const Origin o = of(i.operands[k]);
      return o.kind == Origin::Kind::none && i.operands[k].name.find('.') != std::string::npos
                 ? kNumber
                 : o;
    };
    const std::string& root = i.root;
    if (n == 2 && (root == "mov" || root == "cvta" || root == "cvt")) return source(1);
    if (n == 3 && (root == "add" || root == "or")) return sum(source(1), source(2));
    if (n == 4 && root == "mad") return sum(kNumber, source(3));
    if (n == 4 && root == "selp") return join(source(1), source(2));
    if (n == 3 && root == "sub") {
      const Origin a = source(1), b = source(2);
      if (b.kind == Origin::Kind::variable || b.kind == Origin::Kind::difference)
        return {Origin::Kind::difference, nullptr};
      return sum(a, b);
    }
    // Whatever is made of a difference may still lead from one variable to another.
    for (std::size_t k = 1; k < n && root != "ld" && root != "atom"; ++k) {
      if (source(k).kind == Origin::Kind::difference) return source(k);
    }
    return kNumber;
  }

  const Kernel& kernel_;
  const Function& function_;
  std::unordered_map<std::string, Origin> registers_;
};

std::uint64_t size_of(const Program& program, const std::string& key) {
  const auto slash = key.find('/');
  if (slash == std::string::npos) {
    const Variable* variable = program.module->find_variable(key);
    return variable == nullptr ? 0 : variable->size;
  }
  const Function* function = program.module->find_function(key.substr(0, slash));
  for (const Declaration& d : function->declarations) {
    if (d.space == Space::shared && d.name == key.substr(slash + 1)) return d.size;
  }
  return 0;
}

}  // namespace

std::vector<SharedBound> shared_bounds(const Program& program) {
  std::vector<SharedBound> bounds(program.code.size());
  const Kernel& kernel = *program.kernel;
  if (kernel.shared_offsets.size() < 2) return bounds;  // the block's bounds say it all
  std::unordered_map<const Function*, Flow> flows;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    const OpInfo& info = program.info[at];
    if (info.instruction == nullptr || info.function == nullptr || info.weight == 0) continue;
    const Instruction& i = *info.instruction;
    const bool load = i.root == "ld" || i.root == "atom";
    if (!load && i.root != "st" && i.root != "red") continue;
    const std::size_t operand = load ? 1 : 0;
    if (i.operands.size() <= operand) continue;
    auto flow = flows.find(info.function);
    if (flow == flows.end()) flow = flows.try_emplace(info.function, kernel, *info.function).first;
    const Origin origin = flow->second.of(i.operands[operand]);
    if (origin.kind != Origin::Kind::variable) continue;
    const std::uint32_t begin = kernel.shared_offsets.find(*origin.name)->second;
    const auto size = static_cast<std::uint32_t>(size_of(program, *origin.name));
    bounds[at] = {origin.name, begin, size == 0 ? 0 : begin + size};
  }
  return bounds;
}

}  // namespace cudasim
