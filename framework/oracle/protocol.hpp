#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oracle/signature.hpp"

/// Messages between an oracle and the candidate process: length-prefixed binary frames, in the
/// machine's byte order, on two pipes. What the candidate sends is never trusted: decoding checks
/// every length and returns nothing for a malformed message.
namespace hone::oracle::protocol {

enum class Kind : std::uint32_t { greeting = 1, load = 2, loaded = 3, call = 4, returned = 5 };

/// Before every message.
struct Header {
  std::uint32_t magic = 0x454E4F48;  // "HONE"
  Kind kind = Kind::load;
  std::uint64_t bytes = 0;  ///< of the message that follows
};
static_assert(sizeof(Header) == 16);

/// Candidate to oracle, before any foreign code is loaded: what it runs on.
struct Greeting {
  std::string error;   ///< why there is no device, or ""
  std::string device;  ///< as the runtime names it
  bool simulated = false;
};

/// Oracle to candidate: open this library and find the entry.
struct Load {
  std::string library;
  Signature signature;
};

enum class LoadStatus : std::uint8_t { ready, no_library, no_entry };

struct Loaded {
  LoadStatus status = LoadStatus::ready;
  std::string message;  ///< why not ready
};

/// A device buffer: `bytes` of payload between two guard bands.
struct Buffer {
  std::uint64_t bytes = 0;
  std::uint32_t lead = 0;   ///< length of the guard band before it, which shifts its address
  std::uint8_t poison = 0;  ///< fills the payload where there is no content
  std::string content;      ///< empty, or `bytes` long
};

/// A scalar, in the first bytes as the parameter's type.
struct Value {
  std::uint64_t bits = 0;
};

/// Oracle to candidate: call the entry once and send everything back.
struct Call {
  std::uint32_t guard_bytes = 0;  ///< after each buffer
  std::uint8_t guard_byte = 0;    ///< fills the guard bands
  bool fresh_buffers = false;     ///< at other addresses than the last call's
  std::uint64_t flush_bytes = 0;  ///< written to other device memory before the call, to empty L2
  std::vector<std::variant<Value, Buffer>> arguments;  ///< one a parameter but streams
};

struct Returned {
  std::int32_t setup_error =
      0;  ///< cudaError before the entry was called; nothing else then counts
  std::int32_t entry_error = 0;      ///< what the entry returned
  std::int32_t last_error = 0;       ///< cudaGetLastError after it
  std::int32_t sync_error = 0;       ///< of waiting for the stream
  std::string error_text;            ///< of the first of these that is not 0
  double device_ms = 0;              ///< between events around the call
  std::uint64_t host_ns = 0;         ///< of the call and the wait
  std::int32_t late = -1;            ///< first buffer that changed after the wait, -1: none
  std::uint32_t threads = 0;         ///< host threads that the call left behind
  std::string counters;              ///< cudasim's JSON, or empty
  std::string fault;                 ///< cudasim's last fault as JSON, or empty
  std::string findings;              ///< of cudasim's checks so far, as JSON, or empty
  std::vector<std::string> buffers;  ///< each with its guard bands, in parameter order
};

std::string encode(const Greeting&);
std::string encode(const Load&);
std::string encode(const Loaded&);
std::string encode(const Call&);
std::string encode(const Returned&);

std::optional<Greeting> decode_greeting(std::string_view);
std::optional<Load> decode_load(std::string_view);
std::optional<Loaded> decode_loaded(std::string_view);
std::optional<Call> decode_call(std::string_view);
std::optional<Returned> decode_returned(std::string_view);

/// Header and message, ready to be sent.
template <class Message>
std::string frame(Kind kind, const Message& message) {
  const std::string body = encode(message);
  const Header header{.kind = kind, .bytes = body.size()};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  return bytes += body;
}

}  // namespace hone::oracle::protocol
