#include "http/client.hpp"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <queue>
#include <stdexcept>

namespace hone::http {
namespace {

using std::chrono::milliseconds;
using TimePoint = Clock::TimePoint;

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

/// "scheme://host[:port]" of an allowed URL, or why it is refused.
struct CheckedUrl {
  std::string origin;
  std::string refusal;
  bool loopback = false;
};

bool is_loopback(std::string host) {
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return same_name(host, "localhost");
}

CheckedUrl check_url(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), curl_url_cleanup);
  const auto part = [&](CURLUPart which) -> std::string {
    char* text = nullptr;
    if (curl_url_get(parsed.get(), which, &text, 0) != CURLUE_OK) return "";
    std::string copy = text;
    curl_free(text);
    return copy;
  };
  CheckedUrl result;
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
    result.refusal = "not a URL with scheme and host";
    return result;
  }
  const std::string scheme = part(CURLUPART_SCHEME);
  const std::string host = part(CURLUPART_HOST);
  const std::string port = part(CURLUPART_PORT);
  result.origin = scheme + "://" + host + (port.empty() ? "" : ":" + port);
  result.loopback = is_loopback(host);
  if (!part(CURLUPART_USER).empty() || !part(CURLUPART_PASSWORD).empty())
    result.refusal = result.origin + ": credentials in a URL are refused";
  else if (scheme != "https" && scheme != "http")
    result.refusal = result.origin + ": only https is allowed";
  else if (scheme == "http" && !result.loopback)
    result.refusal = result.origin + ": plain http is allowed to a loopback address only";
  return result;
}

ErrorKind kind_of(CURLcode code, bool connected) {
  switch (code) {
    case CURLE_OK:
      return ErrorKind::none;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return ErrorKind::bad_url;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return ErrorKind::resolve;
    case CURLE_COULDNT_CONNECT:
      return ErrorKind::connect;
    case CURLE_OPERATION_TIMEDOUT:
      return connected ? ErrorKind::timeout : ErrorKind::connect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
      return ErrorKind::tls;
    default:
      return ErrorKind::cut;
  }
}

/// The delay that the server asks for, if any.
std::optional<milliseconds> retry_after(const Response& response) {
  const auto number = [](std::string_view text) -> std::optional<double> {
    const std::string copy(text);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    if (copy.empty() || end != copy.c_str() + copy.size()) return std::nullopt;
    return value;
  };
  if (const auto ms = number(response.header("retry-after-ms")); ms && *ms > 0 && *ms < 1e9)
    return milliseconds(static_cast<long>(*ms));
  const std::string_view header = response.header("retry-after");
  if (header.empty()) return std::nullopt;
  if (const auto s = number(header)) {
    if (*s > 0 && *s < 1e6) return milliseconds(static_cast<long>(*s * 1000));
    return std::nullopt;
  }
  const time_t when = curl_getdate(std::string(header).c_str(), nullptr);
  const time_t now = std::time(nullptr);
  if (when > now) return std::chrono::seconds(when - now);
  return std::nullopt;
}

milliseconds delay_before_next(const RetryPolicy& policy, const Response& response, Clock& clock) {
  if (const auto asked = retry_after(response); asked && *asked <= policy.max_retry_after)
    return *asked;
  const double doubled = static_cast<double>(policy.first_delay.count()) *
                         static_cast<double>(1L << std::min(response.attempts - 1, 30));
  const double capped = std::min(doubled, static_cast<double>(policy.max_delay.count()));
  return milliseconds(static_cast<long>(capped * (1 - 0.25 * clock.random())));
}

/// One attempt that is under way.
struct Flight {
  size_t index = 0;
  Response response;
  size_t max_body = 0;
  bool too_large = false;
  std::string origin;
  curl_slist* headers = nullptr;
  TimePoint launched;
  std::array<char, CURL_ERROR_SIZE> why{};

  Flight() = default;
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  ~Flight() { curl_slist_free_all(headers); }
};

size_t on_body(char* data, size_t, size_t size, void* user) {
  auto& flight = *static_cast<Flight*>(user);
  if (flight.response.body.size() + size > flight.max_body) {
    flight.too_large = true;
    return 0;
  }
  flight.response.body.append(data, size);
  return size;
}

