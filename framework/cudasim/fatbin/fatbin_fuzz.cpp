// libFuzzer target: any bytes as a fatbin, each entry unpacked and each cubin read.
#include "cudasim/fatbin/cubin.hpp"
#include "cudasim/fatbin/fatbin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cudasim;
  const Fatbin fatbin = read_fatbin({reinterpret_cast<const std::byte*>(data), size});
  choose_ptx(fatbin);
  for (const FatbinEntry& entry : fatbin.entries) {
    const Unpacked unpacked = unpack(entry);
    if (entry.kind == FatbinEntry::Kind::cubin)
      read_cubin(std::as_bytes(std::span(unpacked.bytes)));
  }
  return 0;
}
