#pragma once
#include <filesystem>
#include <vector>

#include "model/store.hpp"

namespace hone::model {

/// A recorded set: the answers of one model in one evaluation as one file that can be committed.
/// JSON lines: first {"schema": "hone.recorded/1", "evaluation", "model", "provider", "id",
/// "source", "sampling"}, then one line an answer, ordered by case, arm, run, turn and step:
/// {"case", "arm", "run", "turn", "step", "key", "case_digest", "skill_digest", "answer"}, the
/// answer as in response.json without what is empty.
std::vector<RecordedAnswer> read_recorded_set(const std::filesystem::path& file);

/// Writes one atomically; the same answers give the same bytes.
void write_recorded_set(const std::filesystem::path& file, const std::string& evaluation,
                        const ModelConfig& model, std::vector<RecordedAnswer> answers);

/// The sampling settings of a model, as records and sets name them.
Json sampling_of(const ModelConfig& model);

}  // namespace hone::model
