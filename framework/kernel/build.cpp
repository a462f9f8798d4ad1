#include "kernel/build.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "diagnostic/diagnostic.hpp"
#include "kernel/build_cache.hpp"
#include "kernel/diagnostics.hpp"
#include "kernel/recipe.hpp"
#include "kernel/symbols.hpp"
#include "process/sandbox.hpp"
#include "process/terminal.hpp"

namespace hone::kernel {
namespace {

namespace fs = std::filesystem;

/// A private folder that goes with its owner: src/ and include/ (shown read-only), out/.
class Workplace {
 public:
  explicit Workplace(const fs::path& parent) {
    fs::create_directories(parent);
    std::string pattern = (fs::absolute(parent) / "hone_build_XXXXXX").lexically_normal().string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw Error(Exit::infrastructure,
                  "cannot make a folder in " + parent.string() + ": " +
                      std::error_code(errno, std::generic_category()).message());
    root_ = pattern;
    for (const char* folder : {"src", "include", "out"}) fs::create_directory(root_ / folder);
  }
  ~Workplace() {
    std::error_code ec;
    fs::remove_all(root_, ec);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  fs::path operator/(const char* name) const { return root_ / name; }
  const fs::path& root() const { return root_; }
  uint64_t free_bytes() const {
    struct statvfs info {};
    return ::statvfs(root_.c_str(), &info) == 0 ? uint64_t{info.f_bavail} * info.f_frsize
                                                : ~uint64_t{0};
  }

 private:
  fs::path root_;
};

process::Command nvcc_command(const Recipe& recipe, const BuildRequest& request,
                              const Workplace& work) {
  const Toolkit& toolkit = *request.toolkit;
  process::Command command;
  command.argv = {toolkit.nvcc.string()};
  command.argv.insert(command.argv.end(), recipe.flags.begin(), recipe.flags.end());
  const auto add = [&](std::initializer_list<std::string> words) {
    command.argv.insert(command.argv.end(), words);
  };
  add({"-I.", "-I", (work / "include").string()});
  for (const auto& folder : recipe.include) add({"-I", folder});
  add({"-o", (work / "out/library.so").string()});
  if (std::find(recipe.flags.begin(), recipe.flags.end(), "none") != recipe.flags.end())
    add({"-Xlinker", (toolkit.library_dir / "libcudart.so.13").string()});
  else if (!toolkit.library_dir.empty())
    add({"-L", toolkit.library_dir.string()});
  add({"-x", "cu"});
  command.argv.insert(command.argv.end(), recipe.units.begin(), recipe.units.end());

  command.directory = work / "src";
  command.limits = request.limits;
  command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LANG", "C.UTF-8"}};
  process::Sandbox& sandbox = command.sandbox.emplace();
  std::error_code ec;
  sandbox.readable = {work / "src", work / "include", toolkit.root};
  if (const fs::path real = fs::canonical(toolkit.root, ec); !ec) sandbox.readable.push_back(real);
  sandbox.writable = {work / "out"};
  return command;
}

std::string place_of(const FirstError& error) {
  if (error.file.empty()) return error.message;
  return fmt::format("{}:{}: {}", error.file, error.line, error.message);
}

/// Judges nvcc's result; `report.library` is the one in the workplace.
void judge(BuildReport& report, const process::Result& result, const BuildRequest& request,
           const Workplace& work, const std::string& note) {
  const CompilerOutput output =
      read_output(result.out + result.err, {{(work / "src/").string(), ""},
                                            {(work / "include/").string(), ""},
                                            {work.root().string() + "/", ""},
                                            {request.toolkit->root.string() + "/bin/../", "cuda/"},
                                            {request.toolkit->root.string() + "/", "cuda/"}});
  report.kernels = output.kernels;
  report.diagnostics = output.text;
  report.sandbox = result.tier;
  const auto end = [&](BuildOutcome outcome, std::string evidence) {
    report.outcome = outcome;
    report.evidence = std::move(evidence);
  };
  std::error_code ec;
  const fs::path library = work / "out/library.so";
  if (!result.error.empty()) {
    end(BuildOutcome::infrastructure_error, result.error);
  } else if (result.timed_out) {
    end(BuildOutcome::timeout,
        fmt::format("the compiler was stopped after {:.3g} s", result.seconds));
  } else if (result.ok() && fs::is_regular_file(fs::symlink_status(library, ec))) {
    report.library = library;
    end(BuildOutcome::built, fmt::format("built {}{}", fmt::join(report.files, ", "), note));
  } else if (work.free_bytes() < (uint64_t{16} << 20)) {
    end(BuildOutcome::infrastructure_error,
        "the disk of " + work.root().parent_path().string() + " is full");
  } else {
    report.first_error = output.first_error;
    const std::string why =
        output.first_error ? place_of(*output.first_error)
        : result.output_truncated
            ? "the compiler printed without end"
            : "nvcc " + result.str() +
                  (output.text.empty() ? "" : ": " + process::first_line(output.text));
    end(BuildOutcome::compile_error, why + note);
  }
}

BuildReport compile(const Recipe& recipe, const BuildRequest& request, const BuildCache& cache,
                    const std::string& digest) {
  BuildReport report;
  const Workplace work(request.cache_dir.empty() ? fs::absolute(request.library).parent_path()
                                                 : request.cache_dir / "tmp");
  for (const auto& file : recipe.files)
    storage::write_atomically(work / "src" / file.name, file.text);
  for (const auto& file : request.headers)
    storage::write_atomically(work / "include" / file.name, file.text);
  const process::Command command = nvcc_command(recipe, request, work);
  const process::Result result = process::run(command);
  report.files = recipe.units;
  judge(report, result, request, work, recipe.note);
  report.files.clear();
  for (const auto& file : recipe.files) report.files.push_back(file.name);
  report.flags = recipe.flags;
  report.seconds = result.seconds;
  if (report.outcome == BuildOutcome::built || report.outcome == BuildOutcome::compile_error)
    cache.keep(digest, report);
  if (report.outcome == BuildOutcome::built) {
    copy_atomically(report.library, request.library);
    report.library = request.library;
  }
  return report;
}

/// The library must export the entry; the outcome says so when it does not.
void require_entry(BuildReport& report, const std::string& entry) {
  std::string reason;
  const auto symbols = read_symbols(storage::read_file(report.library), &reason);
  const std::string why =
      symbols ? missing_entry(*symbols, entry) : "the built library is " + reason;
  if (why.empty()) return;
  report.outcome = BuildOutcome::compile_error;
  report.evidence = why;
  std::error_code ec;
  fs::remove(report.library, ec);
  report.library.clear();
}

BuildReport build_or_throw(const BuildRequest& request) {
  BuildReport report;
  const auto end = [&](BuildOutcome outcome, std::string evidence) {
    report.outcome = outcome;
    report.evidence = std::move(evidence);
    return report;
  };
  for (const auto& file : request.files) report.files.push_back(file.name);
  if (request.files.empty()) return end(BuildOutcome::no_code, "no file was given");
  if (const std::string why = unsafe_files(request.files); !why.empty()) {
    for (auto& name : report.files) name = process::first_line(name, 80);
    return end(BuildOutcome::extract_error, why);
  }
  const Recipe recipe = make_recipe(request);
  report.flags = recipe.flags;
  if (recipe.units.empty())
    return end(BuildOutcome::no_code, fmt::format("no source with anything in it among: {}",
                                                  fmt::join(report.files, ", ")));
  if (!recipe.problem.empty()) return end(BuildOutcome::compile_error, recipe.problem);
  if (!request.toolkit) {
    return end(BuildOutcome::infrastructure_error,
               "no CUDA toolkit with nvcc was found: set HONE_CUDA_ROOT, or run ./bootstrap.sh");
  }
  const std::string digest = digest_of(recipe, request);
  const BuildCache cache(request.cache_dir);
  if (auto kept = cache.find(digest)) {
    report = std::move(*kept);
    if (report.outcome == BuildOutcome::built) {
      copy_atomically(report.library, request.library);
      report.library = request.library;
    }
  } else {
    report = compile(recipe, request, cache, digest);
  }
  if (report.outcome == BuildOutcome::built) require_entry(report, request.entry);
  return report;
}

}  // namespace

const char* to_string(BuildOutcome outcome) {
  switch (outcome) {
    case BuildOutcome::built:
      return "built";
    case BuildOutcome::no_code:
      return "no-code";
    case BuildOutcome::extract_error:
      return "extract-error";
    case BuildOutcome::compile_error:
      return "compile-error";
    case BuildOutcome::timeout:
      return "timeout";
    case BuildOutcome::infrastructure_error:
      break;
  }
  return "infrastructure-error";
}

process::Limits BuildRequest::default_limits() {
  process::Limits limits;
  limits.busy_seconds = 60;
  limits.wall_seconds = 0;
  limits.address_space_bytes = uint64_t{4} << 30;
  limits.file_size_bytes = uint64_t{256} << 20;
  limits.processes = 64;
  limits.output_bytes = 256 << 10;
  return limits;
}

BuildRequest request_of(const Project& project) {
  BuildRequest request;
  request.files = project_files(project);
  std::set<std::string> capabilities;
  for (const auto& kernel : project.kernels)
    capabilities.insert(kernel.cuda_capabilities.begin(), kernel.cuda_capabilities.end());
  if (!capabilities.empty()) request.capabilities.assign(capabilities.begin(), capabilities.end());
  return request;
}

BuildReport build(const BuildRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  BuildReport report;
  try {
    report = build_or_throw(request);
  } catch (const std::exception& e) {
    report.outcome = BuildOutcome::infrastructure_error;
    report.library.clear();
    report.evidence = process::first_line(e.what());
  }
  if (report.sandbox.empty()) report.sandbox = process::sandbox_tier();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

BuildReport report_of(const Extraction& extraction) {
  BuildReport report;
  report.outcome = extraction.outcome == ExtractOutcome::extract_error ? BuildOutcome::extract_error
                                                                       : BuildOutcome::no_code;
  report.evidence = extraction.evidence;
  report.sandbox = process::sandbox_tier();
  return report;
}

}  // namespace hone::kernel
