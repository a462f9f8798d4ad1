#include "model/llama_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "diagnostic/diagnostic.hpp"
#include "http/client.hpp"
#include "model/watched_process.hpp"
#include "storage/storage.hpp"

namespace hone::model {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::steady_clock;
using storage::Json;

constexpr const char* kBringThem = "./bootstrap.sh deps";

[[noreturn]] void fail(const std::string& message) { throw Error(Exit::infrastructure, message); }

void say(const LlamaServerConfig& config, const std::string& line) {
  if (config.progress) config.progress(line);
}

void check_alias(const std::string& alias) {
  const bool good = !alias.empty() && alias.front() != '.' && alias.size() <= 64 &&
                    alias.find_first_not_of(
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789._-") == std::string::npos;
  if (!good)
    throw Error(Exit::bad_input, "'" + alias +
                                     "' cannot name a server: use letters, digits, '.', "
                                     "'_' and '-'");
}

fs::path state_file(const fs::path& dir, const std::string& alias) {
  return dir / (alias + ".json");
}

/// Holds <state_dir>/<alias>.lock; other starters and stoppers wait.
class Lock {
 public:
  Lock(const fs::path& dir, const std::string& alias) {
    std::error_code ec;
    fs::create_directories(dir, ec);
    const fs::path path = dir / (alias + ".lock");
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd_ < 0) fail("cannot write " + path.string() + ": " + std::strerror(errno));
    while (::flock(fd_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      ::close(fd_);
      fail("cannot lock " + path.string() + ": " + std::strerror(errno));
    }
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    ::flock(fd_, LOCK_UN);
    ::close(fd_);
  }

 private:
  int fd_ = -1;
};

/// What a state file holds.
struct State {
  ProcessId process;
  Endpoint endpoint;
  Json config;
};

std::optional<State> read_state(const fs::path& dir, const std::string& alias) {
  const fs::path path = state_file(dir, alias);
  if (!fs::exists(path)) return std::nullopt;
  try {
    const Json json = storage::read_json(path);
    State s;
    s.process = {json.at("pid").get<pid_t>(), json.at("start_time").get<unsigned long long>()};
    s.endpoint.base_url = json.at("base_url").get<std::string>();
    s.endpoint.model = json.at("model").get<std::string>();
    s.endpoint.pid = s.process.pid;
    s.endpoint.port = json.at("port").get<int>();
    s.endpoint.log = json.at("log").get<std::string>();
    s.config = json.at("config");
    return s;
  } catch (const std::exception&) {
    return std::nullopt;  // an unreadable record says nothing about any process
  }
}

void write_state(const fs::path& dir, const State& s) {
  storage::write_json(state_file(dir, s.endpoint.model), {{"schema", "hone.server/1"},
                                                          {"pid", s.process.pid},
                                                          {"start_time", s.process.start_time},
                                                          {"port", s.endpoint.port},
                                                          {"base_url", s.endpoint.base_url},
                                                          {"model", s.endpoint.model},
                                                          {"log", s.endpoint.log.string()},
                                                          {"config", s.config}});
}

http::Response get(int port, const std::string& path) {
  http::ClientOptions options;
  options.retry.max_attempts = 1;
  options.max_body = 1 << 20;
  http::Request request;
  request.url = "http://127.0.0.1:" + std::to_string(port) + path;
  request.timeouts = {2s, 5s};
  return http::Client(options).fetch(request);
}

bool healthy(int port) { return get(port, "/health").status == 200; }

/// The names under /v1/models.
std::vector<std::string> served_models(int port) {
  std::vector<std::string> names;
  const Json json = Json::parse(get(port, "/v1/models").body, nullptr, false);
  if (!json.is_object() || !json.contains("data") || !json["data"].is_array()) return names;
  for (const auto& entry : json["data"])
    if (entry.is_object() && entry.contains("id") && entry["id"].is_string())
      names.push_back(entry["id"].get<std::string>());
  return names;
}

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail(std::string("cannot open a socket: ") + std::strerror(errno));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool good = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  const int error = errno;
  ::close(fd);
  if (!good) fail(std::string("cannot find a free port: ") + std::strerror(error));
  return ntohs(address.sin_port);
}

std::string last_lines(const fs::path& log, size_t lines) {
  std::ifstream in(log, std::ios::binary | std::ios::ate);
  if (!in) return "";
  const auto size = static_cast<long>(in.tellg());
  in.seekg(std::max(0L, size - 8192));
  std::string text(std::istreambuf_iterator<char>(in), {});
  while (!text.empty() && text.back() == '\n') text.pop_back();
  size_t at = text.size();
  for (; lines > 0 && at != std::string::npos; --lines)
    at = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  if (at != std::string::npos) text = text.substr(at + 1);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') c = ' ';
  return text;
}

std::string with_log(const std::string& message, const fs::path& log) {
  const std::string lines = last_lines(log, 12);
  return message + "; its log " + log.string() + (lines.empty() ? " is empty" : " ends:\n" + lines);
}

std::string bare_digest(std::string digest) {
  if (digest.starts_with("sha256:")) digest = digest.substr(7);
  std::transform(digest.begin(), digest.end(), digest.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return digest;
}

/// Size and time of change: what tells that a file was not touched.
Json stamp(const fs::path& path) {
  return {{"path", fs::absolute(path).string()},
          {"size", fs::file_size(path)},
          {"mtime", fs::last_write_time(path).time_since_epoch().count()}};
}

/// The file's digest, remembered in the state folder.
std::string digest_of(const LlamaServerConfig& config) {
  const Json wanted = stamp(config.gguf);
  const fs::path memory =
      config.state_dir /
      ("gguf-" + storage::sha256(wanted["path"].get<std::string>()).substr(7, 16) + ".json");
  if (fs::exists(memory)) {
    try {
      const Json known = storage::read_json(memory);
      if (known.at("file") == wanted) return known.at("sha256").get<std::string>();
    } catch (const std::exception&) {  // hashed again below
    }
  }
  say(config, "checking the digest of " + config.gguf.filename().string() + " (once)");
  const std::string digest = bare_digest(storage::sha256_of_file(config.gguf));
  storage::write_json(memory, {{"file", wanted}, {"sha256", digest}});
  return digest;
}

int thread_count(const LlamaServerConfig& config) {
  return config.threads > 0 ? config.threads
                            : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// What must agree for a running server to be used again.
Json identity(const LlamaServerConfig& config) {
  return {{"program", fs::absolute(config.program).string()},
          {"gguf", stamp(config.gguf)},
          {"context", config.context},
          {"parallel", config.parallel},
          {"threads", thread_count(config)}};
}

void check_program(const fs::path& program) {
  if (program.empty() || !fs::exists(program))
    fail("no llama-server at " + (program.empty() ? "(no path)" : program.string()) + ": run " +
         kBringThem);
  if (::access(program.c_str(), X_OK) != 0 || fs::is_directory(program))
    fail(program.string() + " is not a program that can be run");
}

State spawn(const LlamaServerConfig& config) {
  State s;
  s.endpoint.port = free_port();
  s.endpoint.base_url = "http://127.0.0.1:" + std::to_string(s.endpoint.port) + "/v1";
  s.endpoint.model = config.alias;
  s.endpoint.log = config.log.empty() ? config.state_dir / (config.alias + ".log") : config.log;
  s.config = identity(config);
  WatchedCommand command;
  command.argv = {fs::absolute(config.program).string(),
                  "-m",
                  fs::absolute(config.gguf).string(),
                  "--host",
                  "127.0.0.1",
                  "--port",
                  std::to_string(s.endpoint.port),
                  "-c",
                  std::to_string(config.context * config.parallel),
                  "-np",
                  std::to_string(config.parallel),
                  "-t",
                  std::to_string(thread_count(config)),
                  "--alias",
                  config.alias,
                  "--no-webui"};
  command.log = s.endpoint.log;
  command.idle_limit = config.idle_limit;
  if (config.owner != 0) {
    const auto owner = identify(config.owner);
    if (!owner)
      fail("the owner of the server, process " + std::to_string(config.owner) + ", is gone");
    command.owner = *owner;
  }
  s.process = spawn_watched(command);
  s.endpoint.pid = s.process.pid;
  write_state(config.state_dir, s);
  return s;
}

/// Waits until the server answers for its alias. False when it died before.
bool wait_until_ready(const LlamaServerConfig& config, const State& s) {
  const auto begin = steady_clock::now();
  for (auto next_line = begin + 2s;; std::this_thread::sleep_for(100ms)) {
    if (healthy(s.endpoint.port)) break;
    if (!alive(s.process)) return false;
    const auto now = steady_clock::now();
    if (now - begin > config.start_limit)
      fail(with_log(
          "llama-server was not ready within " + std::to_string(config.start_limit.count()) + " s",
          s.endpoint.log));
    if (now < next_line) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begin).count();
    say(config, "llama-server loads " + config.gguf.filename().string() + " … " +
                    std::to_string(seconds) + " s");
    next_line = now + 2s;
  }
  const auto names = served_models(s.endpoint.port);
  if (std::find(names.begin(), names.end(), config.alias) == names.end())
    fail("the server at " + s.endpoint.base_url + " does not serve '" + config.alias + "'");
  return alive(s.process);
}

void forget(const fs::path& dir, const std::string& alias) {
  std::error_code ec;
  fs::remove(state_file(dir, alias), ec);
}

bool stop_locked(const fs::path& dir, const std::string& alias) {
  const auto s = read_state(dir, alias);
  const bool ended = s && end_process(s->process, 10s);
  forget(dir, alias);
  return ended;
}

}  // namespace

void check_gguf(const LlamaServerConfig& config) {
  const fs::path& file = config.gguf;
  if (file.empty() || !fs::is_regular_file(file))
    fail("no model file at " + (file.empty() ? "(no path)" : file.string()) + ": run " +
         kBringThem);
  std::ifstream in(file, std::ios::binary);
  char magic[4] = {};
  in.read(magic, sizeof magic);
  if (!in || std::memcmp(magic, "GGUF", 4) != 0)
    fail(file.string() + " is not a GGUF model file (" + std::to_string(fs::file_size(file)) +
         " bytes, and it does not start with GGUF): delete it and run " + kBringThem);
  if (config.gguf_sha256.empty()) return;
  const std::string expected = bare_digest(config.gguf_sha256);
  const std::string actual = digest_of(config);
  if (actual != expected)
    fail("model file " + file.string() + " (" + std::to_string(fs::file_size(file)) +
         " bytes) is cut short or another one: expected sha256 " + expected + ", found " + actual +
         "; delete it and run " + kBringThem);
}

Endpoint start(const LlamaServerConfig& config) {
  check_alias(config.alias);
  const Lock lock(config.state_dir, config.alias);
  check_program(config.program);
  check_gguf(config);

  if (auto s = read_state(config.state_dir, config.alias); s && alive(s->process)) {
    try {
      if (s->config == identity(config) && wait_until_ready(config, *s)) {
        s->endpoint.reused = true;
        return s->endpoint;
      }
    } catch (...) {
      stop_locked(config.state_dir, config.alias);
      throw;
    }
    say(config, "ending the llama-server of another configuration");
    stop_locked(config.state_dir, config.alias);
  }
  for (int attempt = 1;; ++attempt) {
    const State s = spawn(config);
    try {
      if (wait_until_ready(config, s)) return s.endpoint;
    } catch (...) {
      end_process(s.process, 5s);
      forget(config.state_dir, config.alias);
      throw;
    }
    forget(config.state_dir, config.alias);
    // Another process may have taken the free port in between.
    const bool port_taken = last_lines(s.endpoint.log, 12).find("bind") != std::string::npos;
    if (!port_taken || attempt == 3)
      fail(with_log("llama-server ended while starting", s.endpoint.log));
  }
}

bool stop(const fs::path& state_dir, const std::string& alias) {
  check_alias(alias);
  if (!fs::exists(state_file(state_dir, alias))) return false;
  const Lock lock(state_dir, alias);
  return stop_locked(state_dir, alias);
}

std::optional<Endpoint> running(const fs::path& state_dir, const std::string& alias) {
  check_alias(alias);
  const auto s = read_state(state_dir, alias);
  if (!s || !alive(s->process) || !healthy(s->endpoint.port)) return std::nullopt;
  Endpoint endpoint = s->endpoint;
  endpoint.reused = true;
  return endpoint;
}

}  // namespace hone::model
