#pragma once
#include <httplib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

namespace hone::http {

/// For benchmarks: a service in a process of its own, whose answers to POST take a while.
class SlowService {
 public:
  using Answer = std::function<std::string(const httplib::Request&)>;

  SlowService(const char* path, std::chrono::milliseconds delay, const Answer& answer) {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      httplib::Server server;
      server.new_task_queue = [] { return new httplib::ThreadPool(80); };
      server.set_keep_alive_max_count(100'000);
      server.set_tcp_nodelay(true);  // else its answers wait 40 ms for an acknowledgement
      server.Post(path, [&](const auto& request, auto& response) {
        std::this_thread::sleep_for(delay);
        response.set_content(answer(request), "application/json");
      });
      const int bound = server.bind_to_any_port("127.0.0.1");
      if (::write(ready[1], &bound, sizeof bound) != sizeof bound) ::_exit(1);
      server.listen_after_bind();
      ::_exit(0);
    }
    if (::read(ready[0], &port_, sizeof port_) != sizeof port_) std::abort();
    ::close(ready[0]);
    ::close(ready[1]);
  }
  SlowService(const SlowService&) = delete;
  SlowService& operator=(const SlowService&) = delete;
  ~SlowService() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  pid_t pid_ = 0;
  int port_ = 0;
};

/// CPU time of this process so far.
inline double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The most memory that this process has held so far.
inline double peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace hone::http
