#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <queue>
#include <set>
#include <thread>

#include "diagnostic/diagnostic.hpp"
#include "model/budget.hpp"
#include "model/model.hpp"
#include "model/redactor.hpp"
#include "model/store.hpp"

namespace hone::model {
namespace {

using Next = http::Client::Next;

Answer not_asked(std::string kind, std::string message) {
  Answer a;
  a.error = AnswerError{std::move(kind), std::move(message), 0};
  return a;
}

/// One call of ask_each: what is still to be asked, what is under way.
class Asking {
 public:
  Asking(const ModelConfig& config, size_t count, const std::function<Question(size_t)>& question,
         const AskOptions& options)
      : config_(config), question_(question), options_(options), from_(provider(config.provider)) {
    progress_.total = count;
    for (size_t i = 0; i < count; ++i) todo_.push_back(i);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() {
    if (options_.store != nullptr)
      for (const auto& [index, flight] : flights_) options_.store->unlock(flight.exchange);
  }

  void run() {
    if (options_.store != nullptr && options_.store->mode() == RecordMode::replay) {
      replay();
      return;
    }
    from_.check(config_);
    if (const auto* http = dynamic_cast<const HttpProvider*>(&from_)) {
      ask_over_http(*http);
    } else {
      ask_directly(dynamic_cast<const DirectProvider&>(from_));
    }
    cancel_the_rest();
  }

 private:
  struct Flight {
    Exchange exchange;
    std::string prefix;  ///< whose caching this one begins; "": none
    std::optional<Budget::Reserve> reserve;
  };

  void replay() {
    while (!todo_.empty() && !cancelled()) {
      const size_t index = todo_.front();
      todo_.pop_front();
      const Exchange exchange = exchange_of(config_, question_(index));
      auto recorded = options_.store->find(exchange);
      if (recorded)
        finish(index, *recorded, true);
      else
        finish(index, not_asked("not-recorded",
                                "no recorded answer: " + options_.store->why_missing(exchange)));
    }
    cancel_the_rest();
  }

  void cancel_the_rest() {
    for (const size_t index : todo_) finish(index, not_asked("cancelled", "cancelled"));
  }

  bool cancelled() const { return options_.client.cancelled && options_.client.cancelled(); }

  /// The next question that has to be asked, if one may be now.
  Next next(size_t& index, Question& question) {
    for (size_t left = todo_.size(); left > 0 && !cancelled(); --left) {
      index = todo_.front();
      todo_.pop_front();
      question = question_(index);
      Flight flight{exchange_of(config_, question), "", {}};
      if (must_wait_for_prefix(question, flight) ||
          (options_.store != nullptr && !options_.store->try_lock(flight.exchange))) {
        todo_.push_back(index);
        continue;
      }
      if (options_.store != nullptr) {
        if (auto recorded = options_.store->find(flight.exchange)) {
          options_.store->unlock(flight.exchange);
          finish(index, *recorded, true);
          continue;
        }
      }
      if (options_.budget != nullptr) {
        flight.reserve = options_.budget->reserve(config_, flight.exchange.body.size(),
                                                  question.max_tokens.value_or(config_.max_tokens));
        if (!flight.reserve) {
          if (options_.store != nullptr) options_.store->unlock(flight.exchange);
          if (!flights_.empty()) {  // what is under way may take less than it could
            todo_.push_front(index);
            return Next::wait;
          }
          finish(index, not_asked("budget", "not asked: it could pass the budget"));
          continue;
        }
      }
      if (!flight.prefix.empty()) cold_.insert(flight.prefix);
      flights_.emplace(index, std::move(flight));
      ++progress_.in_flight;
      if (options_.on_progress) options_.on_progress(progress_);
      return Next::request;
    }
    return todo_.empty() || cancelled() ? Next::end : Next::wait;
  }

  /// A prompt cache is filled by one request; its copies wait for that.
  bool must_wait_for_prefix(const Question& question, Flight& flight) {
    const auto* http = dynamic_cast<const HttpProvider*>(&from_);
    if (http == nullptr || !http->caches_prefix() || question.system.empty()) return false;
    const std::string prefix = storage::sha256(question.system);
    if (warm_.contains(prefix)) return false;
    if (cold_.contains(prefix)) return true;
    flight.prefix = prefix;
    return false;
  }

  void ask_over_http(const HttpProvider& wire) {
    std::optional<std::string> key;  // read only once something has to be asked
    http::ClientOptions client_options = options_.client;
    client_options.retryable = [&](const http::Response& r) { return wire.retryable(r); };
    client_options.rates = {config_.requests_per_minute, config_.tokens_per_minute};
    http::Client client(std::move(client_options));
    client.fetch_from(
        [&](size_t& index, http::Request& request) {
          Question question;
          const Next found = next(index, question);
          if (found != Next::request) return found;
          if (!key) {
            key = api_key(config_);
            redactor_ = Redactor(*key);
          }
          request.method = "POST";
          request.url = wire.url(config_);
          request.headers = wire.headers(config_, *key);
          request.timeouts = options_.timeouts;
          const Json body = wire.request_body(config_, question);
          request.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
          if (body.value("stream", false)) request.timeouts.idle = std::chrono::seconds(120);
          const int most = question.max_tokens.value_or(config_.max_tokens);
          request.tokens = static_cast<double>(request.body.size()) / 4 + most;
          return found;
        },
        static_cast<size_t>(std::max(1, options_.in_flight)),
        [&](size_t index, const http::Response& response) {
          land(index, wire.read(config_, response));
        });
  }

  void ask_directly(const DirectProvider& direct) {
    std::mutex mutex;
    std::condition_variable ended;
    std::queue<std::pair<size_t, Answer>> answers;
    std::map<size_t, std::jthread> threads;  // last, so that it is joined first
    const auto most = static_cast<size_t>(std::max(1, options_.in_flight));
    while (true) {
      Next found = Next::wait;
      while (threads.size() < most) {
        size_t index = 0;
        Question question;
        found = next(index, question);
        if (found != Next::request) break;
        threads.emplace(index, [&, index, asked = std::move(question)] {
          Answer a = direct.answer(config_, asked);
          const std::lock_guard hold(mutex);
          answers.emplace(index, std::move(a));
          ended.notify_one();
        });
      }
      if (threads.empty() && found == Next::end) return;
      std::unique_lock hold(mutex);
      ended.wait_for(hold, std::chrono::milliseconds(50), [&] { return !answers.empty(); });
      while (!answers.empty()) {
        auto [index, a] = std::move(answers.front());
        answers.pop();
        hold.unlock();
        threads.erase(index);
        land(index, std::move(a));
        hold.lock();
      }
    }
  }

  /// An asked question's answer: redacted, priced, recorded.
  void land(size_t index, Answer a) {
    const auto node = flights_.extract(index);
    const Flight& flight = node.mapped();
    --progress_.in_flight;
    redactor_.apply(a);
    a.cost = cost_of(config_.price, a.usage);
    a.asked = storage::utc_now();
    if (flight.reserve) options_.budget->settle(*flight.reserve, a);
    if (!flight.prefix.empty()) {
      cold_.erase(flight.prefix);
      if (can_be_recorded(a)) warm_.insert(flight.prefix);
    }
    progress_.retries += static_cast<size_t>(std::max(0, a.attempts - 1));
    progress_.tokens += a.usage.input.value_or(0) + a.usage.output.value_or(0);
    progress_.cost += a.cost.value_or(0);
    try {
      if (options_.store != nullptr && can_be_recorded(a))
        a = options_.store->keep(flight.exchange, a);
    } catch (...) {
      options_.store->unlock(flight.exchange);
      throw;
    }
    if (options_.store != nullptr) options_.store->unlock(flight.exchange);
    finish(index, a);
  }

  void finish(size_t index, const Answer& a, bool recorded = false) {
    ++progress_.done;
    if (recorded) ++progress_.recorded;
    if (a.outcome == Outcome::infrastructure_error) ++progress_.errors;
    if (options_.on_answer) options_.on_answer(index, a);
    if (options_.on_progress) options_.on_progress(progress_);
  }

  const ModelConfig& config_;
  const std::function<Question(size_t)>& question_;
  const AskOptions& options_;
  const Provider& from_;
  Redactor redactor_{""};
  AskProgress progress_;
  std::deque<size_t> todo_;
  std::map<size_t, Flight> flights_;
  std::set<std::string> cold_, warm_;  ///< prefixes that are being cached, that are cached
};

}  // namespace

void ask_each(const ModelConfig& config, size_t count,
              const std::function<Question(size_t)>& question, const AskOptions& options) {
  Asking(config, count, question, options).run();
}

std::vector<Answer> ask(const ModelConfig& config, std::span<const Question> questions,
                        const AskOptions& options) {
  std::vector<Answer> answers(questions.size());
  AskOptions with_answers = options;
  with_answers.on_answer = [&](size_t i, const Answer& a) {
    answers[i] = a;
    if (options.on_answer) options.on_answer(i, a);
  };
  ask_each(
      config, questions.size(), [&](size_t i) { return questions[i]; }, with_answers);
  return answers;
}

std::vector<Answer> ask(const ModelConfig& config, std::span<const Question> questions,
                        int in_flight) {
  AskOptions options;
  options.in_flight = in_flight;
  return ask(config, questions, options);
}

}  // namespace hone::model
