#include "cudasim/exec/traffic.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace cudasim {
namespace {

constexpr std::uint64_t kL2Sectors = (50ULL << 20) / 32;
constexpr std::uint64_t kMostPhases = 16;

/// The maps of one region, by phase.
using Maps = std::vector<std::vector<const SectorMap*>>;

struct Word {
  std::uint64_t read = 0, written = 0;
};
Word word_of(const std::vector<const SectorMap*>& maps, std::uint64_t i) {
  Word w;
  for (const SectorMap* m : maps) {
    w.read |= m->read[i];
    w.written |= m->written[i];
  }
  return w;
}
std::uint64_t words_of(const Maps& maps) {
  std::uint64_t words = 0;
  for (const auto& phase : maps) {
    for (const SectorMap* m : phase) words = std::max(words, m->words);
  }
  return words;
}
std::uint64_t bits(std::uint64_t word) { return static_cast<std::uint64_t>(std::popcount(word)); }

std::uint64_t hottest(const Maps& maps) {
  std::uint64_t first = ~std::uint64_t{0}, last = 0, most = 0;
  for (const auto& phase : maps) {
    for (const SectorMap* m : phase) {
      first = std::min(first, m->first_pass);
      last = std::max(last, m->last_pass);
    }
  }
  for (std::uint64_t s = first; s <= last && first <= last; ++s) {
    std::uint64_t passes = 0;
    for (const auto& phase : maps) {
      for (const SectorMap* m : phase) {
        if (m->passes != nullptr) passes += m->passes[s];
      }
    }
    most = std::max(most, passes);
  }
  return most;
}

}  // namespace

std::uint32_t count_phases(const LaunchState& launch) {
  if (launch.memory->live_bytes() <= kL2Sectors * 32) return 1;
  const std::uint64_t blocks = launch.config->grid.count(),
                      resident = std::max<std::uint64_t>(1, launch.config->resident_blocks);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>((blocks + resident - 1) / resident, 1, kMostPhases));
}

std::uint32_t phase_of(const LaunchState& launch, std::uint64_t block) {
  if (launch.phases == 1) return 0;
  const std::uint64_t resident = std::max<std::uint64_t>(1, launch.config->resident_blocks),
                      waves = (launch.config->grid.count() + resident - 1) / resident;
  return static_cast<std::uint32_t>(block / resident * launch.phases / waves);
}

void count_traffic(const std::vector<Worker*>& workers, std::uint32_t phases, Counters& c) {
  std::map<std::uint64_t, Maps> regions;
  for (const Worker* w : workers) {
    for (const auto& [key, map] : w->sectors) {
      Maps& maps = regions.try_emplace(key.second, phases).first->second;
      maps[key.first].push_back(&map);
    }
  }
  std::vector<std::uint64_t> touched(phases);  // sectors of each phase
  for (const auto& [base, maps] : regions) {
    const std::uint64_t words = words_of(maps);
    for (std::uint64_t i = 0; i < words; ++i) {
      Word all;
      for (std::uint32_t p = 0; p < phases; ++p) {
        const Word w = word_of(maps[p], i);
        touched[p] += bits(w.read | w.written);
        all.read |= w.read;
        all.written |= w.written;
      }
      c.distinct_sectors_read += bits(all.read);
      c.distinct_sectors_written += bits(all.written);
    }
    c.hottest_atomic_passes = std::max(c.hottest_atomic_passes, hottest(maps));
  }
  if (std::accumulate(touched.begin(), touched.end(), std::uint64_t{0}) <= kL2Sectors) {
    c.dram_read_sectors = c.distinct_sectors_read;
    c.dram_write_sectors = c.distinct_sectors_written;
    return;
  }
  // held[p]: the first earlier phase whose sectors are still in L2 when phase p begins.
  std::vector<std::uint32_t> held(phases);
  for (std::uint32_t p = 0; p < phases; ++p) {
    held[p] = p;
    for (std::uint64_t sum = 0; held[p] > 0; --held[p]) {
      sum += touched[held[p] - 1];
      if (sum > kL2Sectors) break;
    }
  }
  std::vector<Word> word(phases);
  for (const auto& [base, maps] : regions) {
    const std::uint64_t words = words_of(maps);
    for (std::uint64_t i = 0; i < words; ++i) {
      for (std::uint32_t p = 0; p < phases; ++p) {
        word[p] = word_of(maps[p], i);
        Word recent;
        for (std::uint32_t q = held[p]; q < p; ++q) {
          recent.read |= word[q].read | word[q].written;
          recent.written |= word[q].written;
        }
        c.dram_read_sectors += bits(word[p].read & ~recent.read);
        c.dram_write_sectors += bits(word[p].written & ~recent.written);
      }
    }
  }
}

}  // namespace cudasim
