#include "kernel/project.hpp"

#include <algorithm>
#include <set>

#include <toml++/toml.h>

#include "diagnostic/diagnostic.hpp"
#include "storage/storage.hpp"

namespace hone::kernel {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

/// Collects what is wrong while the tables are read.
class Reader {
 public:
  Reader(std::string file, const Names& present)
      : file_(std::move(file)), present_(present.begin(), present.end()), list_(present) {}

  void error(const toml::source_position& at, std::string message, std::string hint = "") {
    diagnostics_.push_back({{file_, static_cast<int>(at.line), static_cast<int>(at.column)},
                            std::move(message),
                            std::move(hint)});
  }
  void refuse_unknown(const toml::table& table, const std::string& where, const Names& known) {
    for (const auto& [key, _] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string near = nearest(name, known);
      std::string hint = near.empty() ? "known:" : "did you mean '" + near + "'?";
      if (near.empty())
        for (const auto& k : known) hint += " " + k;
      error(key.source().begin, "unknown key '" + name + "' in " + where, hint);
    }
  }
  const toml::table* table(const toml::table& parent, const char* key, bool required) {
    const toml::node* node = parent.get(key);
    if (node == nullptr) {
      if (required) error({1, 1}, std::string("no [") + key + "] table");
      return nullptr;
    }
    if (!node->is_table()) error(node->source().begin, std::string(key) + " must be a table");
    return node->as_table();
  }
  std::string text(const toml::table& parent, const char* key, const std::string& where,
                   bool required) {
    const toml::node* node = parent.get(key);
    if (node == nullptr) {
      if (required)
        error(parent.source().begin, where + " has no '" + key + "'",
              std::string("add ") + key + " = \"...\"");
      return "";
    }
    if (const auto* value = node->as_string()) return value->get();
    error(node->source().begin, std::string("'") + key + "' must be a string");
    return "";
  }
  Names texts(const toml::table& parent, const char* key) {
    Names result;
    const toml::node* node = parent.get(key);
    if (node == nullptr) return result;
    const toml::array* array = node->as_array();
    if (array == nullptr) {
      error(node->source().begin, std::string("'") + key + "' must be a list of strings",
            std::string(key) + " = [\"...\"]");
      return result;
    }
    for (const auto& item : *array) {
      if (const auto* value = item.as_string())
        result.push_back(value->get());
      else
        error(item.source().begin, std::string("'") + key + "' must hold strings only");
    }
    return result;
  }
  /// A list of file names below the project; each must be safe and exist.
  Names sources(const toml::table& parent, const char* key, const std::string& where,
                bool required) {
    const Names names = texts(parent, key);
    const toml::node* node = parent.get(key);
    if (names.empty() && required && (node == nullptr || node->is_array()))
      error(node != nullptr ? node->source().begin : parent.source().begin,
            where + " has no sources", std::string("add ") + key + " = [\"kernel_src/....cu\"]");
    for (size_t i = 0; i < names.size(); ++i) {
      const auto at = node->as_array()->get(i)->source().begin;
      if (const std::string why = unsafe_name(names[i]); !why.empty()) {
        error(at, "'" + names[i] + "' is no usable file name: " + why);
      } else if (present_.count(names[i]) == 0) {
        const std::string near = nearest(names[i], list_);
        error(at, "no file '" + names[i] + "'", near.empty() ? "" : "there is '" + near + "'");
      }
    }
    return names;
  }
  Names capabilities(const toml::table& parent) {
    Names result = texts(parent, "cuda-capabilities");
    for (size_t i = 0; i < result.size(); ++i) {
      const std::string& c = result[i];
      const size_t dot = c.find('.');
      const size_t tail =
          dot == std::string::npos ? dot : c.find_first_not_of("0123456789", dot + 1);
      const bool good = dot != std::string::npos && dot > 0 && dot + 1 < c.size() && dot <= 2 &&
                        c.find_first_not_of("0123456789") == dot && tail != dot + 1 &&
                        (tail == std::string::npos ||
                         (tail + 1 == c.size() && (c[tail] == 'a' || c[tail] == 'f')));
      if (!good)
        error(parent.get("cuda-capabilities")->as_array()->get(i)->source().begin,
              "'" + c + "' is no CUDA capability", "like \"9.0\"");
    }
    return result;
  }
  void finish() {
    if (!diagnostics_.empty()) throw Error(Exit::bad_input, std::move(diagnostics_));
  }

