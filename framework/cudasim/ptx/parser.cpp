#include "cudasim/ptx/parser.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cudasim {
namespace {

constexpr std::uint64_t kLargestVariable = std::uint64_t{1} << 36;
constexpr std::size_t kMostInstructions = 20'000'000;
constexpr int kDeepestNesting = 64;
constexpr int kMostModules = 1000;

/// Counts nesting while it lives.
struct Nesting {
  explicit Nesting(int& counter) : depth(counter) { ++depth; }
  ~Nesting() { --depth; }
  int& depth;
};

bool space_from_word(std::string_view word, Space& space) {
  if (word == "global")
    space = Space::global;
  else if (word == "const")
    space = Space::constant;
  else if (word == "shared")
    space = Space::shared;
  else if (word == "local")
    space = Space::local;
  else if (word == "param")
    space = Space::param;
  else if (word == "reg")
    space = Space::reg;
  else
    return false;
  return true;
}

bool is_reference_type(std::string_view word) {
  return word == "texref" || word == "surfref" || word == "samplerref";
}

std::uint32_t align_up(std::uint32_t value, std::uint32_t align) {
  return align == 0 ? value : (value + align - 1) / align * align;
}

}  // namespace

std::unique_ptr<Module> parse(std::string_view ptx) { return Parser(ptx).run(); }

std::unique_ptr<Module> Parser::run() {
  while (lexer_.peek().kind != Token::Kind::end) top_level();
  if (module_->version.empty()) lexer_.fail("expected a .version directive in the module");
  finish();
  return std::move(module_);
}

int Parser::small_integer() {
  const Token token = lexer_.next();
  if (token.kind != Token::Kind::integer || token.value < 0 || token.value > 0x7fffffff) {
    Lexer::fail_at(token, "expected an integer");
  }
  return static_cast<int>(token.value);
}

int Parser::file_number() {
  const Token token = lexer_.peek();
  const int number = small_integer();
  if (number >= kFilesOfModule) Lexer::fail_at(token, "file number too large");
  return number + modules_ * kFilesOfModule;
}

void Parser::skip_statement() {
  while (lexer_.peek().kind != Token::Kind::end && !lexer_.peek().is(';')) lexer_.next();
  lexer_.accept(';');
}

void Parser::skip_section() {
  lexer_.next();
  while (lexer_.peek().kind == Token::Kind::dot_word || lexer_.peek().kind == Token::Kind::word) {
    lexer_.next();
  }
  lexer_.expect('{');
  int depth = 1;
  while (depth > 0) {
    const Token token = lexer_.next();
    if (token.kind == Token::Kind::end) Lexer::fail_at(token, "expected '}' of .section");
    if (token.is('{')) ++depth;
    if (token.is('}')) --depth;
  }
}

void Parser::file_directive() {
  lexer_.next();
  const int index = file_number();
  const Token name = lexer_.next();
  if (name.kind != Token::Kind::string) Lexer::fail_at(name, "expected a file name");
  module_->files[index] = std::string(name.text);
  while (lexer_.accept(',')) lexer_.next();
}

void Parser::top_level() {
  const Token& token = lexer_.peek();
  if (lexer_.accept(';')) return;
  if (token.kind != Token::Kind::dot_word) lexer_.fail("expected a directive such as .entry");
  if (token.is_dot("version")) {
    lexer_.next();
    const Token number = lexer_.next();
    if (number.kind != Token::Kind::integer && number.kind != Token::Kind::real64) {
      Lexer::fail_at(number, "expected a version number");
    }
    const double version = number.kind == Token::Kind::real64 ? std::bit_cast<double>(number.value)
                                                              : static_cast<double>(number.value);
    if (version >= 10.0)
      throw VersionError(number.line, number.column,
                         "PTX ISA " + std::string(number.text) + ": 9.x is the newest known");
    if (!module_->version.empty()) ++modules_;
    if (modules_ > kMostModules) Lexer::fail_at(number, "too many modules in one text");
    module_->version = std::string(number.text);
    return;
  }
  if (token.is_dot("target")) {
    lexer_.next();
    module_->target = std::string(lexer_.next().text);
    while (lexer_.accept(',')) lexer_.next();
    return;
  }
  if (token.is_dot("address_size")) {
    lexer_.next();
    const Token size = lexer_.peek();
    if (small_integer() != 64) Lexer::fail_at(size, "only .address_size 64 is supported");
    return;
  }
  if (token.is_dot("file")) return file_directive();
  if (token.is_dot("section")) return skip_section();
  if (token.is_dot("pragma") || token.is_dot("alias")) return skip_statement();

  Linkage linkage;
  while (true) {
    const Token word = lexer_.next();
    if (word.kind != Token::Kind::dot_word) Lexer::fail_at(word, "expected a directive");
    Space space{};
    if (word.text == "extern")
      linkage.external = true;
    else if (word.text == "visible" || word.text == "weak" || word.text == "common") {
      linkage.visible = true;
      linkage.weak |= word.text == "weak";
    } else if (word.text == "entry")
      return function(true, linkage);
    else if (word.text == "func")
      return function(false, linkage);
    else if (word.text == "tex")
      return variable(Space::texture, linkage);
    else if (space_from_word(word.text, space))
      return variable(space, linkage);
    else
      Lexer::fail_at(word, "expected .entry, .func, or a variable's state space");
  }
}

