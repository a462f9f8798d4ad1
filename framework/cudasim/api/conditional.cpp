#include "cudasim/api/conditional.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <mutex>

#include "cudasim/api/runtime.hpp"

namespace cudasim {
namespace {

struct Conditions {
  std::mutex mutex;
  std::deque<Condition> all;  ///< never moved; a handle is an index from 1
};
Conditions& conditions() {
  static auto* const all = new Conditions;
  return *all;
}

/// Calls visit for the graph and the bodies of its conditional nodes, theirs included.
template <typename Visit>
void each_graph(const CUgraph_st& graph, Visit&& visit) {
  visit(graph);
  for (const auto& node : graph.nodes) {
    if (const auto* work = dynamic_cast<const ConditionalWork*>(node->work.get())) {
      for (const auto& body : work->bodies) each_graph(*body, visit);
    }
  }
}

}  // namespace

Condition* find_condition(cudaGraphConditionalHandle handle) {
  const std::lock_guard lock(conditions().mutex);
  return handle == 0 || handle > conditions().all.size() ? nullptr : &conditions().all[handle - 1];
}

bool set_condition(cudaGraphConditionalHandle handle, unsigned value) {
  Condition* condition = find_condition(handle);
  if (condition == nullptr) return false;
  std::atomic_ref(condition->value).store(value);
  return true;
}

cudaError_t ConditionalWork::run(Runtime& runtime, CUstream_st& stream, double& seconds) {
  const Condition& condition = *find_condition(handle);
  const double begin = stream.clock;
  seconds = 0;
  const auto run_body = [&](std::size_t i) {
    double own = 0;
    stream.clock = begin + seconds;
    const cudaError_t error = bodies[i]->run(runtime, stream, own);
    seconds += own;
    return error;
  };
  if (kind == cudaGraphCondTypeSwitch) {
    return condition.value < bodies.size() ? run_body(condition.value) : cudaSuccess;
  }
  if (kind == cudaGraphCondTypeIf) {
    if (condition.value != 0) return run_body(0);
    return bodies.size() > 1 ? run_body(1) : cudaSuccess;
  }
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::duration<double> most(watchdog_seconds());
  while (condition.value != 0) {
    if (const cudaError_t error = run_body(0); error != cudaSuccess) return error;
    if (runtime.sticky() != cudaSuccess) return cudaSuccess;
    if (std::chrono::steady_clock::now() - start > most) {
      std::fprintf(stderr,
                   "cudasim: a graph's while node ran longer than %g s (CUDASIM_WATCHDOG_SECONDS): "
                   "its condition stays %u\n",
                   most.count(), condition.value);
      runtime.set_sticky(cudaErrorLaunchTimeout);
      return cudaSuccess;
    }
  }
  return cudaSuccess;
}

std::unique_ptr<Work> ConditionalWork::clone() const {
  auto copy = std::make_unique<ConditionalWork>();
  copy->handle = handle;
  copy->kind = kind;
  for (const auto& body : bodies) {
    copy->bodies.push_back(body->clone());
    copy->handles.push_back(copy->bodies.back().get());
  }
  return copy;
}

cudaError_t conditional_work(cudaConditionalNodeParams& p, std::unique_ptr<Work>& out) {
  Condition* condition = find_condition(p.handle);
  if (condition == nullptr || condition->used) return cudaErrorInvalidValue;
  const bool fits = p.type == cudaGraphCondTypeIf ? p.size == 1 || p.size == 2
                    : p.type == cudaGraphCondTypeWhile
                        ? p.size == 1
                        : p.type == cudaGraphCondTypeSwitch && p.size != 0;
  if (!fits) return cudaErrorInvalidValue;
  condition->used = true;
  auto work = std::make_unique<ConditionalWork>();
  work->handle = p.handle;
  work->kind = p.type;
  for (unsigned i = 0; i < p.size; ++i) {
    work->bodies.push_back(std::make_shared<CUgraph_st>());
    work->handles.push_back(work->bodies.back().get());
  }
  p.phGraph_out = work->handles.data();
  out = std::move(work);
  return cudaSuccess;
}

bool has_conditions(const CUgraph_st& graph) {
  return std::ranges::any_of(graph.nodes, [](const auto& node) {
    return node->work->type() == cudaGraphNodeTypeConditional;
  });
}

bool conditions_used(const CUgraph_st& graph) {
  bool all = true;
  each_graph(graph, [&](const CUgraph_st& each) {
    for (const auto handle : each.conditions) all = all && find_condition(handle)->used;
  });
  return all;
}

void assign_conditions(const CUgraph_st& graph) {
  each_graph(graph, [](const CUgraph_st& each) {
    for (const auto handle : each.conditions) {
      Condition& condition = *find_condition(handle);
      if (condition.assign) condition.value = condition.initial;
    }
  });
}

}  // namespace cudasim

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* out, cudaGraph_t graph,
                                             unsigned initial, unsigned flags) {
  return cudasim::call([&](cudasim::Runtime&) {
    if (out == nullptr || graph == nullptr || (flags & ~unsigned{cudaGraphCondAssignDefault}) != 0)
      return cudaErrorInvalidValue;
    auto& all = cudasim::conditions();
    const std::lock_guard lock(all.mutex);
    all.all.push_back({0, initial, (flags & cudaGraphCondAssignDefault) != 0, false});
    *out = all.all.size();
    graph->conditions.push_back(*out);
    return cudaSuccess;
  });
}
