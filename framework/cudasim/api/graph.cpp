#include "cudasim/api/graph.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "cudasim/api/conditional.hpp"
#include "cudasim/api/copy.hpp"
#include "cudasim/api/kernel_launch.hpp"
#include "cudasim/api/runtime.hpp"

struct CUgraphExec_st {
  std::shared_ptr<CUgraph_st> graph;
  unsigned long long flags = 0;
};

namespace cudasim {
namespace {

std::map<cudaGraph_t, std::shared_ptr<CUgraph_st>>& graphs() {
  static auto* const all = new std::map<cudaGraph_t, std::shared_ptr<CUgraph_st>>;
  return *all;
}
std::map<cudaGraphExec_t, std::unique_ptr<CUgraphExec_st>>& executables() {
  static auto* const all = new std::map<cudaGraphExec_t, std::unique_ptr<CUgraphExec_st>>;
  return *all;
}

/// A graph by its handle: published, being captured, or a child.
bool live(cudaGraph_t graph) { return graph != nullptr; }

cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                std::size_t count, std::unique_ptr<Work> work) {
  if (out == nullptr || !live(graph) || (count != 0 && dependencies == nullptr)) {
    return cudaErrorInvalidValue;
  }
  std::vector<CUgraphNode_st*> on(dependencies, dependencies + count);
  for (const CUgraphNode_st* node : on) {
    if (node == nullptr || node->graph != graph) return cudaErrorInvalidValue;
  }
  *out = graph->add(std::move(work), std::move(on));
  return cudaSuccess;
}

cudaError_t kernel_work(Runtime& runtime, void* function, dim3 grid, dim3 block, unsigned shared,
                        void** arguments, std::unique_ptr<KernelWork>& out) {
  LaunchRequest request;
  request.function = function;
  request.grid = grid;
  request.block = block;
  request.shared = shared;
  request.arguments = arguments;
  return prepare(runtime, request, out);
}

cudaError_t fill_work(Runtime& runtime, const cudaMemsetParams& p, std::unique_ptr<Work>& out) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return cudaErrorInvalidValue;
  std::unique_ptr<FillWork> work;
  const cudaError_t error =
      plan_fill(runtime, p.dst, p.height > 1 ? p.pitch : p.width * p.elementSize, 0, p.value,
                p.elementSize, p.width * p.elementSize, p.height, 1, work);
  out = std::move(work);
  return error;
}

std::unique_ptr<Work> host_work(cudaHostFn_t function, void* data) {
  auto work = std::make_unique<HostWork>();
  work->asked = {function, data};
  work->body = [=] { function(data); };
  return work;
}

/// An empty copy or fill is planned as none: in a graph it still is a node.
std::unique_ptr<Work> or_empty(std::unique_ptr<Work> work) {
  return work != nullptr ? std::move(work) : std::make_unique<EmptyWork>();
}

template <typename T>
T* content(cudaGraphNode_t node) {
  return node == nullptr ? nullptr : dynamic_cast<T*>(node->work.get());
}

/// The node of that origin in the graph or in the bodies of its conditional nodes; null: none.
CUgraphNode_st* find_origin(const CUgraph_st& graph, std::uint64_t origin) {
  for (const auto& node : graph.nodes) {
    if (node->origin == origin) return node.get();
    if (const auto* work = content<ConditionalWork>(node.get())) {
      for (const auto& body : work->bodies) {
        if (auto* found = find_origin(*body, origin)) return found;
      }
    }
  }
  return nullptr;
}

/// The executable graph's twin of a node of the graph it was made from.
CUgraphNode_st* twin(cudaGraphExec_t exec, cudaGraphNode_t node) {
  if (!executables().contains(exec) || node == nullptr) return nullptr;
  return find_origin(*exec->graph, node->origin);
}

cudaError_t replace(cudaGraphExec_t exec, cudaGraphNode_t node, std::unique_ptr<Work> work) {
  CUgraphNode_st* target = twin(exec, node);
  if (target == nullptr) return cudaErrorInvalidValue;
  target->work = std::move(work);
  return cudaSuccess;
}

