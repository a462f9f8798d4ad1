// The device runtime: vprintf, __assertfail, malloc, free and what the compiler calls besides.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "cudasim/exec/device_runtime.hpp"
#include "cudasim/exec/machine.hpp"

namespace cudasim {
namespace {

/// A kernel's view of memory by address, checked.
const std::uint8_t* readable(Warp& w, std::uint64_t address, std::uint64_t bytes) {
  const LaunchState& launch = *w.worker->launch;
  if (const Region* region = launch.memory->find(address);
      region != nullptr && region->contains(address, bytes))
    return reinterpret_cast<const std::uint8_t*>(address);
  const auto inside = [&](const void* base, std::uint64_t size) {
    const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(base);
    return base != nullptr && offset < size && bytes <= size - offset;
  };
  if (inside(w.local, w.local_stride * kWarpSize) ||
      inside(w.block->shared, w.block->shared_bytes) || inside(launch.params, launch.param_bytes)) {
    return reinterpret_cast<const std::uint8_t*>(address);
  }
  return nullptr;
}

bool read_string(Warp& w, std::uint64_t address, std::string& text) {
  while (text.size() < (1u << 20)) {
    const std::uint8_t* p = readable(w, address++, 1);
    if (p == nullptr) return false;
    if (*p == 0) return true;
    text += static_cast<char>(*p);
  }
  return true;
}

std::uint64_t argument(Warp& w, const Extra& call, unsigned lane, std::size_t index) {
  std::uint64_t value = 0;
  if (index >= call.arguments.size()) return 0;
  const auto& a = call.arguments[index];
  std::memcpy(&value, w.lane_local(lane) + w.frame->local_offset + a.caller_offset,
              a.size < 8 ? a.size : 8);
  return value;
}
void result(Warp& w, const Extra& call, unsigned lane, std::uint64_t value) {
  if (call.results.empty()) return;
  const auto& a = call.results[0];
  std::memcpy(w.lane_local(lane) + w.frame->local_offset + a.caller_offset, &value,
              a.size < 8 ? a.size : 8);
}

/// Formats as printf does; arguments lie aligned in the buffer, floats as double.
bool format(Warp& w, const std::string& text, std::uint64_t buffer, std::string& out) {
  std::uint64_t at = buffer;
  const auto take = [&](unsigned bytes, std::uint64_t& value) {
    at = (at + bytes - 1) / bytes * bytes;
    const std::uint8_t* p = readable(w, at, bytes);
    if (p == nullptr) return false;
    value = 0;
    std::memcpy(&value, p, bytes);
    at += bytes;
    return true;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    std::string spec = "%";
    std::uint64_t value = 0;
    ++i;
    while (i < text.size() && std::strchr("-+ #0123456789.*", text[i]) != nullptr) {
      if (text[i] == '*') {
        if (!take(4, value)) return false;
        spec += std::to_string(static_cast<std::int32_t>(value));
      } else {
        spec += text[i];
      }
      ++i;
    }
    bool wide = false;
    while (i < text.size() && std::strchr("hlLjzt", text[i]) != nullptr) {
      wide = wide || text[i] != 'h';
      ++i;
    }
    if (i >= text.size()) break;
    const char c = text[i];
    char piece[512];
    switch (c) {
      case '%':
        out += '%';
        continue;
      case 'd':
      case 'i':
        if (!take(wide ? 8 : 4, value)) return false;
        spec += "lld";
        std::snprintf(piece, sizeof piece, spec.c_str(),
                      wide ? static_cast<long long>(value)
                           : static_cast<long long>(static_cast<std::int32_t>(value)));
        out += piece;
        continue;
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        if (!take(wide ? 8 : 4, value)) return false;
        spec += std::string("ll") + c;
        std::snprintf(piece, sizeof piece, spec.c_str(), static_cast<unsigned long long>(value));
        out += piece;
        continue;
      case 'c':
        if (!take(4, value)) return false;
        spec += c;
        std::snprintf(piece, sizeof piece, spec.c_str(), static_cast<int>(value));
        out += piece;
        continue;
      case 'p':
        if (!take(8, value)) return false;
        spec += c;
        std::snprintf(piece, sizeof piece, spec.c_str(), reinterpret_cast<void*>(value));
        out += piece;
        continue;
      case 'a':
      case 'A':
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (!take(8, value)) return false;
        spec += c;
        std::snprintf(piece, sizeof piece, spec.c_str(), std::bit_cast<double>(value));
        out += piece;
        continue;
      case 's': {
        if (!take(8, value)) return false;
        std::string s;
        if (value == 0)
          s = "(null)";
        else if (!read_string(w, value, s))
          return false;
        if (spec == "%") {
          out += s;
        } else {
          spec += c;
          constexpr int kWidest = 1 << 20;
          const int length = std::snprintf(nullptr, 0, spec.c_str(), s.c_str());
          std::string padded(static_cast<std::size_t>(std::clamp(length, 0, kWidest)) + 1, '\0');
          std::snprintf(padded.data(), padded.size(), spec.c_str(), s.c_str());
          padded.pop_back();
          out += padded;
        }
        continue;
      }
      default:
        out += spec + c;
    }
  }
  return true;
}

void print(Warp& w, const std::string& text) {
  LaunchState& launch = *w.worker->launch;
  const std::lock_guard lock(launch.mutex);
  if (launch.config->print)
    launch.config->print(text);
  else
    std::fwrite(text.data(), 1, text.size(), stdout);
}

Dim3 thread_of(const Warp& w, unsigned lane) {
  const Dim3& b = w.worker->launch->config->block;
  const std::uint32_t t = w.index * kWarpSize + lane;
  return {t % b.x, t / b.x % b.y, t / b.x / b.y};
}

bool call_device_runtime(Warp& w, const Extra& extra, std::uint32_t mask) {
  const LaunchState& launch = *w.worker->launch;
  DeviceRuntime* runtime = launch.config->device_runtime;
  if (runtime == nullptr) return false;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
    auto* frame = reinterpret_cast<std::byte*>(w.lane_local(lane) + w.frame->local_offset);
    DeviceCall call;
    call.name = extra.builtin;
    call.thread = w.block->number * launch.threads_per_block + w.index * kWarpSize + lane;
    for (const Extra::Argument& a : extra.arguments)
      call.arguments.emplace_back(frame + a.caller_offset, a.size);
    if (!extra.results.empty()) {
      call.result = {frame + extra.results[0].caller_offset, extra.results[0].size};
      std::ranges::fill(call.result, std::byte{0});
    }
    call.memory = [&](std::uint64_t address, std::uint64_t bytes) {
      return const_cast<std::byte*>(
          reinterpret_cast<const std::byte*>(readable(w, address, bytes)));
    };
    if (!runtime->call(call)) return false;
    if (!call.trouble.empty()) {
      w.worker->fault(w, FaultKind::illegal_address, std::move(call.trouble), lane);
      return true;
    }
  }
  return true;
}

}  // namespace