size_t on_header(char* data, size_t, size_t size, void* user) {
  auto& flight = *static_cast<Flight*>(user);
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // a new answer: what 1xx ones said is past
    flight.response.headers.clear();
    return size;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  if (flight.response.headers.size() < 200)
    flight.response.headers.emplace_back(line.substr(0, colon), value);
  return size;
}

const char* ca_file() {
  for (const char* variable : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (const char* file = std::getenv(variable); file != nullptr && *file != '\0') return file;
  return nullptr;
}

}  // namespace

std::string_view name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::none:
      return "none";
    case ErrorKind::bad_url:
      return "bad-url";
    case ErrorKind::resolve:
      return "resolve";
    case ErrorKind::connect:
      return "connect";
    case ErrorKind::tls:
      return "tls";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::cut:
      return "cut";
    case ErrorKind::too_large:
      return "too-large";
    case ErrorKind::cancelled:
      return "cancelled";
  }
  return "none";
}

std::string_view Response::header(std::string_view wanted) const {
  for (const auto& [key, value] : headers)
    if (same_name(key, wanted)) return value;
  return "";
}

bool is_transient(const Response& response) {
  switch (response.error) {
    case ErrorKind::none:
      break;
    case ErrorKind::resolve:
    case ErrorKind::connect:
    case ErrorKind::timeout:
    case ErrorKind::cut:
      return true;
    default:
      return false;
  }
  const int status = response.status;
  if (status < 400) return false;
  const std::string_view said = response.header("x-should-retry");
  if (same_name(said, "true") || same_name(said, "false")) return same_name(said, "true");
  return status == 408 || status == 409 || status == 429 || status >= 500;
}

/// The multi handle with its connections, and easy handles to use again.
struct Client::Pool {
  CURLM* multi;
  std::vector<CURL*> idle;

  Pool() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    multi = curl_multi_init();
    if (multi == nullptr) throw std::bad_alloc();
  }
  ~Pool() {
    for (CURL* easy : idle) curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }
  CURL* take() {
    if (!idle.empty()) {
      CURL* easy = idle.back();
      idle.pop_back();
      return easy;
    }
    CURL* easy = curl_easy_init();
    if (easy == nullptr) throw std::bad_alloc();
    return easy;
  }
  void give(CURL* easy) {
    curl_easy_reset(easy);
    idle.push_back(easy);
  }
};

namespace {

void set_up(CURL* easy, const Request& request, const CheckedUrl& url, Flight& flight) {
  const auto set = [&](auto option, auto value) { curl_easy_setopt(easy, option, value); };
  set(CURLOPT_URL, request.url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
  set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
  set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  if (request.method == "POST" || !request.body.empty()) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, request.body.data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method == "HEAD") set(CURLOPT_NOBODY, 1L);
  set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  for (const auto& [key, value] : request.headers)
    flight.headers = curl_slist_append(flight.headers, (key + ": " + value).c_str());
  flight.headers = curl_slist_append(flight.headers, "Expect:");
  set(CURLOPT_HTTPHEADER, flight.headers);
  set(CURLOPT_USERAGENT, "hone");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.timeouts.connect.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeouts.total.count()));
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  set(CURLOPT_PIPEWAIT, 1L);
  if (request.timeouts.idle.count() > 0) {
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.timeouts.idle.count()));
  }
  if (url.loopback) set(CURLOPT_PROXY, "");
  if (const char* file = ca_file()) set(CURLOPT_CAINFO, file);
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&flight));
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&flight));
  set(CURLOPT_ERRORBUFFER, flight.why.data());
}

/// Fills in what an ended attempt came to.
void conclude(CURL* easy, CURLcode code, Flight& flight) {
  long status = 0;
  curl_off_t connect_us = 0, total_us = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &connect_us);
  curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &total_us);
  Response& response = flight.response;
  response.status = static_cast<int>(status);
  response.seconds = static_cast<double>(total_us) / 1e6;
  response.error = flight.too_large ? ErrorKind::too_large : kind_of(code, connect_us > 0);
  if (response.error == ErrorKind::none) return;
  const char* why = flight.why[0] != '\0' ? flight.why.data() : curl_easy_strerror(code);
  response.message =
      flight.origin + ": " +
      (flight.too_large ? "the answer is larger than " + std::to_string(flight.max_body) + " bytes"
                        : std::string(why));
}

}  // namespace

