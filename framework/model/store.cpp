#include "model/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "diagnostic/diagnostic.hpp"

namespace hone::model {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSchema = "hone.answer/1";
constexpr std::array kModes{RecordMode::record, RecordMode::replay, RecordMode::refresh,
                            RecordMode::off};

Json request_json(const Exchange& e) {
  return {{"provider", e.provider},  {"source", e.source},         {"version", e.version},
          {"case", e.label.case_id}, {"run", e.label.run},         {"turn", e.label.turn},
          {"step", e.label.step},    {"body", Json::parse(e.body)}};
}

/// Makes the name of a new file last through a crash.
void sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Error(Exit::infrastructure, "cannot write " + path.string() + ": " + std::strerror(error));
}

}  // namespace

std::string_view name(RecordMode mode) {
  switch (mode) {
    case RecordMode::record:
      return "record";
    case RecordMode::replay:
      return "replay";
    case RecordMode::refresh:
      return "refresh";
    case RecordMode::off:
      return "off";
  }
  return "off";
}

RecordMode record_mode_named(std::string_view text) {
  for (const auto mode : kModes)
    if (name(mode) == text) return mode;
  throw Error(Exit::usage, "unknown record mode '" + std::string(text) +
                               "' (HONE_RECORD); known: record, replay, refresh, off");
}

RecordMode record_mode_from_environment() {
  const char* value = std::getenv("HONE_RECORD");
  return value == nullptr || *value == '\0' ? RecordMode::record : record_mode_named(value);
}

std::string Exchange::key() const {
  std::string all;
  for (const auto& field :
       {std::string(kSchema), provider, source, version, body, label.case_id,
        std::to_string(label.run), std::to_string(label.turn), std::to_string(label.step)})
    all += std::to_string(field.size()) + ":" + field;
  return storage::sha256(all).substr(std::strlen("sha256:"));
}

Exchange exchange_of(const ModelConfig& config, const Question& question) {
  const Provider& from = provider(config.provider);
  Json body = from.request_body(config, question);
  body.erase("stream");
  body.erase("stream_options");
  return {config.provider, config.source(), from.version(),
          body.dump(-1, ' ', false, Json::error_handler_t::replace), question.label};
}

bool can_be_recorded(const Answer& answer) {
  return answer.outcome != Outcome::infrastructure_error;
}

AnswerStore::AnswerStore(fs::path folder, RecordMode mode)
    : folder_(std::move(folder)), mode_(mode) {
  if (mode_ == RecordMode::replay || mode_ == RecordMode::off) return;
  std::error_code ec;
  fs::create_directories(folder_, ec);
  if (ec) fail(folder_, ec.value());
  const fs::path file = folder_ / "locks";
  locks_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (locks_ < 0) fail(file, errno);
}

AnswerStore::~AnswerStore() {
  if (locks_ >= 0) ::close(locks_);
}

void AnswerStore::add_set(std::vector<RecordedAnswer> set) {
  for (auto& answer : set) {
    const std::string key = answer.key;
    set_.insert_or_assign(key, std::move(answer));
  }
}

fs::path AnswerStore::file_of(const std::string& key) const {
  return folder_ / key.substr(0, 2) / (key + ".json");
}

Answer AnswerStore::collected(const Exchange& exchange, Answer answer) {
  if (collecting_) collected_.push_back({exchange.label, exchange.key(), answer});
  return answer;
}

std::optional<Answer> AnswerStore::find(const Exchange& exchange) {
  if (mode_ == RecordMode::off || mode_ == RecordMode::refresh) return std::nullopt;
  const std::string key = exchange.key();
  std::optional<Answer> answer;
  if (const auto recorded = set_.find(key); recorded != set_.end()) {
    answer = recorded->second.answer;
  } else {
    const fs::path file = file_of(key);
    if (!fs::exists(file)) return std::nullopt;
    const Json entry = storage::read_json(file);
    const auto same = entry.is_object() && entry.value("schema", "") == kSchema &&
                      entry.contains("request") && entry["request"] == request_json(exchange) &&
                      entry.contains("answer");
    if (!same)
      throw Error(Exit::bad_input,
                  {Diagnostic{{file.string(), 1, 1},
                              "this recorded answer is not to the request that its "
                              "name stands for",
                              "remove the file"}});
    answer = answer_from_json(entry["answer"]);
  }
  if (answer->source != "scripted") answer->source = "recorded";
  return collected(exchange, std::move(*answer));
}

Answer AnswerStore::keep(const Exchange& exchange, const Answer& answer) {
  if (mode_ != RecordMode::record && mode_ != RecordMode::refresh) return answer;
  const std::string key = exchange.key();
  const fs::path file = file_of(key);
  const Json entry = {{"schema", kSchema},
                      {"key", key},
                      {"arm", exchange.label.arm},
                      {"case_digest", exchange.label.case_digest},
                      {"skill_digest", exchange.label.skill_digest},
                      {"request", request_json(exchange)},
                      {"answer", to_json(answer)}};
  if (mode_ == RecordMode::refresh) {
    storage::write_json(file, entry);
  } else {
    const fs::path whole = folder_ / ("new." + std::to_string(::getpid()) + "." + key);
    storage::write_json(whole, entry);
    std::error_code ec;
    fs::create_directory(file.parent_path(), ec);
    const int error = ::link(whole.c_str(), file.c_str()) == 0 ? 0 : errno;
    ::unlink(whole.c_str());
    if (error == EEXIST)
      if (auto first = find(exchange)) return *first;
    if (error != 0) fail(file, error);
  }
  sync_folder(file.parent_path());
  return collected(exchange, answer);
}

bool AnswerStore::lock(const Exchange& exchange, short type) {
  if (locks_ < 0) return true;
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  // One byte of the lock file for each key: 60 of its bits.
  range.l_start = static_cast<off_t>(std::stoull(exchange.key().substr(0, 15), nullptr, 16));
  range.l_len = 1;
  return ::fcntl(locks_, F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES);
}

bool AnswerStore::try_lock(const Exchange& exchange) { return lock(exchange, F_WRLCK); }

void AnswerStore::unlock(const Exchange& exchange) { lock(exchange, F_UNLCK); }

std::string AnswerStore::why_missing(const Exchange& exchange) const {
  const Label& wanted = exchange.label;
  for (const auto& [key, recorded] : set_) {
    const Label& have = recorded.label;
    if (have.case_id != wanted.case_id || have.arm != wanted.arm || have.run != wanted.run ||
        have.turn != wanted.turn || have.step != wanted.step)
      continue;
    if (have.case_digest != wanted.case_digest) return "the case was edited since it was recorded";
    if (have.skill_digest != wanted.skill_digest)
      return "the skill was edited since it was recorded";
    return "the model's settings or the prompt's frame changed since it was recorded";
  }
  return "it was never recorded";
}

}  // namespace hone::model