std::uint64_t Parser::array_size(bool& array) {
  std::uint64_t count = 1;
  while (lexer_.accept('[')) {
    array = true;
    if (lexer_.accept(']')) {
      count = 0;
      continue;
    }
    const Token at = lexer_.peek();
    const std::int64_t n = constant_expression();
    if (n < 0 || static_cast<std::uint64_t>(n) > kLargestVariable ||
        count * static_cast<std::uint64_t>(n) > kLargestVariable) {
      Lexer::fail_at(at, "array too large");
    }
    count *= static_cast<std::uint64_t>(n);
    lexer_.expect(']');
  }
  return count;
}

void Parser::variable(Space space, const Linkage& linkage) {
  Variable v;
  v.space = space;
  v.external = linkage.external;
  v.visible = linkage.visible;
  Type type = Type::none;
  std::uint32_t elements = 1;
  bool aligned = false;
  while (lexer_.peek().kind == Token::Kind::dot_word) {
    const Token word = lexer_.next();
    if (word.text == "align") {
      v.align = static_cast<std::uint32_t>(small_integer());
      aligned = true;
    } else if (word.text == "attribute") {
      lexer_.expect('(');
      while (!lexer_.peek().is(')')) {
        const Token attribute = lexer_.next();
        if (attribute.kind == Token::Kind::end) Lexer::fail_at(attribute, "expected ')'");
        if (attribute.is_dot("managed")) v.managed = true;
      }
      lexer_.expect(')');
    } else if (word.text == "v2")
      elements = 2;
    else if (word.text == "v4")
      elements = 4;
    else if (is_reference_type(word.text)) {
      type = Type::u64;
      v.space = Space::texture;
    } else if (word.text == "ptr" || word.text == "global" || word.text == "shared") {
    } else if (type = type_from_name(word.text); type == Type::none) {
      Lexer::fail_at(word, "expected a type");
    }
  }
  while (true) {
    Variable one = v;
    const Token name = lexer_.next();
    if (name.kind != Token::Kind::word) Lexer::fail_at(name, "expected a variable's name");
    one.name = std::string(name.text);
    bool array = false;
    const std::uint64_t count = array_size(array);
    const std::uint32_t size = type_bytes(type) * elements;
    if (!aligned) one.align = std::max(1u, size);
    one.size = count * size;
    if (lexer_.accept('=')) {
      initializer(one, type);
      one.size = std::max<std::uint64_t>(one.size, one.initial.size());
    }
    auto [where, fresh] = module_->variable_index_.emplace(one.name, module_->variables_.size());
    if (fresh)
      module_->variables_.push_back(std::move(one));
    else if (module_->variables_[where->second].external)
      module_->variables_[where->second] = std::move(one);
    if (!lexer_.accept(',')) break;
  }
  lexer_.expect(';');
}

void Parser::initializer(Variable& v, Type type) {
  std::uint64_t offset = 0;
  int depth = 0;
  // Braces of inner dimensions only group values: nvcc writes full rows.
  do {
    while (lexer_.accept('{')) {
      if (++depth > kDeepestNesting) lexer_.fail("initialiser nested too deeply");
    }
    if (depth > 0 && lexer_.peek().is('}')) {
      lexer_.next();
      --depth;
      continue;
    }
    initial_value(v, type, offset);
    while (depth > 0 && lexer_.accept('}')) --depth;
  } while (depth > 0 && (lexer_.accept(',') || lexer_.peek().is('}')));
  if (depth > 0) lexer_.fail("expected '}' of the initialiser");
}

