#include "check.hpp"

__global__ void add(int* x, int by) { x[threadIdx.x] += by; }
__global__ void multiply(int* x, int by) { x[threadIdx.x] *= by; }

int read(const int* x) {
  int host[32];
  OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
  return host[31];
}

int main() {
  int* x;
  OK(cudaMalloc(&x, 32 * 4));
  OK(cudaMemset(x, 0, 32 * 4));
  cudaStream_t a, b;
  OK(cudaStreamCreate(&a));
  OK(cudaStreamCreate(&b));
  cudaEvent_t fork, join;
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));

  // Capture, with a second stream that joins.
  cudaGraph_t graph;
  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  add<<<1, 32, 0, a>>>(x, 2);
  OK(cudaEventRecord(fork, a));
  OK(cudaStreamWaitEvent(b, fork, 0));
  multiply<<<1, 32, 0, b>>>(x, 10);
  OK(cudaEventRecord(join, b));
  OK(cudaStreamWaitEvent(a, join, 0));
  add<<<1, 32, 0, a>>>(x, 1);
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(b, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  OK(cudaStreamEndCapture(a, &graph));
  OK(cudaStreamIsCapturing(b, &status));
  CHECK(status == cudaStreamCaptureStatusNone);
  CHECK(read(x) == 0);  // nothing ran
  std::size_t nodes = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 3);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, a));
  OK(cudaStreamSynchronize(a));
  CHECK(read(x) == 21);
  OK(cudaGraphLaunch(exec, a));
  CHECK(read(x) == 231);

  // Built by hand: memset, kernel, copy; then a changed parameter.
  cudaGraph_t made;
  OK(cudaGraphCreate(&made, 0));
  cudaGraphNode_t set, kernel, copy;
  cudaMemsetParams fill = {x, 0, 5, 4, 32, 1};
  OK(cudaGraphAddMemsetNode(&set, made, nullptr, 0, &fill));
  int by = 4;
  void* arguments[] = {&x, &by};
  cudaKernelNodeParams params = {reinterpret_cast<void*>(multiply), 1, 32, 0, arguments, nullptr};
  OK(cudaGraphAddKernelNode(&kernel, made, &set, 1, &params));
  by = 99;  // arguments are copied when the node is made
  int host[32] = {};
  OK(cudaGraphAddMemcpyNode1D(&copy, made, &kernel, 1, host, x, sizeof host,
                              cudaMemcpyDeviceToHost));
  cudaGraphExec_t second;
  OK(cudaGraphInstantiate(&second, made, 0));
  OK(cudaGraphLaunch(second, b));
  OK(cudaStreamSynchronize(b));
  CHECK(host[0] == 20 && host[31] == 20);
  by = 6;
  OK(cudaGraphExecKernelNodeSetParams(second, kernel, &params));
  OK(cudaGraphLaunch(second, b));
  OK(cudaStreamSynchronize(b));
  CHECK(host[7] == 30);
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(kernel, &type));
  CHECK(type == cudaGraphNodeTypeKernel);

  // Memory that the graph places and the program frees, before the graph is launched again.
  cudaGraph_t placing;
  OK(cudaGraphCreate(&placing, 0));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
  memory.bytesize = 32 * sizeof(int);
  cudaGraphNode_t place;
  OK(cudaGraphAddMemAllocNode(&place, placing, nullptr, 0, &memory));
  fill.dst = memory.dptr;
  OK(cudaGraphAddMemsetNode(&set, placing, &place, 1, &fill));
  cudaGraphExec_t third;
  OK(cudaGraphInstantiate(&third, placing, 0));
  for (int launch = 0; launch < 3; ++launch) {
    OK(cudaGraphLaunch(third, b));
    OK(cudaMemcpyAsync(host, memory.dptr, sizeof host, cudaMemcpyDeviceToHost, b));
    OK(cudaFreeAsync(memory.dptr, b));
    OK(cudaStreamSynchronize(b));
    CHECK(host[31] == 5);
    host[31] = 0;
  }
  OK(cudaGraphExecDestroy(third));
  OK(cudaGraphDestroy(placing));

  // A capture that something forbidden spoils.
  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  CHECK_CODE(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(a));
  CHECK_CODE(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(a, &graph));
  (void)cudaGetLastError();
  OK(cudaGraphExecDestroy(second));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(made));
  OK(cudaDeviceSynchronize());
  std::puts("passed");
}
