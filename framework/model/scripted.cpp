#include "diagnostic/diagnostic.hpp"
#include "model/providers.hpp"
#include "model/wire.hpp"

namespace hone::model {
namespace {

bool fits(const Json& entry, const Question& question, const std::string& last) {
  const Label& label = question.label;
  const auto text = [&](const char* key, const std::string& value) {
    return child(entry, key).is_null() || string_at(entry, key) == value;
  };
  const auto number = [&](const char* key, long value) {
    return child(entry, key).is_null() || count_at(entry, key) == value;
  };
  const std::string contains = string_at(entry, "contains");
  return text("case", label.case_id) && text("arm", label.arm) && number("run", label.run) &&
         number("turn", label.turn) && number("step", label.step) &&
         (contains.empty() || last.find(contains) != std::string::npos);
}

/// The newest message to the model.
std::string last_message(const Question& question) {
  if (question.turns.empty()) return question.user;
  std::string text = question.turns.back().user;
  for (const auto& result : question.turns.back().results) text += result.second;
  return text;
}

class Scripted : public DirectProvider {
 public:
  void check(const ModelConfig& config) const override {
    if (config.script.empty())
      throw Error(Exit::bad_input,
                  "model '" + config.name + "' of provider scripted has no SCRIPT");
    const Json script = storage::read_json(config.script);
    if (string_at(script, "schema") != "hone.script/1" || !child(script, "answers").is_array())
      throw Error(Exit::bad_input,
                  {Diagnostic{{config.script, 1, 1},
                              "not a script of schema hone.script/1 with a list 'answers'",
                              ""}});
  }

  Json request_body(const ModelConfig& config, const Question& question) const override {
    Json body = {{"script", storage::sha256_of_file(config.script)},
                 {"system", question.system},
                 {"user", question.user}};
    for (const auto& turn : question.turns) body["turns"].push_back({turn.said, turn.user});
    if (const auto seed = question.seed ? question.seed : config.seed) body["seed"] = *seed;
    return body;
  }

  Answer answer(const ModelConfig& config, const Question& question) const override {
    const Json script = storage::read_json(config.script);
    const std::string last = last_message(question);
    for (const auto& entry : child(script, "answers")) {
      if (!fits(entry, question, last)) continue;
      Json record = entry;
      record["schema"] = "hone.response/1";
      if (!record.contains("outcome")) record["outcome"] = "answered";
      record["source"] = "scripted";
      record["model"] = config.model;
      record["attempts"] = 1;
      return answer_from_json(record);
    }
    Answer a;
    a.source = "scripted";
    a.attempts = 1;
    a.error = AnswerError{
        "not-scripted",
        one_line(config.script + " has no answer for case '" + question.label.case_id + "'"), 0};
    return a;
  }
};

}  // namespace

const Provider& scripted_provider() {
  static const Scripted instance;
  return instance;
}

}  // namespace hone::model
