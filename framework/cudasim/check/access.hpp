#pragma once

#include <cstdint>
#include <vector>

#include "cudasim/exec/machine.hpp"

namespace cudasim {

/// What an operation does to memory or to the order of accesses, read off its instruction.
struct Access {
  enum class Kind : std::uint8_t {
    none,
    load,         ///< by address
    store,        ///< by address
    atomic,       ///< atom, red
    frame_load,   ///< of the lane's own frame
    frame_store,  ///< likewise
    rows_load,    ///< ldmatrix: lanes give the addresses of rows
    rows_store,   ///< stmatrix
    tile_load,    ///< wmma.load
    tile_store,   ///< wmma.store
    copy_async,
    async_commit,
    async_wait,  ///< imm: groups that may be open; -1: none and uncommitted ones neither
    copy_bulk,
    bulk_commit,
    bulk_wait,
    barrier_word,      ///< mbarrier.*
    async_on_barrier,  ///< cp.async.mbarrier.arrive
    fence,
    warp_sync,
    exchange,      ///< shfl, vote, match, redux, elect
    other_memory,  ///< textures and surfaces
  };
  enum class Order : std::uint8_t { weak, is_volatile, relaxed, acquire, release, acq_rel };
  enum class Scope : std::uint8_t { cta, cluster, gpu };
  enum class Word : std::uint8_t { init, inval, arrive, expect, test, other };  ///< of barrier_word

  Kind kind = Kind::none;
  Space space = Space::generic;
  Order order = Order::weak;
  Scope scope = Scope::gpu;
  Word word = Word::other;
  bool reads = false, writes = false;
  bool window = false;     ///< addresses are of the shared window
  std::uint8_t bytes = 0;  ///< of an element
  std::uint8_t vector = 1;
  std::uint8_t wide = 0;     ///< bytes of a lane's register
  std::uint8_t rows = 0;     ///< 8 x 8 matrices of ldmatrix
  std::int64_t pending = 0;  ///< async_wait
  unsigned total() const { return unsigned{bytes} * vector; }
};

/// What the operation at `index` does; `none` for helpers and arithmetic.
Access access_of(const Program& program, std::size_t index);

/// How the addresses of a full warp lie; `scattered` for the others.
enum class Pattern : std::uint8_t { scattered, uniform, consecutive };
Pattern pattern_of(const std::uint64_t* addresses, std::uint32_t mask, unsigned bytes);

/// The lanes' addresses of an access that follows ld/st's convention (r4, imm, aux bit 0).
void lane_addresses(const std::uint8_t* r, const Op& op, std::uint64_t* addresses);

}  // namespace cudasim
