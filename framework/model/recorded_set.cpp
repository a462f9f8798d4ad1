#include "model/recorded_set.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>

#include "diagnostic/diagnostic.hpp"

namespace hone::model {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSchema = "hone.recorded/1";

/// Without nulls, empty texts and empty lists.
Json compact(const Json& json) {
  if (!json.is_object()) return json;
  Json out = Json::object();
  for (const auto& [key, value] : json.items()) {
    const bool empty = value.is_null() || (value.is_string() && value.get<std::string>().empty()) ||
                       (value.is_structured() && value.empty());
    if (!empty) out[key] = compact(value);
  }
  return out;
}

auto place(const RecordedAnswer& a) {
  const Label& l = a.label;
  return std::tie(l.case_id, l.arm, l.run, l.turn, l.step, a.key);
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Json sampling_of(const ModelConfig& m) {
  Json sampling = {{"max_tokens", m.max_tokens}};
  if (m.temperature) sampling["temperature"] = *m.temperature;
  if (m.top_p) sampling["top_p"] = *m.top_p;
  if (m.seed) sampling["seed"] = *m.seed;
  if (!m.effort.empty()) sampling["effort"] = m.effort;
  return sampling;
}

std::vector<RecordedAnswer> read_recorded_set(const fs::path& file) {
  std::istringstream lines(storage::read_file(file));
  std::vector<RecordedAnswer> answers;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto wrong = [&](const std::string& what) {
      return Error(Exit::bad_input,
                   {Diagnostic{{file.string(), number, 1},
                               what,
                               "restore the file, or write it again: hone record"}});
    };
    try {
      const Json json = Json::parse(line);
      if (number == 1) {
        if (json.at("schema") != kSchema)
          throw wrong("not a recorded set of schema hone.recorded/1");
        continue;
      }
      RecordedAnswer a;
      a.label.case_id = json.at("case");
      a.label.arm = json.at("arm");
      a.label.run = json.at("run");
      a.label.turn = json.value("turn", 1);
      a.label.step = json.value("step", 0);
      a.label.case_digest = json.value("case_digest", "");
      a.label.skill_digest = json.value("skill_digest", "");
      a.key = json.at("key");
      Json answer = json.at("answer");
      answer["schema"] = "hone.response/1";
      a.answer = answer_from_json(answer);
      answers.push_back(std::move(a));
    } catch (const Json::exception& e) {
      throw wrong(std::string("not a line of a recorded set: ") + e.what());
    }
  }
  if (answers.empty() && line.empty())
    throw Error(Exit::bad_input,
                {Diagnostic{{file.string(), 1, 1}, "the recorded set is empty", ""}});
  return answers;
}

void write_recorded_set(const fs::path& file, const std::string& evaluation,
                        const ModelConfig& model, std::vector<RecordedAnswer> answers) {
  std::sort(answers.begin(), answers.end(),
            [](const auto& a, const auto& b) { return place(a) < place(b); });
  std::string text = line_of(compact({{"schema", kSchema},
                                      {"evaluation", evaluation},
                                      {"model", model.name},
                                      {"provider", model.provider},
                                      {"id", model.model},
                                      {"source", model.source()},
                                      {"sampling", sampling_of(model)}}));
  for (const auto& a : answers) {
    Json answer = to_json(a.answer);
    answer.erase("schema");
    if (a.answer.source != "scripted") answer.erase("source");
    Json line = {{"case", a.label.case_id}, {"arm", a.label.arm}, {"run", a.label.run}};
    if (a.label.turn != 1) line["turn"] = a.label.turn;
    if (a.label.step != 0) line["step"] = a.label.step;
    line["key"] = a.key;
    line["case_digest"] = a.label.case_digest;
    if (!a.label.skill_digest.empty()) line["skill_digest"] = a.label.skill_digest;
    answer = compact(answer);
    if (a.answer.text.empty()) answer["text"] = "";
    line["answer"] = std::move(answer);
    text += line_of(line);
  }
  storage::write_atomically(file, text);
}

}  // namespace hone::model
