#pragma once
#include <cstdint>

/// H100 SXM5 80 GB (GH100, compute capability 9.0), and the rates that the model divides by.
/// Sources: NVIDIA H100 Tensor Core GPU Architecture whitepaper (SMs, clocks, caches, FLOPS);
/// CUDA C++ Programming Guide, table of arithmetic throughput and table of compute capabilities
/// (results per clock and SM, limits); Luo et al. 2024, "Benchmarking and Dissecting the Nvidia
/// Hopper GPU Architecture" (latencies, L2 bandwidth, mma.sync's share of the peak).
namespace cudasim::h100 {

inline constexpr char kName[] = "NVIDIA H100 80GB HBM3 (cudasim)";
inline constexpr char kModelName[] = "model of H100 SXM5";

inline constexpr std::uint32_t kSms = 132;
inline constexpr std::uint32_t kWarpSize = 32;
inline constexpr std::uint32_t kSchedulers =
    4;  ///< per SM; each issues one warp instruction a clock
inline constexpr double kClockHz = 1.98e9;

// Limits.
inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
inline constexpr std::uint32_t kMaxThreadsPerSm = 2048;
inline constexpr std::uint32_t kMaxBlocksPerSm = 32;
inline constexpr std::uint32_t kMaxWarpsPerSm = 64;
inline constexpr std::uint32_t kRegistersPerSm = 65536;
inline constexpr std::uint32_t kRegistersPerBlock = 65536;
inline constexpr std::uint32_t kRegisterUnit = 256;  ///< registers are given to a warp in these
inline constexpr std::uint32_t kMaxRegistersPerThread = 255;
inline constexpr std::uint32_t kSharedPerSm = 233472;
inline constexpr std::uint32_t kL1AndSharedPerSm = 256 * 1024;
inline constexpr std::uint32_t kSharedReservedPerBlock = 1024;
inline constexpr std::uint32_t kSharedUnit = 128;
inline constexpr std::uint32_t kSharedPerBlock = 49152;        ///< without opting in
inline constexpr std::uint32_t kSharedPerBlockOptin = 232448;  ///< 227 KiB
inline constexpr std::uint32_t kMaxClusterPortable = 8;
inline constexpr std::uint32_t kMaxCluster = 16;
inline constexpr std::uint64_t kL2Bytes = 50ULL << 20;

// Warp instructions per clock and SM.
inline constexpr double kFp32 = 4;     ///< 128 lanes
inline constexpr double kFp64 = 2;     ///< 64
inline constexpr double kHalf = 4;     ///< 256 half results a clock, two a lane
inline constexpr double kInt = 2;      ///< 64
inline constexpr double kSfu = 0.5;    ///< 16
inline constexpr double kConvert = 2;  ///< 64
inline constexpr double kIssue = 4;
inline constexpr double kLdSt = 1;              ///< 32 lanes
inline constexpr double kShuffle = 1;           ///< 32
inline constexpr double kSharedWavefronts = 1;  ///< 128 bytes, all 32 banks
inline constexpr double kL1Sectors = 4;         ///< 128 bytes
inline constexpr double kL2SectorsPerSm = 2;    ///< 64 bytes between one SM and L2

/// Dense FP16/BF16 FLOP per clock and SM: 989.4 TFLOPS at 1.83 GHz on 132 SMs. TF32 has half of
/// that, FP64 a sixteenth, 8-bit types twice.
inline constexpr double kTensorFlops = 4096;
inline constexpr double kTensorClockHz = 1.83e9;
/// What mma.sync reaches of it; only wgmma reaches all.
inline constexpr double kMmaSyncShare = 0.62;

// Memory.
inline constexpr double kDramBytesPerSecond = 3.352e12;
inline constexpr double kL2BytesPerSecond = 4.5 * 1099511627776.0;
inline constexpr double kSectorBytes = 32;

// Latencies in clocks.
inline constexpr double kAluLatency = 4;
inline constexpr double kSharedLatency = 29;
inline constexpr double kL1Latency = 38;
inline constexpr double kL2Latency = 240;
inline constexpr double kDramLatency = 560;
inline constexpr double kBarrierLatency = 30;
/// Clocks between two atomics on one sector of L2: its slice takes one a clock.
inline constexpr double kAtomicClocks = 1;
/// Independent instructions and loads that one warp keeps in flight: a plain assumption.
inline constexpr double kInstructionParallelism = 2;
inline constexpr double kLoadParallelism = 4;

/// Fixed cost of a kernel launch as events see it.
inline constexpr double kLaunchSeconds = 2.0e-6;
/// Copies between host and device: PCIe 5.0 x16, and the fixed cost of one copy.
inline constexpr double kHostLinkBytesPerSecond = 55e9;
inline constexpr double kCopySeconds = 4.0e-6;

}  // namespace cudasim::h100
