#include "cudasim/model/bound.hpp"

#include <algorithm>
#include <cmath>

#include "cudasim/model/h100.hpp"

namespace cudasim {
namespace {

/// Clocks that one warp alone takes from its start to its end.
double warp_clocks(const Counters& c) {
  const double warps = std::max<double>(1, static_cast<double>(c.warps));
  const auto per_warp = [&](std::uint64_t count) { return static_cast<double>(count) / warps; };
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const auto share = [&](std::uint64_t part, std::uint64_t whole) {
    return std::min(1.0, ratio(part, whole));
  };
  // Of n loads some are in flight together, but the first always waits its whole latency.
  const auto exposed = [](double n) {
    return n <= 1 ? n : std::max(1.0, n / h100::kLoadParallelism);
  };
  const double l1 = share(c.l1_hit_sectors, c.global_load_sectors),
               dram = share(c.dram_read_sectors, c.global_load_sectors - c.l1_hit_sectors),
               below = dram * h100::kDramLatency + (1 - dram) * h100::kL2Latency,
               load = l1 * h100::kL1Latency + (1 - l1) * below;
  // A wait for cp.async takes a latency, which the groups in flight share.
  const double depth = 1 + ratio(c.async_groups_left, c.async_waits);
  const double local = share(c.local_l1_hit_sectors, c.local_load_sectors + c.local_store_sectors);
  const std::uint64_t with_result = c.global_atomic_lanes == 0
                                        ? 0
                                        : c.global_atomic_requests *
                                              (c.global_atomic_lanes - c.global_reduction_lanes) /
                                              c.global_atomic_lanes;
  return per_warp(c.warp_instructions - std::min(c.warp_move, c.warp_instructions)) *
             h100::kAluLatency / h100::kInstructionParallelism +
         exposed(per_warp(c.global_load_requests - c.async_copy_requests)) * load +
         per_warp(c.async_waits) / depth * below +
         exposed(per_warp(c.local_load_requests)) *
             (local * h100::kL1Latency + (1 - local) * h100::kL2Latency) +
         exposed(per_warp(with_result)) * h100::kL2Latency +
         exposed(per_warp(c.shared_load_requests + c.shared_atomic_requests)) *
             h100::kSharedLatency +
         per_warp(c.barriers) * h100::kBarrierLatency;
}

}  // namespace

Bound bound(const Counters& c, const BlockNeeds& needs) {
  Bound result;
  result.occupancy = occupancy(needs);
  const double blocks = std::max<double>(1, static_cast<double>(c.blocks));
  const double launches = std::max<double>(1, static_cast<double>(c.launches));
  const double blocks_per_launch = blocks / launches;
  // The busiest SM does ceil(blocks/132) of the blocks.
  const double busiest = std::ceil(blocks_per_launch / h100::kSms) / blocks_per_launch;
  const auto pipe = [&](std::uint64_t count, double rate) {
    return static_cast<double>(count) / rate * busiest / h100::kClockHz;
  };
  auto& terms = result.terms;
  terms.push_back({"FP32", pipe(c.warp_fp32, h100::kFp32)});
  terms.push_back({"FP64", pipe(c.warp_fp64, h100::kFp64)});
  terms.push_back({"half", pipe(c.warp_half, h100::kHalf)});
  terms.push_back(
      {"tensor", static_cast<double>(c.tensor_work) * busiest /
                     (h100::kTensorFlops * h100::kMmaSyncShare * h100::kTensorClockHz)});
  terms.push_back({"INT", pipe(c.warp_int, h100::kInt)});
  terms.push_back({"SFU", pipe(c.warp_sfu, h100::kSfu)});
  terms.push_back({"convert", pipe(c.warp_convert, h100::kConvert)});
  terms.push_back({"issue", pipe(c.warp_instructions - std::min(c.warp_move, c.warp_instructions),
                                 h100::kIssue)});
  const std::uint64_t shared_requests =
      c.shared_load_requests + c.shared_store_requests + c.shared_atomic_requests;
  terms.push_back(
      {"ld/st", pipe(c.global_load_requests + c.global_store_requests + c.global_atomic_requests +
                         c.local_load_requests + c.local_store_requests + shared_requests,
                     h100::kLdSt)});
  terms.push_back({"shuffle", pipe(c.warp_shuffle, h100::kShuffle)});
  terms.push_back({"shared", pipe(c.shared_load_wavefronts + c.shared_store_wavefronts +
                                      c.shared_atomic_wavefronts,
                                  h100::kSharedWavefronts)});
  const std::uint64_t local = c.local_load_sectors + c.local_store_sectors;
  terms.push_back(
      {"L1", pipe(c.global_load_sectors + c.global_store_sectors + local, h100::kL1Sectors)});
  terms.push_back({"L2", std::max(static_cast<double>(c.l2_sectors()) * h100::kSectorBytes /
                                      h100::kL2BytesPerSecond,
                                  pipe(c.l2_sectors(), h100::kL2SectorsPerSm))});
  terms.push_back({"atomic", static_cast<double>(c.hottest_atomic_passes) * h100::kAtomicClocks /
                                 h100::kClockHz});
  terms.push_back({"DRAM", static_cast<double>(c.dram_bytes()) / h100::kDramBytesPerSecond});

  const double resident =
      std::max<double>(1, static_cast<double>(result.occupancy.blocks_per_sm) * h100::kSms);
  result.waves = blocks_per_launch / resident;
  result.tail = result.waves / std::ceil(result.waves);
  terms.push_back(
      {"latency", launches * std::ceil(result.waves) * warp_clocks(c) / h100::kClockHz});

  const auto& largest = *std::ranges::max_element(terms, {}, &BoundTerm::seconds);
  const double launch = launches * h100::kLaunchSeconds;
  result.limiter = launch > largest.seconds ? "launch" : largest.name;
  result.seconds = launch + largest.seconds;
  terms.push_back({"launch", launch});
  return result;
}

double copy_bound(std::uint64_t bytes, bool over_host_link) {
  const auto n = static_cast<double>(bytes);
  return over_host_link ? h100::kCopySeconds + n / h100::kHostLinkBytesPerSecond
                        : h100::kLaunchSeconds + 2 * n / h100::kDramBytesPerSecond;
}

double fill_bound(std::uint64_t bytes) {
  return h100::kLaunchSeconds + static_cast<double>(bytes) / h100::kDramBytesPerSecond;
}

}  // namespace cudasim