cudaError_t list(const std::vector<CUgraphNode_st*>& found, cudaGraphNode_t* out,
                 std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (out != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) out[i] = i < found.size() ? found[i] : nullptr;
    *count = std::min(*count, found.size());
  } else {
    *count = found.size();
  }
  return cudaSuccess;
}

std::vector<CUgraphNode_st*> dependents(const CUgraphNode_st* node) {
  std::vector<CUgraphNode_st*> result;
  for (const auto& other : node->graph->nodes) {
    if (std::ranges::find(other->dependencies, node) != other->dependencies.end()) {
      result.push_back(other.get());
    }
  }
  return result;
}

cudaError_t instantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  if (out == nullptr || !live(graph)) return cudaErrorInvalidValue;
  if (graph->order().size() != graph->nodes.size()) return cudaErrorInvalidValue;  // a cycle
  if (!conditions_used(*graph)) return cudaErrorInvalidValue;
  auto exec = std::make_unique<CUgraphExec_st>();
  exec->graph = graph->clone();
  exec->flags = flags;
  *out = exec.get();
  executables()[*out] = std::move(exec);
  return cudaSuccess;
}

struct GraphWork final : Work {
  std::shared_ptr<CUgraph_st> graph;
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeGraph; }
  cudaError_t run(Runtime& runtime, CUstream_st& stream, double& seconds) override {
    assign_conditions(*graph);
    return graph->run(runtime, stream, seconds);
  }
  std::unique_ptr<Work> clone() const override {
    auto copy = std::make_unique<ChildWork>();
    copy->graph = graph->clone();
    return copy;
  }
};

}  // namespace

namespace {
std::set<std::uint64_t>& owned_addresses() {
  static auto* const all = new std::set<std::uint64_t>;
  return *all;
}
}  // namespace

std::shared_ptr<void> graph_memory(void* pointer) {
  owned_addresses().insert(reinterpret_cast<std::uint64_t>(pointer));
  return {pointer, [](void* p) {
            owned_addresses().erase(reinterpret_cast<std::uint64_t>(p));
            Runtime::get().memory.free(reinterpret_cast<std::uint64_t>(p));
          }};
}

bool graph_owns(std::uint64_t address) { return owned_addresses().contains(address); }

cudaGraph_t publish_graph(std::shared_ptr<CUgraph_st> graph) {
  cudaGraph_t handle = graph.get();
  graphs()[handle] = std::move(graph);
  return handle;
}

}  // namespace cudasim

