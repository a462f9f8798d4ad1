#pragma once
#include <cstdint>

namespace cudasim {

/// Ends the sharing of an allocation that is about to be freed; its address is private again.
void end_sharing(std::uint64_t base);
/// The same for all, before a reset.
void end_all_sharing();
/// Whether it is memory of another process, which only cudaIpcCloseMemHandle gives back.
bool opened_from_elsewhere(std::uint64_t base);

}  // namespace cudasim