void Parser::initial_value(Variable& v, Type type, std::uint64_t& offset) {
  std::uint32_t bytes = type_bytes(type);
  if (bytes == 0) bytes = 1;
  if (v.size != 0 && offset + bytes > v.size)
    lexer_.fail("more initial values than the array holds");
  if (offset + bytes > kLargestVariable) lexer_.fail("initialiser too long");
  v.initial.resize(offset + bytes);
  std::uint64_t value = 0;
  const Token token = lexer_.peek();
  Relocation relocation;
  bool symbolic = false;
  if (token.kind == Token::Kind::word) {
    symbolic = true;
    lexer_.next();
    if (token.text == "generic" && lexer_.accept('(')) {
      relocation.generic = true;
      relocation.symbol = std::string(lexer_.next().text);
      lexer_.expect(')');
    } else {
      relocation.symbol = std::string(token.text);
    }
    while (lexer_.peek().is('+') || lexer_.peek().is('-')) {
      const bool minus = lexer_.next().is('-');
      const std::int64_t term = constant_term();
      relocation.addend += minus ? -term : term;
    }
    address_taken_.insert(relocation.symbol);
  } else if (token.kind == Token::Kind::real32 || token.kind == Token::Kind::real64) {
    lexer_.next();
    value = static_cast<std::uint64_t>(token.value);
    if (token.kind == Token::Kind::real64 && bytes == 4) {
      value = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value)));
    } else if (token.kind == Token::Kind::real32 && bytes == 8) {
      value = std::bit_cast<std::uint64_t>(
          static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value))));
    }
  } else {
    const std::int64_t number = constant_expression();
    value = static_cast<std::uint64_t>(number);
    if (lexer_.peek().is('(')) {  // 0xFF00(symbol): one byte of an address
      lexer_.fail("masked address initialisers aren't supported");
    }
    if (type == Type::f32 || type == Type::f64) {
      value = type == Type::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
                                : std::bit_cast<std::uint64_t>(static_cast<double>(number));
    }
  }
  if (symbolic) {
    relocation.offset = offset;
    relocation.size = std::min(bytes, 8u);
    v.relocations.push_back(std::move(relocation));
  } else {
    std::memcpy(v.initial.data() + offset, &value, std::min(bytes, 8u));
  }
  offset += bytes;
}

Param Parser::parameter() {
  Param param;
  Type type = Type::none;
  bool aligned = false;
  std::uint32_t elements = 1;
  while (lexer_.peek().kind == Token::Kind::dot_word) {
    const Token word = lexer_.next();
    if (word.text == "align") {
      param.align = static_cast<std::uint32_t>(small_integer());
      aligned = true;
      // `.ptr .global .align 16` describes what the pointer points to.
    } else if (word.text == "ptr") {
      while (lexer_.peek().kind == Token::Kind::dot_word) {
        if (lexer_.next().text == "align") small_integer();
      }
    } else if (word.text == "v2")
      elements = 2;
    else if (word.text == "v4")
      elements = 4;
    else if (is_reference_type(word.text))
      type = Type::u64;
    else if (const Type t = type_from_name(word.text); t != Type::none)
      type = t;
    else if (word.text != "param" && word.text != "reg")
      Lexer::fail_at(word, "expected a parameter's type");
  }
  const Token name = lexer_.next();
  if (name.kind != Token::Kind::word) Lexer::fail_at(name, "expected a parameter's name");
  param.name = std::string(name.text);
  bool array = false;
  const std::uint64_t count = array_size(array);
  param.size = static_cast<std::uint32_t>(count) * type_bytes(type) * elements;
  if (type == Type::pred) param.size = 4;
  if (!aligned) param.align = std::max(1u, type_bytes(type) * elements);
  return param;
}

std::vector<Param> Parser::parameters(std::uint32_t& bytes) {
  std::vector<Param> result;
  lexer_.expect('(');
  bytes = 0;
  while (!lexer_.peek().is(')')) {
    if (!result.empty()) lexer_.expect(',');
    Param param = parameter();
    param.offset = align_up(bytes, param.align);
    bytes = param.offset + param.size;
    result.push_back(std::move(param));
  }
  lexer_.expect(')');
  return result;
}

