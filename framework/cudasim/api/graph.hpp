#pragma once
#include <memory>

#include "cudasim/api/work.hpp"

namespace cudasim {

/// Ownership of memory that a graph's allocation node placed: freed with the last graph or
/// executable graph that knows it, unless the program freed it before.
std::shared_ptr<void> graph_memory(void* pointer);

/// Makes a graph known under its handle.
cudaGraph_t publish_graph(std::shared_ptr<CUgraph_st> graph);

}  // namespace cudasim