Client::Client(ClientOptions options)
    : options_(std::move(options)), pool_(std::make_unique<Pool>()) {
  if (!options_.retryable) options_.retryable = is_transient;
  if (options_.clock == nullptr) options_.clock = &real_clock();
}

Client::~Client() = default;

/// One call of fetch_from: what is in flight, what waits for its next attempt.
class Client::Round {
 public:
  Round(const ClientOptions& options, Pool& pool, const Source& source, size_t max_in_flight,
        const Done& done)
      : options_(options),
        clock_(*options.clock),
        pool_(pool),
        source_(source),
        done_(done),
        max_in_flight_(max_in_flight),
        throttle_(options.rates, max_in_flight) {}
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  /// Gives every handle back, also when `done` throws.
  ~Round() {
    for (auto& [easy, flight] : active_) release(easy);
  }

  void run() {
    while (true) {
      if (options_.cancelled && options_.cancelled()) return cancel();
      launch_what_may();
      if (active_.empty() && waiting_.empty() && asked_ == Next::end) return;
      if (active_.empty()) {
        clock_.sleep_until(next_time());
      } else if (!land_what_ended()) {
        const auto left = std::chrono::ceil<milliseconds>(next_time() - clock_.now());
        curl_multi_poll(pool_.multi, nullptr, 0, static_cast<int>(std::max<long>(0, left.count())),
                        nullptr);
      }
    }
  }

 private:
  struct Job {
    Request request;
    int attempts = 0;
    TimePoint first;
  };

  void launch_what_may() {
    asked_ = Next::request;
    while (throttle_.may_launch(clock_.now(), active_.size())) {
      if (!waiting_.empty() && waiting_.top().first <= clock_.now()) {
        const size_t index = waiting_.top().second;
        waiting_.pop();
        launch(index);
        continue;
      }
      // A service in trouble gets the retries first, nothing new.
      if (failures_ >= std::max<size_t>(2, max_in_flight_) && !waiting_.empty()) return;
      size_t index = 0;
      Request request;
      asked_ = source_(index, request);
      if (asked_ != Next::request) return;
      jobs_[index] = {std::move(request), 0, clock_.now()};
      launch(index);
    }
  }

  /// When there may be something to do without anything having landed.
  TimePoint next_time() const {
    const TimePoint now = clock_.now();
    const bool prompt = asked_ == Next::wait;
    TimePoint until = now + milliseconds(prompt ? 50 : options_.cancelled ? 100 : 1000);
    const TimePoint opens = throttle_.opens_at();
    // A closed throttle holds back retries and new requests alike.
    const TimePoint due = waiting_.empty() ? until : std::max(waiting_.top().first, opens);
    if (!waiting_.empty() && active_.empty())
      until = due;
    else if (!waiting_.empty())  // where all places are taken only a landing helps
      until = throttle_.may_launch(due, active_.size()) ? std::min(until, due) : until;
    else if (opens > now)
      until = active_.empty() ? opens : std::min(until, opens);
    if (active_.empty() && (options_.cancelled || prompt))
      until = std::min(until, now + milliseconds(prompt ? 50 : 100));
    return until;
  }

  void launch(size_t index) {
    Job& job = jobs_.at(index);
    ++job.attempts;
    const CheckedUrl url = check_url(job.request.url);
    if (!url.refusal.empty()) {
      Response refused;
      refused.error = ErrorKind::bad_url;
      refused.message = url.refusal;
      return finish(index, std::move(refused));
    }
    auto flight = std::make_unique<Flight>();
    flight->index = index;
    flight->max_body = options_.max_body;
    flight->origin = url.origin;
    flight->launched = clock_.now();
    flight->response.attempts = job.attempts;
    throttle_.launched(flight->launched, job.request.tokens);
    CURL* easy = pool_.take();
    set_up(easy, job.request, url, *flight);
    curl_multi_add_handle(pool_.multi, easy);
    active_.emplace(easy, std::move(flight));
  }

