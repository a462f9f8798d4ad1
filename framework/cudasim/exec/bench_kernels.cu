// Compiled to PTX for bench.cpp.
extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

/// A block of 256 threads for each row.
extern "C" __global__ void softmax(float* out, const float* in, int columns) {
  __shared__ float part[8];
  const float* row = in + static_cast<long long>(blockIdx.x) * columns;
  float* to = out + static_cast<long long>(blockIdx.x) * columns;
  const int t = threadIdx.x;
  const auto reduce = [&](float v, auto combine) {
    for (int d = 16; d > 0; d /= 2) v = combine(v, __shfl_xor_sync(0xffffffffu, v, d));
    if (t % 32 == 0) part[t / 32] = v;
    __syncthreads();
    v = part[t % 8];
    for (int d = 4; d > 0; d /= 2) v = combine(v, __shfl_xor_sync(0xffffffffu, v, d));
    __syncthreads();
    return v;
  };
  float most = -INFINITY;
  for (int i = t; i < columns; i += 256) most = fmaxf(most, row[i]);
  most = reduce(most, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int i = t; i < columns; i += 256) sum += __expf(row[i] - most);
  sum = reduce(sum, [](float a, float b) { return a + b; });
  for (int i = t; i < columns; i += 256) to[i] = __expf(row[i] - most) / sum;
}

extern "C" __global__ void matmul(float* c, const float* a, const float* b, int n) {
  __shared__ float as[32][32], bs[32][32];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y,
            column = blockIdx.x * 32 + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 32) {
    as[y][x] = a[row * n + k0 + x];
    bs[y][x] = b[(k0 + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

/// Odd and even lanes part ways 64 times.
extern "C" __global__ void divergent(int* out) {
  int v = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < 64; ++k) {
    if ((v ^ threadIdx.x) & 1)
      v = v * 5 + out[k];
    else
      v = v * 3 + 1;
  }
  out[64 + blockIdx.x * blockDim.x + threadIdx.x] = v;
}

extern "C" __global__ void nothing() {}
