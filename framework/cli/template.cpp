#include "cli/template.hpp"

// name_begin … name_end: the bytes of a file of the template.
#define HONE_FILE(name, path)                                                                      \
  __asm__(".section .rodata\n" #name "_begin:\n.incbin \"" HONE_TEMPLATE_DIR "/" path "\"\n" #name \
          "_end:\n.byte 0\n.previous\n.global " #name "_begin, " #name "_end");                    \
  extern "C" const char name##_begin[], name##_end[]

#define HONE_EACH_FILE(X)                                               \
  X(hone_init_cmake, "CMakeLists.txt")                                  \
  X(hone_init_ignore, ".gitignore")                                     \
  X(hone_init_github, ".github/workflows/skills.yml")                   \
  X(hone_init_gitlab, ".gitlab-ci.yml")                                 \
  X(hone_init_answers, "answers.json")                                  \
  X(hone_init_skill_cmake, "skills/clamped-add/CMakeLists.txt")         \
  X(hone_init_skill, "skills/clamped-add/SKILL.md")                     \
  X(hone_init_conventions, "skills/clamped-add/cases/conventions.json") \
  X(hone_init_suite_cmake, "suites/clamped_add/CMakeLists.txt")         \
  X(hone_init_header, "suites/clamped_add/op.h")                        \
  X(hone_init_oracle, "suites/clamped_add/oracle.cpp")                  \
  X(hone_init_null, "suites/clamped_add/null.cu")                       \
  X(hone_init_case, "suites/clamped_add/cases/clamped_add.json")

#define HONE_DECLARE(name, path) HONE_FILE(name, path);
HONE_EACH_FILE(HONE_DECLARE)

namespace hone::cli {

std::vector<TemplateFile> template_files() {
  const auto file = [](std::string_view path, const char* begin, const char* end) {
    return TemplateFile{path, {begin, static_cast<std::size_t>(end - begin)}};
  };
#define HONE_LIST(name, path) file(path, name##_begin, name##_end),
  return {HONE_EACH_FILE(HONE_LIST)};
}

}  // namespace hone::cli
