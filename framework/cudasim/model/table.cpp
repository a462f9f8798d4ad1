#include "cudasim/model/table.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "cudasim/model/h100.hpp"

namespace cudasim {
namespace {

constexpr std::size_t kNameWidth = 110;  // names of templates go on for ever
constexpr std::size_t kBarWidth = 30;
constexpr double kLeastShare = 0.5;  ///< per cent; less isn't shown

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(line, sizeof line, pattern, arguments);
  va_end(arguments);
  return line;
}

double number(std::uint64_t count) { return static_cast<double>(count); }
double ratio(double a, double b) { return b > 0 ? a / b : 0; }
double ratio(std::uint64_t a, std::uint64_t b) { return ratio(number(a), number(b)); }

std::string scaled(double value, const char* unit) {
  const char* prefixes[] = {"", "K", "M", "G", "T", "P"};
  std::size_t i = 0;
  for (; value >= 1000 && i + 1 < std::size(prefixes); ++i) value /= 1000;
  const bool bare = i == 0 && *unit == '\0';
  return format(i == 0 ? "%.0f" : "%.2f", value) + (bare ? "" : " ") + prefixes[i] + unit;
}
std::string count(std::uint64_t n) { return scaled(number(n), ""); }
std::string bytes(std::uint64_t n) { return scaled(number(n), "B"); }
std::string time(double seconds) {
  return seconds < 1e-3 ? format("%.2f us", seconds * 1e6) : format("%.3f ms", seconds * 1e3);
}

class Text {
 public:
  explicit Text(bool colours) : colours_(colours) {}

  void heading(const std::string& text) { out += paint("1", text) + "\n"; }
  void row(const char* label, const std::string& value) {
    out += format("  %-20s", label) + value + "\n";
  }
  /// A row of a group that is shown only when it was used.
  void access(const char* label, std::uint64_t requests, const std::string& detail) {
    if (requests != 0) row(label, format("%10s requests   ", count(requests).c_str()) + detail);
  }
  void bar(const char* label, double percent, bool limits) {
    const auto filled =
        std::min(kBarWidth, static_cast<std::size_t>(percent / 100 * kBarWidth + 0.5));
    const std::string marks = std::string(filled, '#') + std::string(kBarWidth - filled, '.');
    out += format("    %-10s", label) + paint(limits ? "1;33" : "36", marks) +
           format(" %5.1f %%", percent) + "\n";
  }
  std::string paint(const char* code, const std::string& text) const {
    return colours_ ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
  }
  std::string out;