void Parser::function_directives(Function& f) {
  auto three = [&](std::uint32_t(&values)[3]) {
    for (int i = 0; i < 3; ++i) values[i] = 1;
    for (int i = 0; i < 3; ++i) {
      values[i] = static_cast<std::uint32_t>(small_integer());
      if (!lexer_.accept(',')) break;
    }
  };
  while (lexer_.peek().kind == Token::Kind::dot_word) {
    const Token word = lexer_.next();
    if (word.text == "maxntid")
      three(f.max_threads);
    else if (word.text == "reqntid")
      three(f.required_threads);
    else if (word.text == "reqnctapercluster")
      three(f.cluster);
    else if (word.text == "minnctapersm")
      f.min_blocks_per_sm = static_cast<std::uint32_t>(small_integer());
    else if (word.text == "maxnctapersm")
      small_integer();
    else if (word.text == "maxclusterrank")
      small_integer();
    else if (word.text == "maxnreg")
      f.max_registers = static_cast<std::uint32_t>(small_integer());
    else if (word.text == "explicitcluster")
      f.explicit_cluster = true;
    else if (word.text == "noreturn")
      f.noreturn = true;
    else if (word.text == "pragma")
      skip_statement();
    else if (word.text == "unified" || word.text == "blocksareclusters") {
    } else if (word.text == "abi_preserve" || word.text == "abi_preserve_control")
      small_integer();
    else if (word.text == "attribute") {
      lexer_.expect('(');
      while (lexer_.peek().kind != Token::Kind::end && !lexer_.peek().is(')')) lexer_.next();
      lexer_.expect(')');
    } else
      Lexer::fail_at(word, "unknown function directive");
  }
}

void Parser::function(bool entry, const Linkage& linkage) {
  auto f = std::make_unique<Function>();
  f->entry = entry;
  while (lexer_.peek().kind == Token::Kind::dot_word) {  // .attribute(.unified(…))
    lexer_.next();
    if (lexer_.accept('(')) {
      int depth = 1;
      while (depth > 0 && lexer_.peek().kind != Token::Kind::end) {
        const Token t = lexer_.next();
        depth += t.is('(') ? 1 : t.is(')') ? -1 : 0;
      }
    }
  }
  if (lexer_.peek().is('(')) f->results = parameters(f->result_bytes);
  const Token name = lexer_.next();
  if (name.kind != Token::Kind::word) Lexer::fail_at(name, "expected a function's name");
  f->name = std::string(name.text);
  f->line = name.line;
  if (lexer_.peek().is('(')) f->params = parameters(f->param_bytes);
  function_directives(*f);
  if (lexer_.accept('{')) {
    f->defined = true;
    body(*f);
  } else {
    lexer_.expect(';');
  }
  auto [where, fresh] = module_->function_index_.emplace(f->name, f.get());
  if (fresh) {
    module_->functions_.push_back(std::move(f));
  } else if (f->defined && !where->second->defined) {
    *where->second = std::move(*f);  // keeps the address that prototypes handed out
  } else if (f->defined && !linkage.weak) {
    Lexer::fail_at(name, "function defined twice");
  }
}

void Parser::body(Function& f) {
  scopes_ = {0};
  scope_parent_ = {{0, -1}};
  next_scope_ = 1;
  locations_.clear();
  inlining_.clear();
  locations_.push_back({0, 0, 0});
  while (!scopes_.empty()) {
    if (lexer_.peek().kind == Token::Kind::end) lexer_.fail("expected '}' of " + f.name);
    statement(f);
  }
  f.scope_parents = scope_parent_;
  // Locations inside toolkit headers are walked up to the code that called them, in finish().
  for (Instruction& instruction : f.body) {
    const Location& at = locations_[static_cast<std::size_t>(instruction.source.line)];
    instruction.source = {at.file, at.line};
    instruction.inlined.clear();
    Location walk = at;
    for (int depth = 0; depth < kDeepestNesting && walk.inlined_file != 0; ++depth) {
      instruction.inlined.push_back({walk.inlined_file, walk.inlined_line});
      const auto up = inlining_.find({walk.inlined_file, walk.inlined_line, walk.inlined_column});
      if (up == inlining_.end()) break;
      walk = up->second;
    }
  }
}

