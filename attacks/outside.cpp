#include "outside.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "diagnostic/diagnostic.hpp"
#include "storage/storage.hpp"

namespace hone::attacks {
namespace {

namespace fs = std::filesystem;

// Fixed, so that a build can be used again; shared by all runs, so that no packet gets lost.
constexpr int kPort = 47117;

/// Where attacks try to leave a file of this name.
constexpr const char* kPlanted = "hone_attack_planted";
constexpr const char* kPlaces[] = {"/tmp", "/var/tmp", "/dev/shm", "/root", "/etc", "/"};

int listen_on_loopback(int type) {
  const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(kPort);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      (type == SOCK_STREAM && ::listen(fd, 8) != 0))
    throw Error(Exit::infrastructure,
                fmt::format("cannot listen on 127.0.0.1:{}: error {}", kPort, errno));
  return fd;
}

std::string state_of(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return "gone";
  std::string state =
      fmt::format("mode {:o} owner {} size {} changed {}.{}", info.st_mode, info.st_uid,
                  info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  if (S_ISREG(info.st_mode)) state += " " + storage::sha256_of_file(path);
  if (S_ISDIR(info.st_mode)) state = fmt::format("folder mode {:o}", info.st_mode);
  return state;
}

}  // namespace

const std::string Outside::secret = "hone-attack-secret-5d1c";
const std::string Outside::secret_variable = "hone-attack-variable-8e27";

Outside::Outside(fs::path folder) : folder_(std::move(folder)) {
  fs::create_directories(folder_);
  if (!fs::exists(folder_ / "secret.h")) {
    storage::write_atomically(folder_ / "secret.h", "#error " + secret + "\n");
    storage::write_atomically(folder_ / "harness.json", "{\"outcome\": \"wrong\"}\n");
  }
  tcp_ = listen_on_loopback(SOCK_STREAM);
  udp_ = listen_on_loopback(SOCK_DGRAM);
  ::setenv("HONE_ATTACK_KEY", secret_variable.c_str(), 1);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // whoever outlives its parents becomes a child of ours
}

Outside::~Outside() {
  ::close(tcp_);
  ::close(udp_);
}

std::string Outside::fill_in(std::string text) const {
  for (const auto& [mark, value] :
       {std::pair<std::string, std::string>{"@OUTSIDE@", folder_.string()},
        {"@PORT@", std::to_string(kPort)}})
    for (size_t at; (at = text.find(mark)) != std::string::npos;)
      text.replace(at, mark.size(), value);
  return text;
}

std::map<std::string, std::string> Outside::look() const {
  std::map<std::string, std::string> files;
  std::error_code ec;
  const auto note = [&](const fs::path& folder) {
    for (fs::recursive_directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
      files[it->path()] = state_of(it->path());
  };
  note(folder_);
  for (const auto& folder : watched_) note(folder);
  for (const fs::path place : kPlaces)
    if (fs::exists(fs::symlink_status(place / kPlanted, ec)))
      files[place / kPlanted] = state_of(place / kPlanted);
  return files;
}

void Outside::remember(const std::vector<fs::path>& folders) {
  watched_ = folders;
  before_ = look();
}

std::vector<std::string> Outside::changes() {
  std::vector<std::string> changes;
  const auto after = look();
  for (const auto& [path, state] : before_) {
    const auto now = after.find(path);
    if (now == after.end())
      changes.push_back(path + " is gone");
    else if (now->second != state)
      changes.push_back(path + ": was " + state + ", is " + now->second);
  }
  for (const auto& [path, state] : after)
    if (before_.count(path) == 0) changes.push_back(path + " is new: " + state);

  for (pid_t pid; (pid = ::waitpid(-1, nullptr, WNOHANG)) >= 0;) {
    if (pid > 0) continue;  // an orphan that ended meanwhile
    changes.emplace_back("a process lives on");
    break;
  }
  if (::accept(tcp_, nullptr, nullptr) >= 0) changes.emplace_back("a connection came in");
  char byte;
  if (::recv(udp_, &byte, 1, 0) >= 0) changes.emplace_back("a packet came in");
  return changes;
}

}  // namespace hone::attacks
