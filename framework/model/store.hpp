#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.hpp"

namespace hone::model {

enum class RecordMode {
  record,   ///< what is on record is used, what is not is asked and recorded
  replay,   ///< what is not on record is an error; no network
  refresh,  ///< all is asked and replaces what is on record
  off,      ///< all is asked, nothing recorded
};
std::string_view name(RecordMode mode);
/// Throws Error(usage) listing the modes.
RecordMode record_mode_named(std::string_view text);
/// HONE_RECORD, else record.
RecordMode record_mode_from_environment();

/// A request as the store knows it.
struct Exchange {
  std::string provider, source, version;
  std::string body;  ///< as it is sent, less `stream`
  Label label;

  /// 64 hex digits: SHA-256 over the length-prefixed fields that tell requests apart.
  std::string key() const;
};
Exchange exchange_of(const ModelConfig& config, const Question& question);

/// A line of a recorded set.
struct RecordedAnswer {
  Label label;
  std::string key;
  Answer answer;
};

/// Complete answers on disk, one file each under the key of their request. Many processes may use
/// one folder: the first writer wins. Throws Error(infrastructure) when it cannot write and
/// Error(bad_input) for an entry that is not what its name says.
class AnswerStore {
 public:
  AnswerStore(std::filesystem::path folder, RecordMode mode);
  ~AnswerStore();
  AnswerStore(const AnswerStore&) = delete;
  AnswerStore& operator=(const AnswerStore&) = delete;

  RecordMode mode() const { return mode_; }

  /// Answers of a recorded set: looked up before the folder's.
  void add_set(std::vector<RecordedAnswer> set);

  /// The answer on record, its source "recorded" unless it was scripted.
  std::optional<Answer> find(const Exchange& exchange);

  /// Records a complete answer; returns the one that then is on record.
  Answer keep(const Exchange& exchange, const Answer& answer);

  /// Whether this process may ask: no other one that uses the folder is asking the same. Held until
  /// unlock or the end of the process.
  bool try_lock(const Exchange& exchange);
  void unlock(const Exchange& exchange);

  /// Why there is no answer: never recorded, or what changed since.
  std::string why_missing(const Exchange& exchange) const;

  /// Every answer that was found or kept, when collecting; for the writing of a set.
  void collect(bool on) { collecting_ = on; }
  const std::vector<RecordedAnswer>& collected() const { return collected_; }

 private:
  std::filesystem::path file_of(const std::string& key) const;
  bool lock(const Exchange& exchange, short type);
  Answer collected(const Exchange& exchange, Answer answer);

  std::filesystem::path folder_;
  RecordMode mode_;
  int locks_ = -1;
  std::map<std::string, RecordedAnswer> set_;
  bool collecting_ = false;
  std::vector<RecordedAnswer> collected_;
};

/// Whether an answer is complete, so that it may be recorded: anything but an infrastructure error.
bool can_be_recorded(const Answer& answer);

}  // namespace hone::model
