#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "author/draft.hpp"
#include "author/writer.hpp"
#include "cases/case.hpp"
#include "storage/storage.hpp"

namespace hone::author {

/// JSON schema of what a model is asked to write: {"cases": [{"prompt", "expect"}]}.
storage::Json case_schema();

/// A case that a model wrote, as it goes into a case file.
struct ProposedCase {
  storage::Json json;  ///< in Hone's format, with an id
  cases::Case c;       ///< the same, read
};

/// A proposal that was turned down.
struct Rejected {
  std::string prompt, reason;
};

struct CaseSetReport {
  std::vector<ProposedCase> cases;
  std::vector<Rejected> rejected;
};

/// Reads an answer's cases, forgivingly: with or without a fence or text around the JSON, a list or
/// {"cases": […]}, the last one cut off. Each is read alone, so one that is broken costs no other.
/// `folder` is for files in passing. Ids are made from the prompts.
CaseSetReport read_proposals(const std::string& answer, const std::filesystem::path& folder);

/// Adds what passes vetting to `report` (weaknesses_of, duplicates), the rest to its rejected ones.
void vet(CaseSetReport proposals, CaseSetReport& report);

/// Has `wanted` cases written, in at most four rounds. Each accepted one was solved by the writer
/// when it was given the skill. Fewer, when it cannot do better or the budget is used up.
CaseSetReport write_cases(Writer& writer, const Material& material, const skill::Skill& skill,
                          size_t wanted, const std::filesystem::path& folder,
                          const std::function<void(const std::string&)>& progress);

}  // namespace hone::author
