#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <iostream>

namespace hone::cli {
namespace {

std::atomic<bool> interrupt_seen{false};

}  // namespace

Progress::Progress(bool quiet)
    : quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

void Progress::show(const model::AskProgress& p) {
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  if (p.done <= 1) start_ = now;
  // Between an answer and the next request nothing is in flight, for a moment.
  if (p.in_flight == 0 && p.done < p.total && p.recorded < p.done &&
      now - last_ < std::chrono::seconds(20))
    return;
  const auto pause = std::chrono::milliseconds(terminal_ ? 100 : 10'000);
  if (now - last_ < pause && !(terminal_ && p.done == p.total)) return;
  last_ = now;
  const std::string line = progress_line(p, std::chrono::duration<double>(now - start_).count());
  std::cerr << (terminal_ ? "\r\x1b[K" : "") << line << (terminal_ ? "" : "\n") << std::flush;
  shown_ = terminal_;
}

void Progress::clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

std::string progress_line(const model::AskProgress& p, double seconds) {
  std::string line = fmt::format("{}/{} done, {} in flight", p.done, p.total, p.in_flight);
  const double rate = seconds > 0 ? static_cast<double>(p.done) / seconds : 0;
  if (rate > 0) line += fmt::format(", {:.1f}/s", rate);
  line += fmt::format(", {} tokens", p.tokens);
  if (p.cost > 0) line += fmt::format(", ${:.4f}", p.cost);
  if (p.recorded > 0) line += fmt::format(", {} on record", p.recorded);
  if (p.errors > 0) line += fmt::format(", {} errors", p.errors);
  if (p.retries > 0) line += fmt::format(", {} retries", p.retries);
  if (rate > 0 && p.done < p.total)
    line += fmt::format(", about {:.0f} s left", static_cast<double>(p.total - p.done) / rate);
  return line;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_seen; }

}  // namespace hone::cli