void Parser::statement(Function& f) {
  const Token& token = lexer_.peek();
  if (lexer_.accept(';')) return;
  if (token.is('{')) {
    lexer_.next();
    if (scopes_.size() > kDeepestNesting) lexer_.fail("blocks nested too deeply");
    scope_parent_[next_scope_] = scopes_.back();
    scopes_.push_back(next_scope_++);
    return;
  }
  if (token.is('}')) {
    lexer_.next();
    scopes_.pop_back();
    return;
  }
  if (token.kind == Token::Kind::dot_word) return body_directive(f);
  std::string guard;
  bool negated = false;
  const bool guarded = lexer_.accept('@');
  if (guarded) {
    negated = lexer_.accept('!');
    const Token name = lexer_.next();
    if (name.kind != Token::Kind::word) Lexer::fail_at(name, "expected a predicate register");
    guard = std::string(name.text);
  }
  const Token first = lexer_.next();
  if (first.kind != Token::Kind::word) Lexer::fail_at(first, "expected an instruction");
  if (!guarded && lexer_.accept(':')) {
    if (lexer_.peek().is_dot("callprototype")) return prototype(f, std::string(first.text));
    if (lexer_.peek().is_dot("branchtargets") || lexer_.peek().is_dot("calltargets")) {
      Declaration targets;
      targets.kind = Declaration::Kind::branch_targets;
      targets.name = std::string(first.text);
      targets.scope = scopes_.back();
      targets.parent_scope = scope_parent_[targets.scope];
      lexer_.next();
      do {
        targets.targets.emplace_back(lexer_.next().text);
        address_taken_.insert(targets.targets.back());
      } while (lexer_.accept(','));
      lexer_.expect(';');
      f.declarations.push_back(std::move(targets));
      return;
    }
    Instruction label;
    label.label = std::string(first.text);
    label.line = first.line;
    label.scope = scopes_.back();
    label.source.line = static_cast<int>(locations_.size()) - 1;
    f.body.push_back(std::move(label));
    return;
  }
  instruction(f, first, std::move(guard), negated);
}

void Parser::location(Function&) {
  lexer_.next();
  Location at{};
  at.file = file_number();
  at.line = small_integer();
  at.column = small_integer();
  while (lexer_.accept(',')) {
    const Token word = lexer_.next();
    if (word.is_word("function_name")) {
      lexer_.next();
      if (lexer_.accept('+')) lexer_.next();
    } else if (word.is_word("inlined_at")) {
      at.inlined_file = file_number();
      at.inlined_line = small_integer();
      at.inlined_column = small_integer();
    }
  }
  inlining_[{at.file, at.line, at.column}] = at;
  locations_.push_back(at);
}

void Parser::body_directive(Function& f) {
  const Token& token = lexer_.peek();
  if (token.is_dot("loc")) return location(f);
  if (token.is_dot("pragma")) return skip_statement();
  if (token.is_dot("file")) return file_directive();
  if (token.is_dot("section")) return skip_section();
  Space space{};
  if (!space_from_word(token.text, space)) lexer_.fail("unknown directive in a body");
  lexer_.next();
  declaration(f, space);
}

void Parser::declaration(Function& f, Space space) {
  Declaration base;
  base.space = space;
  base.scope = scopes_.back();
  base.parent_scope = scope_parent_[base.scope];
  std::uint32_t elements = 1;
  bool aligned = false;
  while (lexer_.peek().kind == Token::Kind::dot_word) {
    const Token word = lexer_.next();
    if (word.text == "align") {
      base.align = static_cast<std::uint32_t>(small_integer());
      aligned = true;
    } else if (word.text == "v2")
      elements = 2;
    else if (word.text == "v4")
      elements = 4;
    else if (const Type t = type_from_name(word.text); t != Type::none)
      base.type = t;
    else
      Lexer::fail_at(word, "expected a type");
  }
  if (base.type == Type::none) lexer_.fail("expected a type in the declaration");
  if (elements != 1 && space == Space::reg) lexer_.fail("vector registers aren't supported");
  while (true) {
    Declaration one = base;
    const Token name = lexer_.next();
    if (name.kind != Token::Kind::word) Lexer::fail_at(name, "expected a name");
    one.name = std::string(name.text);
    if (lexer_.accept('<')) {
      one.count = small_integer();
      if (one.count > 4'000'000) Lexer::fail_at(name, "too many registers");
      lexer_.expect('>');
    }
    bool array = false;
    const std::uint64_t count = array_size(array);
    const std::uint32_t size = type_bytes(one.type) * elements;
    one.size = count * size;
    if (!aligned) one.align = std::max(1u, size);
    if (one.align == 0 || one.align > 4096) Lexer::fail_at(name, "alignment out of range");
    if (lexer_.peek().is('=')) lexer_.fail("initialisers in a body aren't supported");
    f.declarations.push_back(std::move(one));
    if (!lexer_.accept(',')) break;
  }
  lexer_.expect(';');
}