 private:
  bool colours_;
};

void speed_of_light(Text& t, const KernelSummary& k) {
  t.row("Model bound", t.paint("1;33", time(k.seconds)) + " in " + count(k.counters.launches) +
                           (k.counters.launches == 1 ? " launch" : " launches") + ", limited by " +
                           t.paint("1;33", k.limiter));
  t.out += "  Share of the bound\n";
  std::vector<BoundTerm> terms = k.terms;
  std::ranges::stable_sort(terms, std::ranges::greater{}, &BoundTerm::seconds);
  for (const BoundTerm& term : terms) {
    const double percent = 100 * ratio(term.seconds, k.seconds);
    if (percent >= kLeastShare) t.bar(term.name, percent, term.name == k.limiter);
  }
}

void launch_facts(Text& t, const KernelSummary& k) {
  t.row("Launch", format("grid %ux%ux%u, block %ux%ux%u, %.2f waves", k.grid.x, k.grid.y, k.grid.z,
                         k.block.x, k.block.y, k.block.z, k.waves) +
                      (k.tail < 1 ? format(" (%.0f %% used with the tail)", 100 * k.tail) : ""));
  t.row("Occupancy",
        format("%.0f %%, %u warps in %u blocks an SM, limited by %.*s", 100 * k.occupancy.fraction,
               k.occupancy.warps_per_sm, k.occupancy.blocks_per_sm,
               static_cast<int>(k.occupancy.limiter.size()), k.occupancy.limiter.data()));
  t.row("Takes", format("%u registers and %u B local a thread, %u + %u B shared a block",
                        k.registers, k.local_bytes, k.static_shared, k.dynamic_shared));
}

void instructions(Text& t, const Counters& c) {
  t.row("Instructions",
        format("%s warp, %s thread, %.1f lanes each, %s of %s branches diverge",
               count(c.warp_instructions).c_str(), count(c.thread_instructions).c_str(),
               ratio(c.thread_instructions, c.warp_instructions),
               count(c.divergent_branches).c_str(), count(c.branches).c_str()));
  const std::pair<const char*, std::uint64_t> classes[] = {
      {"FP32", c.warp_fp32},       {"FP64", c.warp_fp64},       {"half", c.warp_half},
      {"tensor", c.warp_tensor},   {"INT", c.warp_int},         {"SFU", c.warp_sfu},
      {"convert", c.warp_convert}, {"move", c.warp_move},       {"control", c.warp_control},
      {"load", c.warp_load},       {"store", c.warp_store},     {"atomic", c.warp_atomic},
      {"sync", c.warp_sync},       {"shuffle", c.warp_shuffle}, {"texture", c.warp_texture},
      {"other", c.warp_other}};
  std::string text;
  for (const auto& [name, n] : classes) {
    const double percent = 100 * ratio(n, c.warp_instructions);
    if (percent >= kLeastShare)
      text += format("%s%s %.0f %%", text.empty() ? "" : ", ", name, percent);
  }
  t.row("", text);
  text.clear();
  const std::pair<const char*, std::uint64_t> work[] = {{"FP32", c.flops_fp32},
                                                        {"FP64", c.flops_fp64},
                                                        {"half", c.flops_half},
                                                        {"tensor", c.flops_tensor},
                                                        {"tensor integer", c.ops_tensor_int}};
  for (const auto& [name, n] : work) {
    if (n != 0) text += (text.empty() ? "" : ", ") + count(n) + " " + name;
  }
  if (!text.empty()) t.row("FLOP", text);
}

void memory(Text& t, const Counters& c) {
  const auto sectors = [](std::uint64_t n, std::uint64_t requests, std::uint64_t asked) {
    return format("%6.2f sectors each   %s moved, %.0f %% asked for", ratio(n, requests),
                  bytes(32 * n).c_str(), 100 * ratio(number(asked), 32 * number(n)));
  };
  const auto passes = [](std::uint64_t n, std::uint64_t requests, std::uint64_t asked) {
    return format("%6.2f passes each   %s asked for", ratio(n, requests), bytes(asked).c_str());
  };
  t.access("Global loads", c.global_load_requests,
           sectors(c.global_load_sectors, c.global_load_requests, c.global_load_bytes));
  t.access("Global stores", c.global_store_requests,
           sectors(c.global_store_sectors, c.global_store_requests, c.global_store_bytes));
  t.access("Global atomics", c.global_atomic_requests,
           format("%6.2f turns each   the hottest sector serves %s",
                  ratio(c.global_atomic_passes, c.global_atomic_requests),
                  count(c.hottest_atomic_passes).c_str()));
  t.access("Local loads", c.local_load_requests,
           sectors(c.local_load_sectors, c.local_load_requests, c.local_load_bytes));
  t.access("Local stores", c.local_store_requests,
           sectors(c.local_store_sectors, c.local_store_requests, c.local_store_bytes));
  t.access("Shared loads", c.shared_load_requests,
           passes(c.shared_load_wavefronts, c.shared_load_requests, c.shared_load_bytes));
  t.access("Shared stores", c.shared_store_requests,
           passes(c.shared_store_wavefronts, c.shared_store_requests, c.shared_store_bytes));
  t.access("Shared atomics", c.shared_atomic_requests,
           format("%6.2f turns each", ratio(c.shared_atomic_wavefronts, c.shared_atomic_requests)));
  if (c.l2_sectors() != 0) {
    t.row("Caches",
          format("L1 holds %.0f %% of the loads' sectors, %s through L2, %s through DRAM",
                 100 * ratio(c.l1_hit_sectors + c.local_l1_hit_sectors,
                             c.global_load_sectors + c.local_load_sectors + c.local_store_sectors),
                 bytes(32 * c.l2_sectors()).c_str(), bytes(c.dram_bytes()).c_str()));
  }
  if (c.barriers != 0) t.row("Barriers", format("%.1f a warp", ratio(c.barriers, c.warps)));
}

}  // namespace

std::string table(const std::vector<KernelSummary>& kernels, bool colours) {
  Text t(colours);
  t.out = "cudasim: model bounds on the " + std::string(h100::kModelName) +
          " from exact counts; no time here was measured\n";
  for (const KernelSummary& k : kernels) {
    t.out += "\n";
    t.heading(k.name.substr(0, kNameWidth) + (k.name.size() > kNameWidth ? " …" : ""));
    speed_of_light(t, k);
    launch_facts(t, k);
    instructions(t, k.counters);
    memory(t, k.counters);
  }
  if (kernels.empty()) t.out += "  no kernel was launched\n";
  return t.out;
}

}  // namespace cudasim
