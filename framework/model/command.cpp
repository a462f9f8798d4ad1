#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "diagnostic/diagnostic.hpp"
#include "model/catalogue.hpp"
#include "model/providers.hpp"
#include "model/wire.hpp"
#include "process/run.hpp"
#include "process/terminal.hpp"

namespace hone::model {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPromptFile = "{prompt_file}";

/// Everything that is asked, as one text.
std::string prompt_of(const Question& question) {
  std::string text = question.system.empty() ? "" : question.system + "\n\n";
  text += question.user;
  for (const auto& turn : question.turns)
    text += "\n\nYou answered:\n\n" + turn.said + "\n\n" + turn.user;
  if (!question.schema.is_null())
    text += "\n\nAnswer with JSON of this schema alone:\n" + question.schema.dump();
  return text + "\n";
}

class PromptFile {
 public:
  explicit PromptFile(const std::string& text) {
    static std::atomic<unsigned> serial{0};
    path_ = fs::temp_directory_path() /
            ("hone-prompt." + std::to_string(::getpid()) + "." + std::to_string(serial++));
    storage::write_atomically(path_, text);
  }
  PromptFile(const PromptFile&) = delete;
  PromptFile& operator=(const PromptFile&) = delete;
  ~PromptFile() {
    std::error_code ec;
    fs::remove(path_, ec);
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

class CommandProvider : public DirectProvider {
 public:
  void check(const ModelConfig& config) const override {
    if (config.command.empty())
      throw Error(Exit::bad_input,
                  "model '" + config.name + "' of provider command has no COMMAND");
    if (!config.api_key_env.empty())
      throw Error(Exit::bad_input, "model '" + config.name +
                                       "' of provider command has API_KEY_ENV: no key is handed to "
                                       "a program; log it in on its own");
  }

  Json request_body(const ModelConfig& config, const Question& question) const override {
    return {{"command", config.command}, {"prompt", prompt_of(question)}};
  }

  Answer answer(const ModelConfig& config, const Question& question) const override {
    const std::string prompt = prompt_of(question);
    process::Command command;
    command.argv = config.command;
    command.inherit_environment = true;
    for (const auto& variable : key_variables()) command.environment[variable] = "";
    command.limits.wall_seconds = 900;
    command.limits.output_bytes = uint64_t{16} << 20;
    std::optional<PromptFile> file;
    for (auto& word : command.argv) {
      const size_t at = word.find(kPromptFile);
      if (at == std::string::npos) continue;
      if (!file) file.emplace(prompt);
      word.replace(at, kPromptFile.size(), file->path());
    }
    if (!file) command.input = prompt;
    const auto result = process::run(command);

    Answer a;
    a.attempts = 1;
    a.seconds = result.seconds;
    a.model = config.model;
    if (!result.ok()) {
      const auto said = process::first_line(result.err.empty() ? result.out : result.err);
      const std::string why = result.error.empty() ? result.str() : result.error;
      a.error = AnswerError{
          result.timed_out ? "timeout" : "command",
          one_line(config.command.front() + " " + why + (said.empty() ? "" : ": " + said)), 0};
    } else if (result.output_truncated) {
      a.error = AnswerError{"too-large", config.command.front() + " wrote more than 16 MiB", 0};
    } else if (result.out.find_first_not_of(" \t\r\n") == std::string::npos) {
      a.error = AnswerError{"no-content", config.command.front() + " wrote no answer", 0};
    } else {
      a.outcome = Outcome::answered;
      a.text = result.out;
    }
    return a;
  }
};

}  // namespace

const Provider& command_provider() {
  static const CommandProvider instance;
  return instance;
}

}  // namespace hone::model
