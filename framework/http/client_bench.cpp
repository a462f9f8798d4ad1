// 1000 requests to a service that takes 200 ms, 64 in flight: wall time against the ideal, and our
// own CPU time a request. The service is a process of its own.
#include <benchmark/benchmark.h>
#include <httplib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "http/client.hpp"

namespace hone::http {
namespace {

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Service {
  pid_t pid = 0;
  int port = 0;
  Service() {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    pid = ::fork();
    if (pid == 0) {
      httplib::Server server;
      server.new_task_queue = [] { return new httplib::ThreadPool(80); };
      server.set_keep_alive_max_count(10'000);
      server.set_tcp_nodelay(true);  // else its answers wait 40 ms for an acknowledgement
      server.Post("/", [](const auto& request, auto& response) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        response.set_content(request.body, "text/plain");
      });
      const int bound = server.bind_to_any_port("127.0.0.1");
      if (::write(ready[1], &bound, sizeof bound) != sizeof bound) ::_exit(1);
      server.listen_after_bind();
      ::_exit(0);
    }
    if (::read(ready[0], &port, sizeof port) != sizeof port) std::abort();
  }
  ~Service() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
};

void thousand_requests(benchmark::State& state) {
  constexpr size_t kRequests = 1000, kInFlight = 64;
  const Service service;
  Request request;
  request.method = "POST";
  request.url = "http://127.0.0.1:" + std::to_string(service.port) + "/";
  request.body = std::string(4000, 'x');
  const std::vector<Request> requests(kRequests, request);
  const double ideal = 0.2 * static_cast<double>((kRequests + kInFlight - 1) / kInFlight);
  for (auto unused : state) {
    Client client;
    size_t good = 0;
    // Connections first: this server's queue of them holds five, and each that it drops costs 1 s.
    client.fetch_each({requests.data(), kInFlight}, kInFlight, [](size_t, const Response&) {});
    const auto start = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds();
    client.fetch_each(requests, kInFlight, [&](size_t, const Response& r) { good += r.ok(); });
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    if (good != kRequests) state.SkipWithError("not all were answered");
    state.counters["wall_over_ideal"] = wall.count() / ideal;
    state.counters["cpu_ms_per_request"] = 1000 * (cpu_seconds() - cpu) / kRequests;
  }
}
BENCHMARK(thousand_requests)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hone::http

BENCHMARK_MAIN();