  /// Whether anything ended.
  bool land_what_ended() {
    int running = 0, left = 0;
    curl_multi_perform(pool_.multi, &running);
    bool landed = false;
    while (const CURLMsg* message = curl_multi_info_read(pool_.multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      land(message->easy_handle, message->data.result);
      landed = true;
    }
    return landed;
  }

  void land(CURL* easy, CURLcode code) {
    const auto found = active_.find(easy);
    if (found == active_.end()) return;
    conclude(easy, code, *found->second);
    const std::unique_ptr<Flight> flight = std::move(found->second);
    active_.erase(found);
    release(easy);
    const Job& job = jobs_.at(flight->index);
    const TimePoint now = clock_.now();
    const bool may_help = options_.retryable(flight->response);
    const auto delay =
        may_help ? delay_before_next(options_.retry, flight->response, clock_) : milliseconds(0);
    throttle_.landed(now, flight->launched, flight->response, delay);
    failures_ = may_help ? failures_ + 1 : 0;
    if (!may_help) down_ = false;
    const int allowed = down_ ? 1 : options_.retry.max_attempts;
    if (may_help && job.attempts < allowed && now + delay - job.first <= options_.retry.deadline) {
      waiting_.emplace(now + delay, flight->index);
      return;
    }
    if (may_help) down_ = true;
    finish(flight->index, std::move(flight->response));
  }

  void release(CURL* easy) {
    curl_multi_remove_handle(pool_.multi, easy);
    pool_.give(easy);
  }

  void finish(size_t index, Response response) {
    jobs_.erase(index);
    done_(index, std::move(response));
  }

  /// Ends what is in flight or waits; what the source still has is its own.
  void cancel() {
    while (!jobs_.empty()) {
      Response cancelled;
      cancelled.error = ErrorKind::cancelled;
      cancelled.message = "cancelled";
      cancelled.attempts = jobs_.begin()->second.attempts;
      finish(jobs_.begin()->first, std::move(cancelled));
    }
  }

  const ClientOptions& options_;
  Clock& clock_;
  Pool& pool_;
  const Source& source_;
  const Done& done_;
  size_t max_in_flight_;
  Throttle throttle_;
  std::map<CURL*, std::unique_ptr<Flight>> active_;
  std::map<size_t, Job> jobs_;
  using Due = std::pair<TimePoint, size_t>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> waiting_;
  Next asked_ = Next::request;
  size_t failures_ = 0;  ///< in a row that a retry could mend
  bool down_ = false;    ///< one of them used up its attempts
};

void Client::fetch_from(const Source& source, size_t max_in_flight, const Done& done) {
  max_in_flight = std::max<size_t>(max_in_flight, 1);
  curl_multi_setopt(pool_->multi, CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(max_in_flight));
  curl_multi_setopt(pool_->multi, CURLMOPT_MAXCONNECTS, static_cast<long>(max_in_flight));
  Round(options_, *pool_, source, max_in_flight, done).run();
}

void Client::fetch_each(std::span<const Request> requests, size_t max_in_flight, const Done& done) {
  size_t next = 0;
  fetch_from(
      [&](size_t& index, Request& request) {
        if (next == requests.size()) return Next::end;
        index = next;
        request = requests[next++];
        return Next::request;
      },
      max_in_flight, done);
  for (; next < requests.size(); ++next) {
    Response cancelled;
    cancelled.error = ErrorKind::cancelled;
    cancelled.message = "cancelled";
    done(next, std::move(cancelled));
  }
}

std::vector<Response> Client::fetch_all(std::span<const Request> requests, size_t max_in_flight) {
  std::vector<Response> responses(requests.size());
  fetch_each(requests, max_in_flight,
             [&](size_t index, Response response) { responses[index] = std::move(response); });
  return responses;
}

Response Client::fetch(const Request& request) { return fetch_all({&request, 1}, 1).front(); }

}  // namespace hone::http