void Parser::prototype(Function& f, std::string label) {
  lexer_.next();
  Declaration d;
  d.kind = Declaration::Kind::call_prototype;
  d.name = std::move(label);
  d.scope = scopes_.back();
  d.parent_scope = scope_parent_[d.scope];
  std::uint32_t bytes = 0;
  if (lexer_.peek().is('(')) {
    for (const Param& p : parameters(bytes)) {
      d.result_sizes.push_back(p.size);
      d.result_aligns.push_back(p.align);
    }
  }
  lexer_.next();  // _
  if (lexer_.peek().is('(')) {
    for (const Param& p : parameters(bytes)) {
      d.param_sizes.push_back(p.size);
      d.param_aligns.push_back(p.align);
    }
  }
  skip_statement();
  f.declarations.push_back(std::move(d));
}

std::int64_t Parser::constant_term() {
  const Nesting nesting(depth_);
  if (depth_ > kDeepestNesting) lexer_.fail("constant nested too deeply");
  const Token token = lexer_.next();
  if (token.kind == Token::Kind::integer) return token.value;
  const auto negate = [](std::int64_t v) {
    return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(v));
  };
  if (token.is('-')) return negate(constant_term());
  if (token.is('+')) return constant_term();
  if (token.is('~')) return ~constant_term();
  if (token.is('!')) return constant_term() == 0;
  if (token.is('(')) {
    const std::int64_t value = constant_expression();
    lexer_.expect(')');
    return value;
  }
  Lexer::fail_at(token, "expected an integer constant");
}

std::int64_t Parser::constant_expression() {
  auto value = static_cast<std::uint64_t>(constant_term());
  while (lexer_.peek().is('+') || lexer_.peek().is('-') || lexer_.peek().is('*')) {
    const Token op = lexer_.next();
    const auto term = static_cast<std::uint64_t>(constant_term());
    value = op.is('+') ? value + term : op.is('-') ? value - term : value * term;
  }
  return static_cast<std::int64_t>(value);
}

Operand Parser::address() {
  Operand result;
  result.kind = Operand::Kind::address;
  lexer_.expect('[');
  if (lexer_.peek().kind == Token::Kind::word) {
    result.name = std::string(lexer_.next().text);
  } else if (!lexer_.peek().is(']')) {
    result.value = constant_expression();
  }
  if (lexer_.peek().is(',')) {  // tensor, texture or surface coordinates
    Operand texture;
    texture.kind = Operand::Kind::texture;
    Operand base;
    base.name = result.name;
    base.value = result.value;
    texture.items.push_back(std::move(base));
    while (lexer_.accept(',')) texture.items.push_back(operand());
    lexer_.expect(']');
    return texture;
  }
  while (lexer_.peek().is('+') || lexer_.peek().is('-')) {
    const bool minus = lexer_.next().is('-');
    const auto term = static_cast<std::uint64_t>(constant_term());
    const auto value = static_cast<std::uint64_t>(result.value);
    result.value = static_cast<std::int64_t>(minus ? value - term : value + term);
  }
  lexer_.expect(']');
  return result;
}

