// 1000 requests to a service that takes 200 ms, 64 in flight: wall time against the ideal, and our
// own CPU time a request.
#include <benchmark/benchmark.h>

#include "http/client.hpp"
#include "http/slow_service.hpp"

namespace hone::http {
namespace {

void thousand_requests(benchmark::State& state) {
  constexpr size_t kRequests = 1000, kInFlight = 64;
  const SlowService service("/", std::chrono::milliseconds(200),
                            [](const httplib::Request& request) { return request.body; });
  Request request;
  request.method = "POST";
  request.url = service.url() + "/";
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
