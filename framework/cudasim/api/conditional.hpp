#pragma once
#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "cudasim/api/work.hpp"

namespace cudasim {

/// What cudaGraphConditionalHandleCreate made: a value that kernels set and a graph's node reads.
struct Condition {
  unsigned value = 0, initial = 0;
  bool assign = false;  ///< takes `initial` at each launch of the graph
  bool used = false;    ///< by a node
};
/// The condition behind a handle; null when there is none. Its address stays.
Condition* find_condition(cudaGraphConditionalHandle handle);
/// A kernel sets the value; false when the handle is of no condition.
bool set_condition(cudaGraphConditionalHandle handle, unsigned value);

/// Runs one of its graphs, or one over and over, by the condition's value.
struct ConditionalWork final : Work {
  cudaGraphConditionalHandle handle = 0;
  cudaGraphConditionalNodeType kind = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<CUgraph_st>> bodies;
  std::vector<cudaGraph_t> handles;  ///< of the bodies, as phGraph_out shows them

  cudaGraphNodeType type() const override { return cudaGraphNodeTypeConditional; }
  cudaError_t run(Runtime& runtime, struct CUstream_st& stream, double& seconds) override;
  std::unique_ptr<Work> clone() const override;
};

/// A node's work as the program describes it; fills in phGraph_out.
cudaError_t conditional_work(cudaConditionalNodeParams& params, std::unique_ptr<Work>& out);
/// Whether the graph, its bodies included, has a conditional node.
bool has_conditions(const CUgraph_st& graph);
/// Whether all conditions of the graph and its bodies are used by nodes.
bool conditions_used(const CUgraph_st& graph);
/// A launch of the graph begins: gives its conditions their initial values.
void assign_conditions(const CUgraph_st& graph);

}  // namespace cudasim