using namespace cudasim;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call([&](Runtime&) {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    *graph = publish_graph(std::make_shared<CUgraph_st>());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call(
      [&](Runtime&) { return graphs().erase(graph) != 0 ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return call([&](Runtime&) {
    if (clone == nullptr || !live(original)) return cudaErrorInvalidValue;
    if (has_conditions(*original)) return cudaErrorNotSupported;
    *clone = publish_graph(original->clone());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return call([&](Runtime&) {
    if (out == nullptr || original == nullptr || !live(clone)) return cudaErrorInvalidValue;
    for (const auto& node : clone->nodes) {
      if (node->origin == original->origin) {
        *out = node.get();
        return cudaSuccess;
      }
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* p) {
  return call([&](Runtime& runtime) {
    if (p == nullptr) return cudaErrorInvalidValue;
    std::unique_ptr<KernelWork> work;
    const cudaError_t error = kernel_work(runtime, p->func, p->gridDim, p->blockDim,
                                          p->sharedMemBytes, p->kernelParams, work);
    return error != cudaSuccess ? error : add(out, graph, dependencies, count, std::move(work));
  });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* out) {
  return call([&](Runtime&) {
    auto* work = content<KernelWork>(node);
    if (work == nullptr || out == nullptr) return cudaErrorInvalidValue;
    const auto dim = [](const Dim3& d) { return dim3(d.x, d.y, d.z); };
    *out = {};
    out->func = const_cast<void*>(work->host_function);
    out->gridDim = dim(work->config.grid);
    out->blockDim = dim(work->config.block);
    out->sharedMemBytes = work->config.dynamic_shared_bytes;
    out->kernelParams = work->argument_pointers.data();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return call([&](Runtime& runtime) {
    if (content<KernelWork>(node) == nullptr || p == nullptr) return cudaErrorInvalidValue;
    std::unique_ptr<KernelWork> work;
    const cudaError_t error = kernel_work(runtime, p->func, p->gridDim, p->blockDim,
                                          p->sharedMemBytes, p->kernelParams, work);
    if (error == cudaSuccess) node->work = std::move(work);
    return error;
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p) {
  return call([&](Runtime& runtime) {
    if (content<KernelWork>(node) == nullptr || p == nullptr) return cudaErrorInvalidValue;
    std::unique_ptr<KernelWork> work;
    const cudaError_t error = kernel_work(runtime, p->func, p->gridDim, p->blockDim,
                                          p->sharedMemBytes, p->kernelParams, work);
    return error != cudaSuccess ? error : replace(exec, node, std::move(work));
  });
}

// Attributes of kernel nodes: those that change what runs are kept with the node's work.
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID name,
                                            const cudaLaunchAttributeValue* value) {
  return call([&](Runtime&) {
    auto* work = content<KernelWork>(node);
    if (work == nullptr || value == nullptr) return cudaErrorInvalidValue;
    if (name == cudaLaunchAttributeCooperative) work->config.cooperative = value->cooperative != 0;
    if (name == cudaLaunchAttributeClusterDimension) {
      work->config.cluster = {value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID name,
                                            cudaLaunchAttributeValue* value) {
  return call([&](Runtime&) {
    auto* work = content<KernelWork>(node);
    if (work == nullptr || value == nullptr) return cudaErrorInvalidValue;
    *value = {};
    if (name == cudaLaunchAttributeCooperative) value->cooperative = work->config.cooperative;
    if (name == cudaLaunchAttributeClusterDimension) {
      const Dim3& c = work->config.cluster;
      value->clusterDim.x = c.x;
      value->clusterDim.y = c.y;
      value->clusterDim.z = c.z;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return call([&](Runtime&) {
    auto* target = content<KernelWork>(to);
    const auto* source = content<KernelWork>(from);
    if (target == nullptr || source == nullptr) return cudaErrorInvalidValue;
    target->config.cooperative = source->config.cooperative;
    target->config.cluster = source->config.cluster;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* p) {
  return call([&](Runtime& runtime) {
    if (p == nullptr) return cudaErrorInvalidValue;
    std::unique_ptr<CopyWork> work;
    const cudaError_t error = plan_copy(runtime, *p, work);
    return error != cudaSuccess ? error
                                : add(out, graph, dependencies, count, or_empty(std::move(work)));
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    std::unique_ptr<CopyWork> work;
    const cudaError_t error = plan_copy(runtime, to, from, bytes, kind, work);
    return error != cudaSuccess ? error
                                : add(out, graph, dependencies, count, or_empty(std::move(work)));
  });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, std::size_t count,
                                           const void* symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    std::unique_ptr<CopyWork> work;
    const cudaError_t error =
        plan_symbol_copy(runtime, symbol, true, from, bytes, offset, kind, work);
    return error != cudaSuccess ? error
                                : add(out, graph, dependencies, count, or_empty(std::move(work)));
  });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, std::size_t count,
                                             void* to, const void* symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    std::unique_ptr<CopyWork> work;
    const cudaError_t error =
        plan_symbol_copy(runtime, symbol, false, to, bytes, offset, kind, work);
    return error != cudaSuccess ? error
                                : add(out, graph, dependencies, count, or_empty(std::move(work)));
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* out) {
  return call([&](Runtime&) {
    const auto* work = content<CopyWork>(node);
    if (work == nullptr || out == nullptr) return cudaErrorInvalidValue;
    *out = work->asked;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return call([&](Runtime& runtime) {
    if (node == nullptr || p == nullptr) return cudaErrorInvalidValue;
    std::unique_ptr<CopyWork> work;
    const cudaError_t error = plan_copy(runtime, *p, work);
    if (error == cudaSuccess) node->work = or_empty(std::move(work));
    return error;
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    if (node == nullptr) return cudaErrorInvalidValue;
    std::unique_ptr<CopyWork> work;
    const cudaError_t error = plan_copy(runtime, to, from, bytes, kind, work);
    if (error == cudaSuccess) node->work = or_empty(std::move(work));
    return error;
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* p) {
  return call([&](Runtime& runtime) {
    if (p == nullptr) return cudaErrorInvalidValue;
    std::unique_ptr<CopyWork> work;
    const cudaError_t error = plan_copy(runtime, *p, work);
    return error != cudaSuccess ? error : replace(exec, node, or_empty(std::move(work)));
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    std::unique_ptr<CopyWork> work;
    const cudaError_t error = plan_copy(runtime, to, from, bytes, kind, work);
    return error != cudaSuccess ? error : replace(exec, node, or_empty(std::move(work)));
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void* symbol, const void* from,
                                                     std::size_t bytes, std::size_t offset,
                                                     cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    std::unique_ptr<CopyWork> work;
    const cudaError_t error =
        plan_symbol_copy(runtime, symbol, true, from, bytes, offset, kind, work);
    return error != cudaSuccess ? error : replace(exec, node, or_empty(std::move(work)));
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void* to, const void* symbol,
                                                       std::size_t bytes, std::size_t offset,
                                                       cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    std::unique_ptr<CopyWork> work;
    const cudaError_t error =
        plan_symbol_copy(runtime, symbol, false, to, bytes, offset, kind, work);
    return error != cudaSuccess ? error : replace(exec, node, or_empty(std::move(work)));
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* p) {
  return call([&](Runtime& runtime) {
    if (p == nullptr) return cudaErrorInvalidValue;
    std::unique_ptr<Work> work;
    const cudaError_t error = fill_work(runtime, *p, work);
    return error != cudaSuccess ? error
                                : add(out, graph, dependencies, count, or_empty(std::move(work)));
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* out) {
  return call([&](Runtime&) {
    const auto* work = content<FillWork>(node);
    if (work == nullptr || out == nullptr) return cudaErrorInvalidValue;
    *out = {work->to,    work->pitch, work->value, work->element, work->width / work->element,
            work->height};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return call([&](Runtime& runtime) {
    if (node == nullptr || p == nullptr) return cudaErrorInvalidValue;
    std::unique_ptr<Work> work;
    const cudaError_t error = fill_work(runtime, *p, work);
    if (error == cudaSuccess) node->work = or_empty(std::move(work));
    return error;
  });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* p) {
  return call([&](Runtime& runtime) {
    if (p == nullptr) return cudaErrorInvalidValue;
    std::unique_ptr<Work> work;
    const cudaError_t error = fill_work(runtime, *p, work);
    return error != cudaSuccess ? error : replace(exec, node, or_empty(std::move(work)));
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* p) {
  return call([&](Runtime&) {
    if (p == nullptr || p->fn == nullptr) return cudaErrorInvalidValue;
    return add(out, graph, dependencies, count, host_work(p->fn, p->userData));
  });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* out) {
  return call([&](Runtime&) {
    const auto* work = content<HostWork>(node);
    if (work == nullptr || out == nullptr) return cudaErrorInvalidValue;
    *out = work->asked;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return call([&](Runtime&) {
    if (content<HostWork>(node) == nullptr || p == nullptr || p->fn == nullptr) {
      return cudaErrorInvalidValue;
    }
    node->work = host_work(p->fn, p->userData);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* p) {
  return call([&](Runtime&) {
    if (p == nullptr || p->fn == nullptr) return cudaErrorInvalidValue;
    return replace(exec, node, host_work(p->fn, p->userData));
  });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  return call([&](Runtime&) {
    return add(out, graph, dependencies, count, std::make_unique<EmptyWork>());
  });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child) {
  return call([&](Runtime&) {
    if (!live(child)) return cudaErrorInvalidValue;
    auto work = std::make_unique<ChildWork>();
    work->graph = child->clone();
    return add(out, graph, dependencies, count, std::move(work));
  });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* out) {
  return call([&](Runtime&) {
    const auto* work = content<ChildWork>(node);
    if (work == nullptr || out == nullptr) return cudaErrorInvalidValue;
    *out = work->graph.get();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return call([&](Runtime&) {
    if (!live(child)) return cudaErrorInvalidValue;
    auto work = std::make_unique<ChildWork>();
    work->graph = child->clone();
    return replace(exec, node, std::move(work));
  });
}

namespace {

std::unique_ptr<Work> event_work(cudaEvent_t event, bool wait) {
  auto work = std::make_unique<EventWork>();
  work->event = event;
  work->wait = wait;
  return work;
}

cudaError_t get_event(cudaGraphNode_t node, cudaEvent_t* out) {
  return call([&](Runtime&) {
    const auto* work = content<EventWork>(node);
    if (work == nullptr || out == nullptr) return cudaErrorInvalidValue;
    *out = work->event;
    return cudaSuccess;
  });
}

cudaError_t set_event(cudaGraphNode_t node, cudaEvent_t event) {
  return call([&](Runtime& runtime) {
    auto* work = content<EventWork>(node);
    if (work == nullptr || !runtime.streams.known(event)) return cudaErrorInvalidValue;
    work->event = event;
    return cudaSuccess;
  });
}

cudaError_t add_event(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                      std::size_t count, cudaEvent_t event, bool wait) {
  return call([&](Runtime& runtime) {
    if (!runtime.streams.known(event)) return cudaErrorInvalidValue;
    return add(out, graph, dependencies, count, event_work(event, wait));
  });
}

}  // namespace

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, std::size_t count,
                                        cudaEvent_t event) {
  return add_event(out, graph, dependencies, count, event, false);
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                      cudaEvent_t event) {
  return add_event(out, graph, dependencies, count, event, true);
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return get_event(node, out);
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return get_event(node, out);
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_event(node, event);
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_event(node, event);
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return set_event(twin(exec, node), event);
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return set_event(twin(exec, node), event);
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     cudaMemAllocNodeParams* p) {
  return call([&](Runtime& runtime) {
    if (p == nullptr || p->bytesize == 0 || !live(graph)) return cudaErrorInvalidValue;
    const std::uint64_t address =
        runtime.memory.allocate(p->bytesize, RegionKind::device, "graph memory");
    if (address == 0) return cudaErrorMemoryAllocation;
    p->dptr = reinterpret_cast<void*>(address);
    graph->memory.push_back(graph_memory(p->dptr));
    auto work = std::make_unique<AllocWork>();
    work->asked = *p;
    return add(out, graph, dependencies, count, std::move(work));
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* out) {
  return call([&](Runtime&) {
    const auto* work = content<AllocWork>(node);
    if (work == nullptr || out == nullptr) return cudaErrorInvalidValue;
    *out = work->asked;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                    void* pointer) {
  return call([&](Runtime&) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    auto work = std::make_unique<FreeWork>();
    work->pointer = pointer;
    return add(out, graph, dependencies, count, std::move(work));
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* out) {
  return call([&](Runtime&) {
    const auto* work = content<FreeWork>(node);
    if (work == nullptr || out == nullptr) return cudaErrorInvalidValue;
    *static_cast<void**>(out) = work->pointer;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return call([&](Runtime&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType, void* value) {
  return call([&](Runtime&) {
    if (device != 0) return cudaErrorInvalidDevice;
    if (value == nullptr) return cudaErrorInvalidValue;
    std::uint64_t bytes = 0;
    for (const auto& [handle, exec] : executables()) {
      for (const auto& node : exec->graph->nodes) {
        if (const auto* work = content<AllocWork>(node.get())) bytes += work->asked.bytesize;
      }
    }
    *static_cast<std::uint64_t*>(value) = bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType, void*) {
  return call([&](Runtime&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                             std::size_t count, cudaGraphNodeParams* p) {
  if (p == nullptr) return remember(cudaErrorInvalidValue);
  switch (p->type) {
    case cudaGraphNodeTypeKernel: {
      cudaKernelNodeParams k{};
      k.func = p->kernel.func;
      k.gridDim = p->kernel.gridDim;
      k.blockDim = p->kernel.blockDim;
      k.sharedMemBytes = p->kernel.sharedMemBytes;
      k.kernelParams = p->kernel.kernelParams;
      return cudaGraphAddKernelNode(out, graph, dependencies, count, &k);
    }
    case cudaGraphNodeTypeMemcpy:
      return cudaGraphAddMemcpyNode(out, graph, dependencies, count, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParams m{p->memset.dst,         p->memset.pitch, p->memset.value,
                               p->memset.elementSize, p->memset.width, p->memset.height};
      return cudaGraphAddMemsetNode(out, graph, dependencies, count, &m);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams h{p->host.fn, p->host.userData};
      return cudaGraphAddHostNode(out, graph, dependencies, count, &h);
    }
    case cudaGraphNodeTypeGraph:
      return cudaGraphAddChildGraphNode(out, graph, dependencies, count, p->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return cudaGraphAddEmptyNode(out, graph, dependencies, count);
    case cudaGraphNodeTypeWaitEvent:
      return cudaGraphAddEventWaitNode(out, graph, dependencies, count, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return cudaGraphAddEventRecordNode(out, graph, dependencies, count, p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: {
      cudaMemAllocNodeParams a{p->alloc.poolProps, p->alloc.accessDescs, p->alloc.accessDescCount,
                               p->alloc.bytesize, nullptr};
      const cudaError_t error = cudaGraphAddMemAllocNode(out, graph, dependencies, count, &a);
      p->alloc.dptr = a.dptr;
      return error;
    }
    case cudaGraphNodeTypeMemFree:
      return cudaGraphAddMemFreeNode(out, graph, dependencies, count, p->free.dptr);
    case cudaGraphNodeTypeConditional:
      return call([&](Runtime&) {
        std::unique_ptr<Work> work;
        const cudaError_t error = conditional_work(p->conditional, work);
        return error != cudaSuccess ? error : add(out, graph, dependencies, count, std::move(work));
      });
    default:
      return remember(cudaErrorNotSupported);
  }
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call([&](Runtime&) {
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = node->work->type();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* out, std::size_t* count) {
  return call([&](Runtime&) {
    if (!live(graph)) return cudaErrorInvalidValue;
    std::vector<CUgraphNode_st*> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return list(all, out, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* out, std::size_t* count) {
  return call([&](Runtime&) {
    if (!live(graph)) return cudaErrorInvalidValue;
    std::vector<CUgraphNode_st*> roots;
    for (const auto& node : graph->nodes) {
      if (node->dependencies.empty()) roots.push_back(node.get());
    }
    return list(roots, out, count);
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, std::size_t* count) {
  return call([&](Runtime&) {
    if (!live(graph) || count == nullptr) return cudaErrorInvalidValue;
    std::size_t found = 0;
    for (const auto& node : graph->nodes) {
      for (CUgraphNode_st* dependency : node->dependencies) {
        if (from != nullptr && to != nullptr && found < *count) {
          from[found] = dependency;
          to[found] = node.get();
          if (data != nullptr) data[found] = {};
        }
        ++found;
      }
    }
    *count = from != nullptr ? std::min(*count, found) : found;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out,
                                         cudaGraphEdgeData* data, std::size_t* count) {
  return call([&](Runtime&) {
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    if (data != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
    return list(node->dependencies, out, count);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out,
                                           cudaGraphEdgeData* data, std::size_t* count) {
  return call([&](Runtime&) {
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    if (data != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
    return list(dependents(node), out, count);
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                     std::size_t count) {
  return call([&](Runtime&) {
    for (std::size_t i = 0; i < count; ++i) {
      if (from[i] == nullptr || to[i] == nullptr || from[i]->graph != graph ||
          to[i]->graph != graph || from[i] == to[i]) {
        return cudaErrorInvalidValue;
      }
      auto& on = to[i]->dependencies;
      if (std::ranges::find(on, from[i]) != on.end()) return cudaErrorInvalidValue;
      on.push_back(from[i]);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                        std::size_t count) {
  return call([&](Runtime&) {
    for (std::size_t i = 0; i < count; ++i) {
      if (to[i] == nullptr || std::erase(to[i]->dependencies, from[i]) == 0) {
        return cudaErrorInvalidValue;
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return call([&](Runtime&) {
    if (node == nullptr) return cudaErrorInvalidValue;
    for (const auto& other : node->graph->nodes) std::erase(other->dependencies, node);
    std::erase_if(node->graph->nodes, [&](const auto& item) { return item.get() == node; });
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return call([&](Runtime&) { return instantiate(exec, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* p) {
  return call([&](Runtime&) {
    if (p == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = instantiate(exec, graph, p->flags);
    p->errNode_out = nullptr;
    p->result_out = error == cudaSuccess       ? cudaGraphInstantiateSuccess
                    : !conditions_used(*graph) ? cudaGraphInstantiateConditionalHandleUnused
                                               : cudaGraphInstantiateInvalidStructure;
    return error;
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  return call([&](Runtime&) {
    if (!executables().contains(exec) || flags == nullptr) return cudaErrorInvalidValue;
    *flags = exec->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call([&](Runtime&) {
    return executables().erase(exec) != 0 ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    if (!executables().contains(exec)) return cudaErrorInvalidValue;
    return runtime.streams.find(stream) == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    if (!executables().contains(exec)) return cudaErrorInvalidValue;
    auto work = std::make_unique<GraphWork>();
    work->graph = exec->graph;
    return runtime.streams.submit(runtime, stream, std::move(work));
  });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  return call([&](Runtime&) {
    CUgraphNode_st* target = twin(exec, node);
    if (target == nullptr) return cudaErrorInvalidValue;
    target->enabled = enabled != 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  return call([&](Runtime&) {
    const CUgraphNode_st* target = twin(exec, node);
    if (target == nullptr || enabled == nullptr) return cudaErrorInvalidValue;
    *enabled = target->enabled ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return call([&](Runtime&) {
    if (!executables().contains(exec) || !live(graph)) return cudaErrorInvalidValue;
    const auto fail = [&](cudaGraphExecUpdateResult why, CUgraphNode_st* node) {
      if (result != nullptr) *result = {why, node, nullptr};
      return cudaErrorGraphExecUpdateFailure;
    };
    const auto old_order = exec->graph->order();
    const auto new_order = graph->order();
    if (old_order.size() != new_order.size()) {
      return fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
    }
    for (std::size_t i = 0; i < old_order.size(); ++i) {
      if (old_order[i]->dependencies.size() != new_order[i]->dependencies.size()) {
        return fail(cudaGraphExecUpdateErrorTopologyChanged, new_order[i]);
      }
      if (old_order[i]->work->type() != new_order[i]->work->type()) {
        return fail(cudaGraphExecUpdateErrorNodeTypeChanged, new_order[i]);
      }
    }
    exec->graph = graph->clone();
    if (result != nullptr) *result = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  return call([&](Runtime&) {
    if (!live(graph) || path == nullptr) return cudaErrorInvalidValue;
    std::FILE* file = std::fopen(path, "we");
    if (file == nullptr) return cudaErrorOperatingSystem;
    std::fputs("digraph dot {\n", file);
    for (const auto& node : graph->nodes) {
      std::fprintf(file, "  \"%p\" [label=\"type %d\"];\n", static_cast<void*>(node.get()),
                   static_cast<int>(node->work->type()));
      for (const CUgraphNode_st* on : node->dependencies) {
        std::fprintf(file, "  \"%p\" -> \"%p\";\n", static_cast<const void*>(on),
                     static_cast<void*>(node.get()));
      }
    }
    std::fputs("}\n", file);
    return std::fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem;
  });
}
