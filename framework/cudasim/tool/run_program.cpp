#include "cudasim/tool/run_program.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "cudasim/check/options.hpp"

namespace cudasim {
namespace {

namespace fs = std::filesystem;
constexpr int kUsage = 2, kBadInput = 3, kInfrastructure = 4;
constexpr char kLibrary[] = "libcudart.so.13";

/// The few facts of an ELF program that decide whether it can run here.
struct ProgramFacts {
  bool elf = false;
  bool device_code = false;  ///< has a .nv_fatbin section
  bool old_rpath = false;    ///< DT_RPATH, which wins over LD_LIBRARY_PATH
  std::vector<std::string> needed;
};

template <typename T>
bool copy(const std::string& bytes, std::uint64_t at, T& out) {
  if (at > bytes.size() || bytes.size() - at < sizeof out) return false;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return true;
}

std::string text_at(const std::string& bytes, std::uint64_t at) {
  if (at >= bytes.size()) return {};
  return {bytes.data() + at, strnlen(bytes.data() + at, bytes.size() - at)};
}

ProgramFacts read_facts(const fs::path& program) {
  ProgramFacts facts;
  std::ifstream file(program, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Elf64_Ehdr header{};
  if (!copy(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return facts;
  }
  facts.elf = true;
  std::vector<Elf64_Shdr> sections;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!copy(bytes, header.e_shoff + i * sizeof section, section)) break;
    sections.push_back(section);
  }
  const auto name = [&](const Elf64_Shdr& section) {
    return header.e_shstrndx < sections.size()
               ? text_at(bytes, sections[header.e_shstrndx].sh_offset + section.sh_name)
               : std::string();
  };
  for (const Elf64_Shdr& section : sections) {
    if (name(section) == ".nv_fatbin") facts.device_code = true;
    if (section.sh_type != SHT_DYNAMIC || section.sh_link >= sections.size()) continue;
    for (std::uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry{};
      if (!copy(bytes, section.sh_offset + at, entry)) break;
      if (entry.d_tag == DT_RPATH) facts.old_rpath = true;
      if (entry.d_tag == DT_NEEDED) {
        facts.needed.push_back(
            text_at(bytes, sections[section.sh_link].sh_offset + entry.d_un.d_val));
      }
    }
  }
  return facts;
}

/// Libraries of the toolkit that hold machine code (SASS) and no PTX.
constexpr std::array<std::string_view, 14> kMachineCodeOnly = {
    "libcublas.",   "libcublasLt.",   "libcudnn",    "libcufft.", "libcurand.",
    "libcusolver.", "libcusparse.",   "libnccl.",    "libnpp",    "libnvjpeg.",
    "libnvshmem",   "libcusparseLt.", "libcutensor", "libnvrtc."};

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, end)) / name;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

void put(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

void prepend(const char* name, const std::string& value) {
  const char* old = std::getenv(name);
  put(name, old == nullptr || *old == '\0' ? value : value + ":" + old);
}

}  // namespace

std::vector<Obstacle> find_obstacles(const fs::path& program) {
  const ProgramFacts facts = read_facts(program);
  std::vector<Obstacle> found;
  if (!facts.elf) return found;  // a script: what it starts is not known
  const auto needs = [&](std::string_view start) {
    return std::ranges::find_if(facts.needed, [&](const std::string& library) {
      return std::string_view(library).starts_with(start);
    });
  };
  const std::string name = program.filename().string();
  for (const std::string_view library : kMachineCodeOnly) {
    if (const auto at = needs(library); at != facts.needed.end()) {
      found.push_back({name + " needs " + *at +
                           ", which holds machine code for GPUs only and cannot run on cudasim",
                       true});
    }
  }
  if (const auto at = needs("libcuda.so"); at != facts.needed.end()) {
    found.push_back(
        {name + " needs the driver (" + *at + "), which cudasim does not replace", true});
  }
  const auto runtime = needs("libcudart.so");
  if (runtime != facts.needed.end() && *runtime != kLibrary) {
    found.push_back(
        {name + " was built with another toolkit (" + *runtime + "); rebuild it with CUDA 13",
         true});
  } else if (runtime == facts.needed.end() && facts.device_code) {
    found.push_back({name + " links the CUDA runtime statically (nvcc's default); rebuild with "
                            "--cudart shared",
                     true});
  }
  return found;
}

int run_program(const RunOptions& options, const std::vector<std::string>& argv) {
  if (argv.empty()) {
    std::fputs("cudasim: no program given\n", stderr);
    return kUsage;
  }
  try {
    Checks::parse(options.check);
    BlockOrder order{};
    std::uint64_t seed = 0;
    if (!options.schedule.empty()) parse_schedule(options.schedule, order, seed);
  } catch (const std::invalid_argument& invalid) {
    std::fprintf(stderr, "cudasim: %s\n", invalid.what());
    return kBadInput;
  }
  const fs::path program = find_program(argv.front());
  if (program.empty() || access(program.c_str(), X_OK) != 0 || fs::is_directory(program)) {
    std::fprintf(stderr, "cudasim: %s is not a program that can be run\n", argv.front().c_str());
    return kBadInput;
  }
  std::error_code error;
  const fs::path directory = fs::absolute(options.library_dir, error);
  if (!fs::exists(directory / kLibrary, error)) {
    std::fprintf(stderr, "cudasim: %s is not in %s\n", kLibrary, directory.c_str());
    return kInfrastructure;
  }
  bool fatal = false;
  for (const Obstacle& obstacle : find_obstacles(program)) {
    std::fprintf(stderr, "cudasim: %s\n", obstacle.text.c_str());
    fatal = fatal || obstacle.fatal;
  }
  if (fatal) return kBadInput;

  prepend("LD_LIBRARY_PATH", directory.string());
  if (read_facts(program).old_rpath) prepend("LD_PRELOAD", (directory / kLibrary).string());
  if (options.counters) {
    put("CUDASIM_COUNTERS", *options.counters == "-"
                                ? *options.counters
                                : fs::absolute(*options.counters, error).string());
  }
  if (!options.check.empty()) put("CUDASIM_CHECK", options.check);
  if (!options.schedule.empty()) put("CUDASIM_SCHEDULE", options.schedule);
  if (options.findings) {
    if (*options.findings != "-") {
      const fs::path file = fs::absolute(*options.findings, error);
      if (!std::ofstream(file, std::ios::trunc)) {
        std::fprintf(stderr, "cudasim: cannot write %s\n", file.c_str());
        return kBadInput;
      }
      put("CUDASIM_FINDINGS", file.string());
    } else {
      put("CUDASIM_FINDINGS", "-");
    }
  }
  if (options.report) put("CUDASIM_REPORT", "1");
  if (options.threads > 0) put("CUDASIM_THREADS", std::to_string(options.threads));
  if (options.timeout > 0) put("CUDASIM_WATCHDOG_SECONDS", std::to_string(options.timeout));
  if (options.error_exitcode != 0) {
    put("CUDASIM_ERROR_EXITCODE", std::to_string(options.error_exitcode));
  }
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  std::fprintf(stderr, "cudasim: cannot run %s: %s\n", program.c_str(), std::strerror(errno));
  return kInfrastructure;
}

}  // namespace cudasim
