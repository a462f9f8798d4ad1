#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hone::attacks {

/// What an attack must leave alone: a folder with a secret, a file of a harness, a local server, an
/// environment variable and this process. Answers name it by place-holders, which fill_in()
/// replaces.
class Outside {
 public:
  /// Makes `folder` anew and listens on loopback, TCP and UDP. Throws Error(infrastructure).
  explicit Outside(std::filesystem::path folder);
  ~Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

  /// @OUTSIDE@, @PORT@.
  std::string fill_in(std::string text) const;

  /// Takes note of how things are, also in `folders`.
  void remember(const std::vector<std::filesystem::path>& folders);

  /// Everything that is not as it was: changed, removed and new files, processes that live on,
  /// connections and packets that came in. Empty when the attack left no trace.
  std::vector<std::string> changes();

  /// Neither may ever appear in a record: they stand in a file and in the environment.
  static const std::string secret, secret_variable;

 private:
  std::map<std::string, std::string> look() const;

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> watched_;
  std::map<std::string, std::string> before_;
  int tcp_ = -1, udp_ = -1, port_ = 0;
};

}  // namespace hone::attacks
