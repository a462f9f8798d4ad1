#include "oracle/protocol.hpp"

#include <cstring>
#include <type_traits>

namespace hone::oracle::protocol {
namespace {

class Writer {
 public:
  template <class T>
  Writer& operator<<(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Writer& operator<<(const std::string& text) {
    *this << std::uint64_t{text.size()};
    out += text;
    return *this;
  }
  std::string out;
};

/// Reads what Writer wrote; past the end, or on a length that cannot be, it fails and stays failed.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  Reader& operator>>(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (rest_.size() < sizeof value) {
      fail();
    } else {
      std::memcpy(&value, rest_.data(), sizeof value);
      rest_.remove_prefix(sizeof value);
    }
    return *this;
  }
  Reader& operator>>(bool& value) {
    std::uint8_t byte = 0;
    *this >> byte;
    value = byte != 0;
    return *this;
  }
  Reader& operator>>(std::string& text) {
    std::uint64_t size = 0;
    *this >> size;
    if (size > rest_.size()) {
      fail();
    } else {
      text = rest_.substr(0, size);
      rest_.remove_prefix(size);
    }
    return *this;
  }
  /// A count of things that take at least one byte each.
  std::uint64_t count() {
    std::uint64_t value = 0;
    *this >> value;
    if (value > rest_.size()) fail();
    return failed_ ? 0 : value;
  }
  void fail() {
    failed_ = true;
    rest_ = {};
  }
  bool complete() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

template <class Message>
std::optional<Message> finish(const Reader& reader, Message& message) {
  if (!reader.complete()) return std::nullopt;
  return std::move(message);
}

}  // namespace

std::string encode(const Load& load) {
  Writer writer;
  writer << load.library << load.signature.entry << std::uint64_t{load.signature.parameters.size()};
  for (const Parameter& parameter : load.signature.parameters) {
    writer << parameter.name << parameter.role << parameter.element;
  }
  return writer.out;
}

std::optional<Load> decode_load(std::string_view bytes) {
  Reader reader(bytes);
  Load load;
  reader >> load.library >> load.signature.entry;
  load.signature.parameters.resize(reader.count());
  for (Parameter& parameter : load.signature.parameters) {
    reader >> parameter.name >> parameter.role >> parameter.element;
    if (parameter.role > Role::stream || parameter.element > Element::uint8) reader.fail();
  }
  return finish(reader, load);
}

std::string encode(const Greeting& greeting) {
  Writer writer;
  writer << greeting.error << greeting.device << greeting.simulated;
  return writer.out;
}

std::optional<Greeting> decode_greeting(std::string_view bytes) {
  Reader reader(bytes);
  Greeting greeting;
  reader >> greeting.error >> greeting.device >> greeting.simulated;
  return finish(reader, greeting);
}

std::string encode(const Loaded& loaded) {
  Writer writer;
  writer << loaded.status << loaded.message;
  return writer.out;
}

std::optional<Loaded> decode_loaded(std::string_view bytes) {
  Reader reader(bytes);
  Loaded loaded;
  reader >> loaded.status >> loaded.message;
  if (loaded.status > LoadStatus::no_entry) reader.fail();
  return finish(reader, loaded);
}

std::string encode(const Call& call) {
  Writer writer;
  writer << call.guard_bytes << call.guard_byte << call.fresh_buffers << call.flush_bytes
         << std::uint64_t{call.arguments.size()};
  for (const auto& argument : call.arguments) {
    if (const Value* value = std::get_if<Value>(&argument)) {
      writer << false << value->bits;
    } else {
      const Buffer& buffer = std::get<Buffer>(argument);
      writer << true << buffer.bytes << buffer.lead << buffer.poison << buffer.content;
    }
  }
  return writer.out;
}

std::optional<Call> decode_call(std::string_view bytes) {
  Reader reader(bytes);
  Call call;
  reader >> call.guard_bytes >> call.guard_byte >> call.fresh_buffers >> call.flush_bytes;
  call.arguments.resize(reader.count());
  for (auto& argument : call.arguments) {
    bool is_buffer = false;
    reader >> is_buffer;
    if (is_buffer) {
      Buffer buffer;
      reader >> buffer.bytes >> buffer.lead >> buffer.poison >> buffer.content;
      if (!buffer.content.empty() && buffer.content.size() != buffer.bytes) reader.fail();
      argument = std::move(buffer);
    } else {
      Value value;
      reader >> value.bits;
      argument = value;
    }
  }
  return finish(reader, call);
}

std::string encode(const Returned& returned) {
  Writer writer;
  writer << returned.setup_error << returned.entry_error << returned.last_error
         << returned.sync_error << returned.error_text << returned.device_ms << returned.host_ns
         << returned.late << returned.threads << returned.counters << returned.fault
         << returned.findings << std::uint64_t{returned.buffers.size()};
  for (const std::string& buffer : returned.buffers) writer << buffer;
  return writer.out;
}

std::optional<Returned> decode_returned(std::string_view bytes) {
  Reader reader(bytes);
  Returned returned;
  reader >> returned.setup_error >> returned.entry_error >> returned.last_error >>
      returned.sync_error >> returned.error_text >> returned.device_ms >> returned.host_ns >>
      returned.late >> returned.threads >> returned.counters >> returned.fault >> returned.findings;
  returned.buffers.resize(reader.count());
  for (std::string& buffer : returned.buffers) reader >> buffer;
  return finish(reader, returned);
}

}  // namespace hone::oracle::protocol
