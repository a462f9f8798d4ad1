#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "author/writer.hpp"
#include "skill/skill.hpp"

namespace hone::author {

/// What a skill is made from.
struct Material {
  std::string task;                   ///< "write optimised CUDA kernels for H100"
  std::vector<std::string> examples;  ///< of what will be asked
  std::string notes;                  ///< taken from a trace; may be empty
  size_t target_tokens = 500;         ///< of the body
};

/// A skill before it is on disk.
struct Draft {
  std::string name, description, body;
  std::string front_matter;  ///< of a skill that exists, as it stands there; "": made of the above
};

/// SKILL.md's text: front matter that any YAML reader takes, and the body.
std::string skill_md(const Draft& draft);

/// What is wrong with it by the specification and the rules of lint_text, errors only; "" when
/// nothing is. Looks at the text alone.
std::string faults_of(const Draft& draft);

/// A name by the specification out of a sentence: "write-optimised-cuda-kernels-h100".
std::string name_for(const std::string& task);

/// Notes of a trace of any length: it is read in chunks that fit the writer's context, and the
/// notes are condensed until they fit, too. `progress` is told of each chunk. Nothing when the
/// budget ran out.
std::optional<std::string> notes_of(Writer& writer, const std::string& task,
                                    const std::string& trace,
                                    const std::function<void(const std::string&)>& progress);

/// How an attempt to write went.
struct Written {
  std::optional<Draft> draft;
  std::string problem;  ///< why there is none, for a person
  int attempts = 0;
};

/// Has a skill written; an answer that is no valid skill is asked for again with what is wrong, up
/// to three times.
Written write_draft(Writer& writer, const std::string& name, const Material& material);

/// Has a better version written from the whole skill and what went wrong with it.
Written rewrite_draft(Writer& writer, const Draft& draft, const Material& material,
                      const std::string& evidence, long seed);

/// The draft of a skill that exists; its front matter stays as it is.
Draft draft_of(const skill::Skill& skill);

}  // namespace hone::author