bool call_builtin(Warp& w, const Extra& call, std::uint32_t mask) {
  LaunchState& launch = *w.worker->launch;
  const std::string& name = call.builtin;
  if (name == "vprintf") {
    std::string out;
    for (std::uint32_t m = mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      std::string text;
      const std::uint64_t where = argument(w, call, lane, 0);
      if (!read_string(w, where, text) || !format(w, text, argument(w, call, lane, 1), out)) {
        w.worker->fault(w, FaultKind::illegal_address, "printf reads memory that isn't there", lane,
                        where);
        return true;
      }
      result(w, call, lane, 1);
    }
    print(w, out);
    return true;
  }
  if (name == "__assertfail") {
    const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
    std::string expression, file, function;
    read_string(w, argument(w, call, lane, 0), expression);
    read_string(w, argument(w, call, lane, 1), file);
    read_string(w, argument(w, call, lane, 3), function);
    const auto line = static_cast<unsigned>(argument(w, call, lane, 2));
    const Dim3 t = thread_of(w, lane);
    const Dim3& b = w.block->id;
    std::fprintf(
        stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
        file.c_str(), line, function.c_str(), b.x, b.y, b.z, t.x, t.y, t.z, expression.c_str());
    w.worker->fault(w, FaultKind::assertion,
                    "Assertion `" + expression + "` failed at " + file + ":" + std::to_string(line),
                    lane);
    return true;
  }
  if (name == "malloc" || name == "__cuda_syscall_malloc") {
    for (std::uint32_t m = mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      const std::uint64_t bytes = argument(w, call, lane, 0);
      result(w, call, lane,
             bytes == 0 ? 0
                        : launch.memory->allocate(bytes, RegionKind::device_heap, "device malloc"));
    }
    return true;
  }
  if (name == "free" || name == "__cuda_syscall_free") {
    for (std::uint32_t m = mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      const std::uint64_t address = argument(w, call, lane, 0);
      if (address == 0) continue;
      const Region* region = launch.memory->find(address);
      if (region == nullptr || region->base != address || region->kind != RegionKind::device_heap ||
          launch.memory->free(address) != FreeStatus::freed) {
        w.worker->fault(w, FaultKind::illegal_address,
                        "free of memory that a kernel's malloc didn't give", lane, address);
        return true;
      }
    }
    return true;
  }
  return call_device_runtime(w, call, mask);
}

}  // namespace cudasim
