#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "oracle/device.hpp"
#include "oracle/outcome.hpp"
#include "oracle/protocol.hpp"
#include "process/child.hpp"

namespace hone::oracle {

/// Calls a candidate once. Behind an interface so that judging can be tried without a process.
class Caller {
 public:
  virtual ~Caller() = default;
  /// A finding that is correct says only that `returned` holds what came back, not that it is
  /// right.
  virtual Finding call(const protocol::Call& call, protocol::Returned& returned) = 0;
};

struct SessionOptions {
  std::filesystem::path library;  ///< the candidate
  Device device = Device::sim;
  Installation installation;
  /// On cudasim: work is done when it is waited for, not when it is submitted. Shows missing waits;
  /// the model's time of several streams is true without it.
  bool deferred_streams = false;
  /// On cudasim: names of checks, separated by commas; see cudasim.h.
  std::string checks;
  double call_seconds = 20;  ///< deadline of one call
  double load_seconds = 30;  ///< … of starting and loading
};

/// A candidate's process, sandboxed. Started at the first call and again after one that failed.
class Session : public Caller {
 public:
  Session(SessionOptions options, Signature signature);

  Finding call(const protocol::Call& call, protocol::Returned& returned) override;

  /// Starts it now, if it is not running.
  Finding start();
  /// Ends it; the next call starts a fresh one.
  void stop() { child_.reset(); }
  /// As the runtime named it, once started.
  const std::string& device_name() const { return device_name_; }
  const std::string& tier() const { return tier_; }

 private:
  Finding greet();
  Finding load();
  Finding exchange(const std::string& frame, protocol::Kind kind, std::string& body,
                   std::uint64_t largest, double seconds);
  Finding receive(protocol::Kind kind, std::string& body, std::uint64_t largest,
                  const process::Deadline& deadline);
  Finding ended(process::Io io);

  SessionOptions options_;
  Signature signature_;
  std::optional<process::Child> child_;
  std::string device_name_, tier_;
};

}  // namespace hone::oracle