 private:
  std::string file_;
  std::set<std::string> present_;
  Names list_;
  std::vector<Diagnostic> diagnostics_;
};

ProjectKernel read_kernel(Reader& reader, const std::string& name, const toml::table& table) {
  const std::string where = "[kernel." + name + "]";
  reader.refuse_unknown(table, where,
                        {"backend", "src", "include", "depends", "cuda-capabilities", "cuda-flags",
                         "cuda-minver", "cxx-flags", "language"});
  ProjectKernel kernel;
  kernel.name = name;
  kernel.src = reader.sources(table, "src", where, true);
  kernel.include = reader.texts(table, "include");
  for (const auto& folder : kernel.include)
    if (const std::string why = unsafe_name(folder); folder != "." && !why.empty())
      reader.error(table.get("include")->source().begin,
                   "'" + folder + "' is no usable folder name: " + why);
  kernel.depends = reader.texts(table, "depends");
  kernel.cuda_capabilities = reader.capabilities(table);
  kernel.cuda_flags = reader.texts(table, "cuda-flags");
  return kernel;
}

/// Files below `dir` with their names relative to it, in order; hidden ones left out.
Names files_below(const fs::path& dir) {
  Names names;
  std::error_code ec;
  for (fs::recursive_directory_iterator it(dir, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->path().filename().string().front() == '.') {
      it.disable_recursion_pending();
      continue;
    }
    if (it->is_regular_file(ec))
      names.push_back(it->path().lexically_relative(dir).generic_string());
    if (names.size() > 10000) break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_header(const std::string& name) {
  const std::string extension = fs::path(name).extension();
  return extension == ".h" || extension == ".cuh" || extension == ".hpp" || extension == ".hh" ||
         extension == ".inl";
}

}  // namespace

Project parse_project(const std::string& text, const std::string& file, const Names& present) {
  toml::table root;
  try {
    root = toml::parse(text, file);
  } catch (const toml::parse_error& e) {
    throw Error(Exit::bad_input, {Diagnostic{{file, static_cast<int>(e.source().begin.line),
                                              static_cast<int>(e.source().begin.column)},
                                             std::string(e.description()),
                                             ""}});
  }
  Reader reader(file, present);
  Project project;
  reader.refuse_unknown(root, "build.toml", {"general", "torch", "kernel"});
  if (const auto* general = reader.table(root, "general", true)) {
    reader.refuse_unknown(*general, "[general]",
                          {"name", "version", "license", "universal", "backends",
                           "cuda-capabilities", "python-depends", "hub", "cuda"});
    project.name = reader.text(*general, "name", "[general]", true);
    project.backends = reader.texts(*general, "backends");
    project.cuda_capabilities = reader.capabilities(*general);
  }
  if (const auto* torch = reader.table(root, "torch", false)) {
    reader.refuse_unknown(*torch, "[torch]", {"src", "include", "minver", "maxver", "pyext"});
    project.torch_src = reader.sources(*torch, "src", "[torch]", false);
  }
  if (const auto* kernels = reader.table(root, "kernel", true)) {
    for (const auto& [key, node] : *kernels) {
      if (const auto* table = node.as_table())
        project.kernels.push_back(read_kernel(reader, std::string(key.str()), *table));
      else
        reader.error(node.source().begin,
                     "'" + std::string(key.str()) + "' in [kernel] must be a table",
                     "[kernel." + std::string(key.str()) + "]");
    }
    if (kernels->empty()) reader.error(kernels->source().begin, "no kernel", "[kernel.<name>]");
  }
  reader.finish();
  for (auto& kernel : project.kernels)
    if (kernel.cuda_capabilities.empty()) kernel.cuda_capabilities = project.cuda_capabilities;
  return project;
}

Project load_project(const fs::path& path) {
  std::error_code ec;
  const fs::path file = fs::is_directory(path, ec) ? path / "build.toml" : path;
  const std::string text = storage::read_file(file);
  const fs::path dir = file.has_parent_path() ? file.parent_path() : fs::path(".");
  Project project = parse_project(text, file.string(), files_below(dir));
  project.dir = dir;
  return project;
}

std::vector<SourceFile> project_files(const Project& project) {
  std::set<std::string> names = {"build.toml"};
  for (const auto& kernel : project.kernels) names.insert(kernel.src.begin(), kernel.src.end());
  for (const auto& name : files_below(project.dir))
    if (is_header(name)) names.insert(name);
  std::vector<SourceFile> files;
  for (const auto& name : names) files.push_back({name, storage::read_file(project.dir / name)});
  return files;
}

}  // namespace hone::kernel
