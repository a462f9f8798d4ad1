#include "cli/template.hpp"

#include "storage/asset.hpp"

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

#define HONE_DECLARE(name, path) HONE_ASSET(name, HONE_TEMPLATE_DIR "/" path)
HONE_EACH_FILE(HONE_DECLARE)

namespace hone::cli {

std::vector<TemplateFile> template_files() {
#define HONE_LIST(name, path) {path, name()},
  return {HONE_EACH_FILE(HONE_LIST)};
}

}  // namespace hone::cli
