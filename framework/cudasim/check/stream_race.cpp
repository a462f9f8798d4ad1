#include "cudasim/check/stream_race.hpp"

#include <bit>

namespace cudasim {
namespace {

/// The bytes of a segment that were touched, a bit each.
struct Bytes {
  std::uint64_t reads = 0, writes = 0, atomics = 0;
  std::uint64_t soft = 0;  ///< read with an order: disturbed by plain writes alone
  std::uint64_t all() const { return reads | writes | atomics | soft; }
};

/// Calls visit(record, its bytes) for the records of a segment.
template <typename Visit>
void each_record(const Segment& s, Visit&& visit) {
  if (s.fine == 0) {
    for (unsigned k = 0; k < 3; ++k) {
      const Trace& r = s.slots[k];
      const unsigned width = 1u << (s.shapes[k] >> 5), first = s.shapes[k] & 31u;
      std::uint64_t bytes = 0;
      for (std::uint32_t left = r.where != 0 ? r.lanes : 0; left != 0; left &= left - 1) {
        const unsigned at = (static_cast<unsigned>(std::countr_zero(left)) - first) * width;
        if (at < Segment::kBytes) bytes |= ((std::uint64_t{1} << width) - 1) << at;
      }
      if (bytes != 0) visit(r, bytes);
    }
    return;
  }
  for (unsigned i = 0; i < Segment::kBytes / s.fine; ++i) {
    for (const Trace& r : s.cells[i].slots) {
      if (r.where != 0) visit(r, ((std::uint64_t{1} << s.fine) - 1) << (i * s.fine));
    }
  }
}

void add(Bytes& to, Touch touch, std::uint64_t bytes) {
  switch (touch) {
    case Touch::none:
      break;
    case Touch::read:
      to.reads |= bytes;
      break;
    case Touch::write:
    case Touch::copy_async:
    case Touch::copy_bulk:
      to.writes |= bytes;
      break;
    case Touch::atomic_read:
    case Touch::volatile_read:
      to.soft |= bytes;
      break;
    case Touch::atomic:
    case Touch::atomic_cta:
    case Touch::volatile_write:
      to.atomics |= bytes;
      break;
  }
}
Bytes bytes_of(const Segment& s) {
  Bytes bytes;
  each_record(s, [&](const Trace& r, std::uint64_t which) { add(bytes, r.touch(), which); });
  return bytes;
}
std::uint64_t conflicts(const Bytes& a, const Bytes& b) {
  return (a.writes & b.all()) | (b.writes & a.all()) | (a.atomics & b.reads) |
         (b.atomics & a.reads);
}

std::string name_of(Touch t) {
  switch (t) {
    case Touch::read:
    case Touch::volatile_read:
    case Touch::atomic_read:
      return "read";
    case Touch::atomic:
    case Touch::atomic_cta:
      return "atomic";
    default:
      return "write";
  }
}

/// A record that covers a byte of the segment; one that writes where there is one and `wanted`.
Trace record_at(const Segment& s, unsigned byte, bool wanted) {
  Trace found;
  each_record(s, [&](const Trace& r, std::uint64_t bytes) {
    if ((bytes >> byte & 1) == 0) return;
    if (found.where == 0 || (name_of(r.touch()) != "read") == wanted) found = r;
  });
  return found;
}

Place place_of(const StreamParty& party, const Trace& r) {
  return place_in(*party.program, party.grid, party.block, r.block, r.warp(),
                  static_cast<unsigned>(std::countr_zero(r.lanes)), r.pc(), name_of(r.touch()));
}

constexpr char kAdvice[] =
    " of different streams, unordered: an event that one records and the other waits for orders "
    "them, or a wait of the host";

Finding finding_at(const StreamParty& party, std::uint64_t address) {
  Finding f;
  f.check = Check::racecheck;
  f.kind = "race";
  f.address = address;
  f.space = "global";
  f.allocation = party.memory->locate(address).text();
  return f;
}

/// Kernel against kernel.
void compare(const StreamParty& now, RaceShadow& mine, const StreamParty& then, RaceShadow& theirs,
             Findings& findings) {
  for (std::uint64_t at = mine.base(); at < mine.base() + mine.bytes(); at += Segment::kBytes) {
    const Segment &a = *mine.at(at), &b = *theirs.at(at);
    const Bytes x = bytes_of(a);
    if (x.all() == 0) continue;
    const Bytes y = bytes_of(b);
    const std::uint64_t both = conflicts(x, y);
    if (both == 0) continue;
    const auto byte = static_cast<unsigned>(std::countr_zero(both));
    const bool written_now = ((x.writes | x.atomics) >> byte & 1) != 0;
    const Trace later = record_at(a, byte, written_now),
                earlier = record_at(b, byte, !written_now || (y.writes >> byte & 1) != 0);
    Finding f = finding_at(now, at + byte);
    f.kernel = now.program->kernel->name;
    f.message =
        name_of(later.touch()) + " after " + name_of(earlier.touch()) + " by kernels" + kAdvice;
    f.at = place_of(now, later);
    f.has_other = true;
    f.other = place_of(then, earlier);
    findings.add(std::move(f));
    return;
  }
}

/// A kernel against a copy or fill, whichever came first.
void compare(const StreamParty& kernel, RaceShadow& shadow, std::uint64_t begin, std::uint64_t end,
             bool write, bool kernel_first, Findings& findings) {
  Bytes copied;
  for (std::uint64_t at = begin & ~std::uint64_t{63}; at < end; at += Segment::kBytes) {
    if (at + Segment::kBytes <= shadow.base() || at >= shadow.base() + shadow.bytes()) continue;
    const std::uint64_t low = begin > at ? begin - at : 0,
                        high = end - at < Segment::kBytes ? end - at : Segment::kBytes;
    const std::uint64_t range =
        (high == Segment::kBytes ? ~std::uint64_t{0} : (std::uint64_t{1} << high) - 1) &
        ~((std::uint64_t{1} << low) - 1);
    (write ? copied.writes : copied.reads) = range;
    const Segment& s = *shadow.at(at);
    const std::uint64_t both = conflicts(bytes_of(s), copied);
    if (both == 0) continue;
    const auto byte = static_cast<unsigned>(std::countr_zero(both));
    const Trace r = record_at(s, byte, true);
    Finding f = finding_at(kernel, at + byte);
    f.kernel = kernel.program->kernel->name;
    const std::string host = write ? "a copy or fill that writes" : "a copy that reads";
    f.message = kernel_first ? host + " after a " + name_of(r.touch()) + " by a kernel,"
                             : name_of(r.touch()) + " by a kernel after " + host + ",";
    f.message += kAdvice;
    f.at = place_of(kernel, r);
    findings.add(std::move(f));
    return;
  }
}

bool ordered(const StreamParty& now, const StreamParty& then) {
  return now.order.number == 0 || then.order.number == 0 || now.order.stream == then.order.stream ||
         now.order.before.covers(then.order.stream, then.order.number);
}

}  // namespace

Place place_in(const Program& program, const Dim3& grid, const Dim3& block, std::uint64_t number,
               unsigned warp, unsigned lane, std::uint32_t pc, std::string access) {
  Place p;
  p.access = std::move(access);
  p.block = {static_cast<std::uint32_t>(number % grid.x),
             static_cast<std::uint32_t>(number / grid.x % grid.y),
             static_cast<std::uint32_t>(number / grid.x / grid.y)};
  const std::uint32_t t = warp * kWarpSize + lane;
  p.thread = {t % block.x, t / block.x % block.y, t / block.x / block.y};
  const OpInfo& info = program.info[pc];
  if (info.instruction == nullptr) return p;
  p.instruction = info.instruction->text;
  p.ptx_line = info.instruction->line;
  const auto& files = program.module->files;
  if (const auto file = files.find(info.instruction->source.file); file != files.end()) {
    p.file = file->second;
    p.line = info.instruction->source.line;
  }
  return p;
}

void StreamHistory::prune(const StreamOrder& now) {
  std::erase_if(past, [&](const Past& p) {
    return now.host.covers(p.party->order.stream, p.party->order.number);
  });
  if (past.size() >= kMost) past.erase(past.begin());
}

void find_stream_races(const StreamHistory& history, const StreamParty& party, RaceShadow& shadow,
                       Findings& findings) {
  for (const auto& p : history.past) {
    if (ordered(party, *p.party)) continue;
    if (p.shadow != nullptr)
      compare(party, shadow, *p.party, *p.shadow, findings);
    else
      compare(party, shadow, p.begin, p.end, p.write, false, findings);
  }
}

void find_stream_races(const StreamHistory& history, const StreamParty& party, std::uint64_t begin,
                       std::uint64_t end, bool write, Findings& findings) {
  for (const auto& p : history.past) {
    if (ordered(party, *p.party)) continue;
    if (p.shadow != nullptr) {
      compare(*p.party, *p.shadow, begin, end, write, true, findings);
    } else if ((write || p.write) && begin < p.end && p.begin < end) {
      Finding f = finding_at(party, std::max(begin, p.begin));
      f.message = std::string("copies or fills") + kAdvice;
      findings.add(std::move(f));
    }
  }
}

}  // namespace cudasim
