#pragma once
#include <vector>

#include "trial/stages.hpp"

namespace hone::trial {

/// One answer to ask for: the first of a trial, or a further one after `turns`.
struct Wanted {
  Selection selection;
  int run = 0;
  bool refresh = false;  ///< though an answer is on record
  int turn = 1;
  std::vector<model::Turn> turns;
};

/// Asks for these answers and writes request.json and response.json of their runs.
StageResult ask_trials(const Plan& plan, const model::ModelConfig& model,
                       std::vector<Wanted> wanted, const StageOptions& options);

/// Whether a request on record asks the same as `wanted`.
bool same_request(const storage::Json& on_record, const storage::Json& wanted);

}  // namespace hone::trial
