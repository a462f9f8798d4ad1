#include "check.hpp"

using Handle = cudaGraphConditionalHandle;

__global__ void decide(Handle handle, const unsigned* value) {
  cudaGraphSetConditional(handle, *value);
}
__global__ void add(unsigned* x, unsigned by) { *x += by; }
__global__ void count_down(Handle handle, unsigned* left, unsigned* turns) {
  ++*turns;
  cudaGraphSetConditional(handle, --*left);
}

struct Conditional {
  cudaGraphNode_t node = nullptr;
  cudaGraph_t* bodies = nullptr;
};
Conditional conditional(cudaGraph_t graph, const cudaGraphNode_t* after, Handle handle,
                        cudaGraphConditionalNodeType type, unsigned size) {
  cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = size;
  Conditional made;
  OK(cudaGraphAddNode(&made.node, graph, after, nullptr, after != nullptr, &params));
  made.bodies = params.conditional.phGraph_out;
  return made;
}

template <typename... Parameters, typename... Arguments>
cudaGraphNode_t kernel(cudaGraph_t graph, const cudaGraphNode_t* after,
                       void (*function)(Parameters...), Arguments... values) {
  void* arguments[] = {&values...};
  cudaKernelNodeParams params = {reinterpret_cast<void*>(function), 1, 1, 0, arguments, nullptr};
  cudaGraphNode_t node;
  OK(cudaGraphAddKernelNode(&node, graph, after, after != nullptr, &params));
  return node;
}

unsigned *x, *value;

/// Launches the graph with `value` set; gives what x became from 0.
unsigned run(cudaGraphExec_t exec, unsigned v) {
  *x = 0;
  *value = v;
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaDeviceSynchronize());
  return *x;
}

void branches(cudaGraphConditionalNodeType type, unsigned size, const unsigned (&expected)[4]) {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  Handle handle;
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  const auto first = kernel(graph, nullptr, decide, handle, value);
  const Conditional node = conditional(graph, &first, handle, type, size);
  for (unsigned i = 0; i < size; ++i) kernel(node.bodies[i], nullptr, add, x, 10 + i);
  kernel(graph, &node.node, add, x, 100u);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (unsigned v = 0; v < 4; ++v) CHECK(run(exec, v) == expected[v]);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

int main() {
  OK(cudaMallocManaged(&x, 4));
  OK(cudaMallocManaged(&value, 4));
  branches(cudaGraphCondTypeIf, 1, {100, 110, 110, 110});
  branches(cudaGraphCondTypeIf, 2, {111, 110, 110, 110});
  branches(cudaGraphCondTypeSwitch, 3, {110, 111, 112, 100});

  // A loop whose body was captured, with a branch in it; its condition starts at 1 at each launch.
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  Handle loop, nested;
  OK(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
  const Conditional outer = conditional(graph, nullptr, loop, cudaGraphCondTypeWhile, 1);
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCaptureToGraph(stream, outer.bodies[0], nullptr, nullptr, 0,
                                   cudaStreamCaptureModeGlobal));
  count_down<<<1, 1, 0, stream>>>(loop, value, x);
  OK(cudaStreamEndCapture(stream, nullptr));
  OK(cudaGraphConditionalHandleCreate(&nested, outer.bodies[0], 0, 0));
  std::size_t nodes = 1;
  cudaGraphNode_t counting;
  OK(cudaGraphGetNodes(outer.bodies[0], &counting, &nodes));
  CHECK(nodes == 1);
  const auto decision = kernel(outer.bodies[0], &counting, decide, nested, value);
  const Conditional inner = conditional(outer.bodies[0], &decision, nested, cudaGraphCondTypeIf, 1);
  const auto adding = kernel(inner.bodies[0], nullptr, add, x, 1000u);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(run(exec, 5) == 5 + 4 * 1000);  // not in the last turn
  CHECK(run(exec, 1) == 1);
  // A node of a body by its name in the graph that the executable one was made from.
  unsigned by = 2000;
  void* arguments[] = {&x, &by};
  cudaKernelNodeParams params = {reinterpret_cast<void*>(add), 1, 1, 0, arguments, nullptr};
  OK(cudaGraphExecKernelNodeSetParams(exec, adding, &params));
  CHECK(run(exec, 3) == 3 + 2 * 2000);
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(outer.node, &type));
  CHECK(type == cudaGraphNodeTypeConditional);

  // What is refused: a second node for a condition, sizes that a type hasn't, clones, a condition
  // that no node reads.
  cudaGraphNode_t node;
  cudaGraphNodeParams bad = {cudaGraphNodeTypeConditional};
  bad.conditional.handle = loop;
  bad.conditional.type = cudaGraphCondTypeWhile;
  bad.conditional.size = 1;
  CHECK_CODE(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &bad));
  cudaGraph_t other;
  CHECK(cudaGraphClone(&other, graph) != cudaSuccess);
  OK(cudaGraphCreate(&other, 0));
  Handle unused;
  OK(cudaGraphConditionalHandleCreate(&unused, other, 0, 0));
  bad.conditional.handle = unused;
  bad.conditional.size = 2;
  CHECK_CODE(cudaErrorInvalidValue, cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &bad));
  cudaGraphExec_t none;
  cudaGraphInstantiateParams instantiate = {};
  CHECK(cudaGraphInstantiateWithParams(&none, other, &instantiate) != cudaSuccess);
  CHECK(instantiate.result_out == cudaGraphInstantiateConditionalHandleUnused);
  (void)cudaGetLastError();
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(other));
  std::puts("passed");
}