Operand Parser::operand() {
  const Nesting nesting(depth_);
  if (depth_ > kDeepestNesting) lexer_.fail("operands nested too deeply");
  Operand result;
  const Token& token = lexer_.peek();
  if (token.is('[')) return address();
  if (token.is('{') || token.is('(')) {
    const char close = token.is('{') ? '}' : ')';
    result.kind = token.is('{') ? Operand::Kind::vector : Operand::Kind::list;
    lexer_.next();
    while (!lexer_.peek().is(close)) {
      if (!result.items.empty()) lexer_.expect(',');
      result.items.push_back(operand());
      if (result.items.size() > 512) lexer_.fail("too many operands");
    }
    lexer_.next();
    return result;
  }
  if (lexer_.accept('!')) {
    result = operand();
    result.negated = !result.negated;
    return result;
  }
  switch (token.kind) {
    case Token::Kind::word: {
      const Token word = lexer_.next();
      if (word.text == "_") {
        result.kind = Operand::Kind::sink;
        if (lexer_.accept('|')) {
          result.kind = Operand::Kind::identifier;
          result.name = "_";
          result.dual = std::string(lexer_.next().text);
        }
        return result;
      }
      result.name = std::string(word.text);
      if (lexer_.peek().kind == Token::Kind::dot_word && lexer_.peek().glued) {
        result.name += "." + std::string(lexer_.next().text);
      }
      if (lexer_.accept('|')) result.dual = std::string(lexer_.next().text);
      if (lexer_.peek().is('+') || lexer_.peek().is('-')) result.value = constant_expression();
      return result;
    }
    case Token::Kind::real32:
    case Token::Kind::real64: {
      result.kind =
          token.kind == Token::Kind::real32 ? Operand::Kind::real32 : Operand::Kind::real64;
      result.value = lexer_.next().value;
      return result;
    }
    default: {
      if (token.is('-')) {
        lexer_.next();
        const Token number = lexer_.peek();
        if (number.kind == Token::Kind::real64 || number.kind == Token::Kind::real32) {
          result = operand();
          const auto bits = static_cast<std::uint64_t>(result.value);
          result.value = static_cast<std::int64_t>(result.kind == Operand::Kind::real32
                                                       ? bits ^ 0x80000000u
                                                       : bits ^ (std::uint64_t{1} << 63));
          return result;
        }
        result.kind = Operand::Kind::integer;
        auto value = 0 - static_cast<std::uint64_t>(constant_term());
        while (lexer_.peek().is('+') || lexer_.peek().is('-')) {
          const bool minus = lexer_.next().is('-');
          const auto term = static_cast<std::uint64_t>(constant_term());
          value = minus ? value - term : value + term;
        }
        result.value = static_cast<std::int64_t>(value);
        return result;
      }
      result.kind = Operand::Kind::integer;
      result.value = constant_expression();
      return result;
    }
  }
}

