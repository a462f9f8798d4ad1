#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/clock.hpp"
#include "http/throttle.hpp"

namespace hone::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Timeouts {
  std::chrono::milliseconds connect{5'000};
  std::chrono::milliseconds total{600'000};  ///< of one attempt
  std::chrono::seconds idle{0};              ///< without a byte; 0: no limit. For streams
};

struct Request {
  std::string method = "GET";
  std::string url;  ///< https, or http to a loopback address
  Headers headers;  ///< may hold keys: never logged, never part of an error message
  std::string body;
  Timeouts timeouts;
  double tokens = 0;  ///< what it may take of Rates::tokens_per_minute
};

enum class ErrorKind {
  none,       ///< an HTTP answer arrived whole, whatever its status
  bad_url,    ///< refused before sending: not https and not loopback, or not a URL
  resolve,    ///< the host name is unknown
  connect,    ///< refused, unreachable, or no connection in time
  tls,        ///< the certificate or the handshake
  timeout,    ///< no whole answer within the attempt's time
  cut,        ///< the connection ended before the answer did
  too_large,  ///< the body passed the cap
  cancelled,  ///< the caller's `cancelled` said so
};

/// "connect", "timeout", …: as it is written to records.
std::string_view name(ErrorKind kind);

struct Response {
  int status = 0;  ///< 0 when no answer arrived
  Headers headers;
  std::string body;
  ErrorKind error = ErrorKind::none;
  std::string message;  ///< one line on `error`; holds neither keys nor bodies
  double seconds = 0;   ///< of the last attempt
  int attempts = 0;

  bool ok() const { return error == ErrorKind::none && status >= 200 && status < 300; }
  /// Value of the first header of that name (in any case), or "".
  std::string_view header(std::string_view wanted) const;
};

/// Delays as the official SDKs have them: min(first_delay * 2^n, max_delay), less up to a quarter
/// by chance; a server's retry-after(-ms) of at most max_retry_after wins.
struct RetryPolicy {
  int max_attempts = 6;
  std::chrono::milliseconds first_delay{500};
  std::chrono::milliseconds max_delay{8'000};
  std::chrono::milliseconds max_retry_after{60'000};
  std::chrono::milliseconds deadline{
      900'000};  ///< no attempt starts later than this after the first
};

/// Whether a further attempt may help: 408, 409, 429, 5xx, connection errors and timeouts;
/// x-should-retry overrides.
bool is_transient(const Response& response);

struct ClientOptions {
  RetryPolicy retry;
  size_t max_body = size_t{64} << 20;  ///< bytes of one answer
  /// Decides on retries instead of is_transient, for instance "quota used up: never".
  std::function<bool(const Response&)> retryable = is_transient;
  /// Polled at least ten times a second; true ends everything in flight as `cancelled`.
  std::function<bool()> cancelled;
  Rates rates;
  Clock* clock = nullptr;  ///< null: the real one
};

/// HTTP with many requests in flight on one connection pool. Redirects are not followed (they are
/// answers). While a service is down (a request used up its attempts and none was good since) the
/// others get one attempt. Not for use by two threads at once.
class Client {
 public:
  explicit Client(ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Answers in the order of the requests. Never throws for what a server or network does.
  std::vector<Response> fetch_all(std::span<const Request> requests, size_t max_in_flight);

  /// Calls `done(index, response)` once per request as each is finished, in this thread.
  using Done = std::function<void(size_t index, Response response)>;
  void fetch_each(std::span<const Request> requests, size_t max_in_flight, const Done& done);

  Response fetch(const Request& request);

  /// What a source has to say when a place is free.
  enum class Next {
    request,  ///< it filled in the request and its number
    wait,     ///< nothing now: ask again when something landed, or in 50 ms
    end,      ///< nothing until something lands, and nothing at all when nothing is in flight
  };
  using Source = std::function<Next(size_t& index, Request& request)>;
  /// The same for requests that are made as places come free, so that few exist at a time.
  void fetch_from(const Source& source, size_t max_in_flight, const Done& done);

 private:
  struct Pool;
  class Round;
  ClientOptions options_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace hone::http
