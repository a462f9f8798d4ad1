#pragma once
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace hone::model {

/// What a local llama-server is started with.
struct LlamaServerConfig {
  std::filesystem::path program;
  std::filesystem::path gguf;
  std::string gguf_sha256;  ///< hex, with or without "sha256:"; "": only the magic is checked
  std::string alias;        ///< the model's name on the wire and of its state file
  int context = 4096;       ///< tokens of one slot
  int parallel = 1;         ///< slots; answers repeat exactly only with 1
  int threads = 0;          ///< 0: one per core
  std::filesystem::path state_dir;
  std::filesystem::path log;  ///< empty: <state_dir>/<alias>.log
  /// The server ends with this process, as a safety net under stop(); 0: none.
  pid_t owner = 0;
  /// Ends by itself after this long without a request; 0: never.
  std::chrono::seconds idle_limit{1800};
  std::chrono::seconds start_limit{120};
  /// One line at a time: what is going on ("hashing …", "loading … 3 s").
  std::function<void(const std::string&)> progress;
};

struct Endpoint {
  std::string base_url;  ///< "http://127.0.0.1:<port>/v1"
  std::string model;     ///< the alias
  pid_t pid = 0;
  int port = 0;
  std::filesystem::path log;
  bool reused = false;  ///< it ran already
};

/// Starts a server, or returns the healthy one of the same configuration. Waits until it answers.
/// Starters of one state_dir exclude each other by a lock file.
/// Throws Error(infrastructure): no program or model (naming the command that brings them), a model
/// file that is cut short or another one, a server that dies (with the end of its log) or is late.
Endpoint start(const LlamaServerConfig& config);

/// Ends the server of that alias: TERM, then KILL. False when none ran. Never ends a process that
/// is not the one it started (checked by its start time).
bool stop(const std::filesystem::path& state_dir, const std::string& alias);

/// The server of that alias, when its process lives and it answers.
std::optional<Endpoint> running(const std::filesystem::path& state_dir, const std::string& alias);

/// Throws what start() would for this model file; hashes it at most once per size and mtime.
void check_gguf(const LlamaServerConfig& config);

}  // namespace hone::model