void Parser::instruction(Function& f, const Token& first, std::string guard, bool negated) {
  Instruction i;
  i.root = std::string(first.text);
  i.guard = std::move(guard);
  i.guard_negated = negated;
  i.line = first.line;
  i.scope = scopes_.back();
  i.source.line = static_cast<int>(locations_.size()) - 1;
  while (lexer_.peek().kind == Token::Kind::dot_word) i.modifiers.emplace_back(lexer_.next().text);
  while (!lexer_.peek().is(';')) {
    if (!i.operands.empty()) lexer_.expect(',');
    i.operands.push_back(operand());
    if (i.operands.size() > 64) lexer_.fail("too many operands");
  }
  std::string text;
  for (const char c : lexer_.text_from(first)) {
    if (c == '\n' || c == '\t' || c == '\r') {
      if (!text.empty() && text.back() != ' ') text += ' ';
    } else if (text.size() < 240) {
      text += c;
    }
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  i.text = std::move(text);
  lexer_.expect(';');
  if (f.body.size() > kMostInstructions) lexer_.fail("function too long");
  f.body.push_back(std::move(i));
}

void Parser::finish() {
  // A place in a toolkit header is shown as the caller's line. nvcc names its own headers by way of
  // bin/.., wherever it is installed.
  constexpr const char* toolkit_paths[] = {"/bin/../", "/targets/x86_64-linux/include/",
                                           "/cuda/include/", "/cu13/include/"};
  auto in_toolkit = [&](int file) {
    const auto name = module_->files.find(file);
    return name != module_->files.end() &&
           std::ranges::any_of(toolkit_paths, [&](const char* part) {
             return name->second.find(part) != std::string::npos;
           });
  };
  for (auto& function : module_->functions_) {
    for (Instruction& i : function->body) {
      if (in_toolkit(i.source.file)) {
        for (const SourceLine& up : i.inlined) {
          i.source = up;
          if (!in_toolkit(up.file)) break;
        }
      }
      i.inlined = {};
    }
  }
  for (auto& function : module_->functions_) {
    std::uint32_t bytes = 0, registers = 0;
    for (const Declaration& d : function->declarations) {
      if (d.kind != Declaration::Kind::variable) continue;
      if (d.space == Space::local) {
        bytes = align_up(bytes, d.align) + static_cast<std::uint32_t>(d.size);
      }
      if (d.space == Space::reg && d.type != Type::pred) {
        registers +=
            static_cast<std::uint32_t>(std::max(1, d.count)) * (type_bytes(d.type) > 4 ? 2 : 1);
      }
    }
    function->local_bytes = bytes;
    function->register_estimate = std::clamp(16 + registers / 4, 16u, 255u);
    for (const Instruction& i : function->body) {
      for (std::size_t o = 0; o < i.operands.size(); ++o) {
        const std::string& name = i.operands[o].name;
        if (name == "%envreg1" || name == "%envreg2") function->uses_grid_sync = true;
        if (i.root != "call" && module_->function_index_.contains(name))
          address_taken_.insert(name);
      }
    }
  }
  for (auto& function : module_->functions_) {
    if (function->entry) close_over(*function);
  }
}

void Parser::close_over(Function& kernel) {
  std::vector<const Function*> order{&kernel};
  std::set<const Function*> seen{&kernel};
  std::set<const Variable*> shared;
  bool indirect = false;
  auto visit = [&](const Function* f) {
    // A kernel that is named is launched, not called.
    if (f != nullptr && f->defined && !f->entry && seen.insert(f).second) order.push_back(f);
  };
  auto mention = [&](auto&& self, const Operand& operand) -> void {
    if (!operand.name.empty()) {
      if (const auto f = module_->function_index_.find(operand.name);
          f != module_->function_index_.end()) {
        visit(f->second);
      }
      if (const auto v = module_->variable_index_.find(operand.name);
          v != module_->variable_index_.end()) {
        if (module_->variables_[v->second].space == Space::shared) {
          shared.insert(&module_->variables_[v->second]);
        }
      }
    }
    for (const Operand& item : operand.items) self(self, item);
  };
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const Instruction& i : order[at]->body) {
      for (const Operand& operand : i.operands) mention(mention, operand);
      if (i.root == "call" && !indirect) {
        const bool named = std::any_of(i.operands.begin(), i.operands.end(), [&](const Operand& o) {
          return o.kind == Operand::Kind::identifier && module_->function_index_.contains(o.name);
        });
        if (!named) indirect = true;
      }
    }
    if (indirect && at + 1 == order.size()) {
      for (const std::string& name : address_taken_) {
        if (const auto f = module_->function_index_.find(name);
            f != module_->function_index_.end() && !f->second->entry) {
          visit(f->second);
        }
      }
      indirect = false;
    }
  }
  std::uint64_t bytes = 0;
  auto place = [&](const std::string& name, std::uint64_t size, std::uint32_t align) {
    bytes = (bytes + align - 1) / std::max(1u, align) * std::max(1u, align);
    kernel.shared_offsets[name] = static_cast<std::uint32_t>(bytes);
    bytes = std::min<std::uint64_t>(bytes + size, 0x7fffffff);
  };
  for (const Variable& v : module_->variables_) {
    if (shared.contains(&v) && !v.external) place(v.name, v.size, v.align);
  }
  for (const Function* f : order) {
    for (const Declaration& d : f->declarations) {
      if (d.kind == Declaration::Kind::variable && d.space == Space::shared) {
        place(f->name + "/" + d.name, d.size, d.align);
      }
    }
  }
  std::uint32_t dynamic_align = 1;
  for (const Variable* v : shared) {
    if (v->external) dynamic_align = std::max(dynamic_align, std::max(16u, v->align));
  }
  if (dynamic_align > 1) {
    const auto start =
        static_cast<std::uint32_t>((bytes + dynamic_align - 1) / dynamic_align * dynamic_align);
    for (const Variable* v : shared) {
      if (v->external) kernel.shared_offsets[v->name] = start;
    }
    bytes = start;
  }
  kernel.static_shared_bytes = static_cast<std::uint32_t>(bytes);
  for (const Function* f : order) kernel.uses_grid_sync |= f->uses_grid_sync;
  kernel.reachable = std::move(order);
}

}  // namespace cudasim
