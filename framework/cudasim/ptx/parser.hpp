#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cudasim/ptx/lexer.hpp"
#include "cudasim/ptx/module.hpp"

namespace cudasim {

/// PTX of an ISA version that isn't known yet.
struct VersionError : ParseError {
  using ParseError::ParseError;
};

/// Recursive-descent reader of one PTX module.
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}
  std::unique_ptr<Module> run();

 private:
  struct Location {
    int file, line, column;
    int inlined_file = 0, inlined_line = 0, inlined_column = 0;
  };
  struct Linkage {
    bool external = false, visible = false, weak = false;
  };
  /// Each module text counts its files from 1; in the joined module they are told apart.
  static constexpr int kFilesOfModule = 1 << 20;

  void top_level();
  void skip_section();
  void file_directive();
  void skip_statement();
  void variable(Space space, const Linkage& linkage);
  void initializer(Variable& variable, Type type);
  void initial_value(Variable& variable, Type type, std::uint64_t& offset);
  void function(bool entry, const Linkage& linkage);
  std::vector<Param> parameters(std::uint32_t& bytes);
  Param parameter();
  void function_directives(Function& function);
  void body(Function& function);
  void statement(Function& function);
  void body_directive(Function& function);
  void declaration(Function& function, Space space);
  void location(Function& function);
  void instruction(Function& function, const Token& first, std::string guard, bool negated);
  void prototype(Function& function, std::string label);
  Operand operand();
  Operand address();
  std::int64_t constant_expression();
  std::int64_t constant_term();
  std::uint64_t array_size(bool& array);
  void finish();
  void close_over(Function& kernel);
  int small_integer();
  int file_number();

  Lexer lexer_;
  std::unique_ptr<Module> module_ = std::make_unique<Module>();
  std::vector<Location> locations_;
  std::map<std::tuple<int, int, int>, Location> inlining_;
  std::vector<int> scopes_;
  std::map<int, int> scope_parent_;
  int next_scope_ = 0;
  int depth_ = 0;  ///< of nested operands and constants
  std::set<std::string, std::less<>> address_taken_;
  int modules_ = 0;  ///< .version directives read: texts of linked objects follow each other
};

}  // namespace cudasim
