#pragma once
#include <memory>

#include "cudasim/api/work.hpp"

namespace cudasim {

/// Ownership of memory that a graph's allocation node placed: freed with the last graph or
/// executable graph that knows it.
std::shared_ptr<void> graph_memory(void* pointer);
/// Whether a graph still owns the allocation that starts there. Freeing it outside of the graph
/// ends its use, but the next launch places it at the same address again.
bool graph_owns(std::uint64_t address);

/// Makes a graph known under its handle.
cudaGraph_t publish_graph(std::shared_ptr<CUgraph_st> graph);

}  // namespace cudasim
