// tex, suld, sust, txq: images by 64-bit handles (memory/image.hpp).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "cudasim/exec/decoder.hpp"
#include "cudasim/exec/half.hpp"
#include "cudasim/exec/texel_trace.hpp"
#include "cudasim/memory/image.hpp"

namespace cudasim {
namespace {

struct Geometry {
  unsigned axes = 0;  ///< spatial coordinates
  bool layered = false, cube = false;
};
bool geometry_of(std::string_view word, Geometry& g) {
  if (word == "1d")
    g = {1, false, false};
  else if (word == "2d")
    g = {2, false, false};
  else if (word == "3d")
    g = {3, false, false};
  else if (word == "a1d")
    g = {1, true, false};
  else if (word == "a2d")
    g = {2, true, false};
  else if (word == "cube")
    g = {3, false, true};
  else if (word == "acube")
    g = {3, true, true};
  else
    return false;
  return true;
}

// Extra: registers = results (or stored values) then coordinates; values = axes, layered, cube,
// results, coordinate is integer, result type, element bytes, clamp mode, formatted.
struct Request {
  explicit Request(const Op& op)
      : axes(static_cast<unsigned>(op.extra->values[0])),
        layered(op.extra->values[1] != 0),
        cube(op.extra->values[2] != 0),
        results(static_cast<unsigned>(op.extra->values[3])),
        integer(op.extra->values[4] != 0),
        type(static_cast<Type>(op.extra->values[5])),
        bytes(static_cast<unsigned>(op.extra->values[6])),
        mode(static_cast<char>(op.extra->values[7])),
        formatted(op.extra->values[8] != 0) {}
  unsigned axes;
  bool layered, cube;
  unsigned results;
  bool integer;
  Type type;
  unsigned bytes;
  char mode;
  bool formatted;  ///< sust.p: coordinates count elements, data is converted to their format
};

/// Channel c of a texel as stored bits.
std::uint32_t stored(const Image& image, const std::uint8_t* texel, unsigned c) {
  std::uint32_t v = 0;
  if (c < image.channels) std::memcpy(&v, texel + c * image.channel_bytes, image.channel_bytes);
  return v;
}
float as_float(const Image& image, std::uint32_t v) {
  if (image.channel == Image::Channel::floating)
    return image.channel_bytes == 2 ? half_to_float(static_cast<std::uint16_t>(v))
                                    : std::bit_cast<float>(v);
  if (image.channel == Image::Channel::unsigned_int)
    return static_cast<float>(v) / (image.channel_bytes == 1   ? 255.0f
                                    : image.channel_bytes == 2 ? 65535.0f
                                                               : 4294967295.0f);
  const float f =
      image.channel_bytes == 1   ? static_cast<float>(static_cast<std::int8_t>(v)) / 127.0f
      : image.channel_bytes == 2 ? static_cast<float>(static_cast<std::int16_t>(v)) / 32767.0f
                                 : static_cast<float>(static_cast<std::int32_t>(v)) / 2147483647.0f;
  return f < -1.0f ? -1.0f : f;
}
float linear_of_srgb(float c) {
  return c <= 0.04045f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f);
}

/// Index along an axis after the addressing mode; false: border.
bool address_index(std::int64_t& i, std::int64_t size, Image::Address mode) {
  switch (mode) {
    case Image::Address::wrap:
      i = ((i % size) + size) % size;
      return true;
    case Image::Address::mirror: {
      const std::int64_t p = ((i % (2 * size)) + 2 * size) % (2 * size);
      i = p < size ? p : 2 * size - 1 - p;
      return true;
    }
    case Image::Address::clamp:
      i = i < 0 ? 0 : i >= size ? size - 1 : i;
      return true;
    default:
      return i >= 0 && i < size;
  }
}

struct Sampler {
  const Image& image;
  unsigned axes;
  std::uint64_t layer;
  TexelTrace& trace;
  const std::uint8_t* texel(const std::int64_t* index) const {
    std::int64_t i[3] = {0, 0, 0};
    const std::int64_t sizes[3] = {static_cast<std::int64_t>(image.width),
                                   static_cast<std::int64_t>(image.height),
                                   static_cast<std::int64_t>(image.depth)};
    for (unsigned a = 0; a < axes; ++a) {
      i[a] = index[a];
      Image::Address mode = image.address[a];
      if (!image.normalized_coordinates &&
          (mode == Image::Address::wrap || mode == Image::Address::mirror))
        mode = Image::Address::clamp;
      if (!address_index(i[a], std::max<std::int64_t>(1, sizes[a]), mode)) return nullptr;
    }
    const auto* found = reinterpret_cast<const std::uint8_t*>(image.base) +
                        (static_cast<std::uint64_t>(i[2]) + layer) * image.slice +
                        static_cast<std::uint64_t>(i[1]) * image.pitch +
                        static_cast<std::uint64_t>(i[0]) * image.element_bytes;
    trace.add(image, found, image.element_bytes);
    return found;
  }
  /// Channels of a texel as floats; without a texel the border's.
  void channels(const std::uint8_t* t, float* out) const {
    if (t == nullptr) {
      for (unsigned c = 0; c < 4; ++c) out[c] = image.border[c];
      return;
    }
    for (unsigned c = 0; c < 4; ++c) {
      if (c >= image.channels) {
        out[c] = 0;
        continue;
      }
      const float v = as_float(image, stored(image, t, c));
      out[c] = image.srgb && c < 3 ? linear_of_srgb(v) : v;
    }
  }
};

bool memory_holds(Warp& w, std::uint64_t address, std::uint64_t bytes) {
  const Region* region = w.worker->launch->memory->find(address);
  return region != nullptr && region->contains(address, bytes);
}

/// The texture behind a handle, with memory; null after a fault.
const Image* texture_of(Warp& w, std::uint64_t handle, unsigned lane) {
  const Image* image = find_image(*w.worker->launch->memory, handle);
  if (image == nullptr) {
    w.worker->fault(w, FaultKind::illegal_address, "the texture handle names no texture object",
                    lane, handle);
    return nullptr;
  }
  if (image->base == 0 || image->width == 0 ||
      !memory_holds(w, image->base, image->element_bytes)) {
    w.worker->fault(w, FaultKind::illegal_address, "the texture's memory was freed", lane,
                    image->base);
    return nullptr;
  }
  return image;
}

void fetch(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  const Request q(op);
  const std::int32_t* coordinates = op.extra->registers.data() + q.results;
  const Image* image = nullptr;
  std::uint64_t known = 0;
  TexelTrace trace(w, op, false);
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t handle = reinterpret_cast<const std::uint64_t*>(r + op.r[4])[lane];
    if (image == nullptr || handle != known) {
      image = texture_of(w, handle, lane);
      if (image == nullptr) return;
      known = handle;
    }
    unsigned at = 0;
    std::uint64_t layer = 0;
    if (q.layered) {
      layer = reinterpret_cast<const std::uint32_t*>(r + coordinates[at++])[lane];
      std::uint64_t layers = image->depth != 0 ? image->depth : 1;
      if (q.cube) layers = layers >= 6 ? layers / 6 : 1;
      if (layer >= layers) layer = static_cast<std::int32_t>(layer) < 0 ? 0 : layers - 1;
    }
    float x[3] = {};
    std::int64_t index[3] = {};
    for (unsigned a = 0; a < q.axes; ++a, ++at) {
      if (q.integer)
        index[a] = reinterpret_cast<const std::int32_t*>(r + coordinates[at])[lane];
      else
        x[a] = reinterpret_cast<const float*>(r + coordinates[at])[lane];
    }
    unsigned axes = q.axes;
    if (q.cube) {  // the major axis chooses the face
      const float ax = std::fabs(x[0]), ay = std::fabs(x[1]), az = std::fabs(x[2]);
      float s = 0, t = 0, m = 1;
      const std::uint64_t first = 6 * layer;  // of a layered cube's faces
      if (ax >= ay && ax >= az)
        layer = x[0] >= 0 ? first + 0 : first + 1, m = ax, s = x[0] >= 0 ? -x[2] : x[2], t = -x[1];
      else if (ay >= az)
        layer = x[1] >= 0 ? first + 2 : first + 3, m = ay, s = x[0], t = x[1] >= 0 ? x[2] : -x[2];
      else
        layer = x[2] >= 0 ? first + 4 : first + 5, m = az, s = x[2] >= 0 ? x[0] : -x[0], t = -x[1];
      x[0] = (s / m + 1) / 2;
      x[1] = (t / m + 1) / 2;
      axes = 2;
    }
    const float sizes[3] = {static_cast<float>(image->width), static_cast<float>(image->height),
                            static_cast<float>(image->depth)};
    float f[4] = {};
    std::uint32_t raw[4] = {};
    const Sampler sampler{*image, axes, layer, trace};
    const bool floats = image->channel == Image::Channel::floating || image->normalized_read;
    if (!q.integer) {
      for (unsigned a = 0; a < axes; ++a) {
        if (image->normalized_coordinates || q.cube) x[a] *= sizes[a];
      }
    }
    if (!q.integer && image->linear_filter && floats) {
      std::int64_t low[3] = {};
      float alpha[3] = {};
      for (unsigned a = 0; a < axes; ++a) {
        const float b = x[a] - 0.5f, fl = std::floor(b);
        low[a] = static_cast<std::int64_t>(fl);
        alpha[a] = std::round((b - fl) * 256.0f) / 256.0f;  // 1.8 fixed point
      }
      for (unsigned corner = 0; corner < (1u << axes); ++corner) {
        float weight = 1;
        std::int64_t i[3] = {};
        for (unsigned a = 0; a < axes; ++a) {
          const bool high = corner >> a & 1;
          weight *= high ? alpha[a] : 1 - alpha[a];
          i[a] = low[a] + high;
        }
        if (weight == 0) continue;
        float corner_value[4];
        sampler.channels(sampler.texel(i), corner_value);
        for (unsigned c = 0; c < 4; ++c) f[c] += weight * corner_value[c];
      }
    } else {
      if (!q.integer) {
        for (unsigned a = 0; a < axes; ++a) index[a] = static_cast<std::int64_t>(std::floor(x[a]));
      }
      const std::uint8_t* t = sampler.texel(index);
      if (floats) {
        sampler.channels(t, f);
      } else if (t != nullptr) {
        for (unsigned c = 0; c < image->channels; ++c) {
          raw[c] = stored(*image, t, c);
          if (image->channel == Image::Channel::signed_int && image->channel_bytes < 4) {
            const unsigned shift = 32 - 8 * image->channel_bytes;
            raw[c] =
                static_cast<std::uint32_t>(static_cast<std::int32_t>(raw[c] << shift) >> shift);
          }
        }
      }
    }
    for (unsigned c = 0; c < q.results; ++c) {
      reinterpret_cast<std::uint32_t*>(r + op.extra->registers[c])[lane] =
          floats ? std::bit_cast<std::uint32_t>(f[c]) : raw[c];
    }
  }
  trace.count();
}

/// One component of a formatted store: floats to float formats, else the low bits.
void store_component(const Image& image, std::uint8_t* to, std::uint32_t v) {
  if (image.channel == Image::Channel::floating && image.channel_bytes == 2)
    v = float_to_half(std::bit_cast<float>(v));
  std::memcpy(to, &v, image.channel_bytes);
}

template <bool Store>
void surface(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  const Request q(op);
  const std::int32_t* coordinates = op.extra->registers.data() + q.results;
  const unsigned lane_bytes = q.bytes == 1 ? 2 : q.bytes;
  TexelTrace trace(w, op, Store);
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t handle = reinterpret_cast<const std::uint64_t*>(r + op.r[4])[lane];
    const Image* image = find_image(*w.worker->launch->memory, handle);
    if (image == nullptr)
      return w.worker->fault(w, FaultKind::illegal_address,
                             "the surface handle names no surface object", lane, handle);
    const unsigned total = q.formatted ? image->element_bytes : q.bytes * q.results;
    unsigned at = 0;
    std::int64_t layer = 0, i[3] = {};
    if (q.layered) layer = reinterpret_cast<const std::int32_t*>(r + coordinates[at++])[lane];
    for (unsigned a = 0; a < q.axes; ++a, ++at)
      i[a] = reinterpret_cast<const std::int32_t*>(r + coordinates[at])[lane];
    if (q.axes == 3) layer = i[2];
    if (q.formatted) i[0] *= total;
    const auto row = static_cast<std::int64_t>(image->width * image->element_bytes);
    const std::int64_t rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(image->height)),
                       layers = std::max<std::int64_t>(1, static_cast<std::int64_t>(image->depth));
    bool inside = i[0] >= 0 && i[0] + total <= row && (q.axes < 2 || (i[1] >= 0 && i[1] < rows)) &&
                  layer >= 0 && layer < layers;
    if (!inside && q.mode == 't')
      return w.worker->fault(w, FaultKind::illegal_address,
                             "surface access out of bounds at x = " + std::to_string(i[0]) +
                                 " bytes, y = " + std::to_string(i[1]),
                             lane, image->base);
    if (i[0] % total != 0)
      return w.worker->fault(w, FaultKind::misaligned_address,
                             "misaligned surface access at x = " + std::to_string(i[0]) + " bytes",
                             lane, image->base);
    if (!inside && q.mode == 'c') {
      i[0] = std::clamp<std::int64_t>(i[0], 0, row - total);
      i[1] = std::clamp<std::int64_t>(i[1], 0, rows - 1);
      layer = std::clamp<std::int64_t>(layer, 0, layers - 1);
      inside = true;
    }
    std::uint8_t* p = reinterpret_cast<std::uint8_t*>(image->base) +
                      static_cast<std::uint64_t>(layer) * image->slice +
                      static_cast<std::uint64_t>(q.axes >= 2 ? i[1] : 0) * image->pitch + i[0];
    if (inside && !memory_holds(w, reinterpret_cast<std::uint64_t>(p), total))
      return w.worker->fault(w, FaultKind::illegal_address, "the surface's memory was freed", lane,
                             image->base);
    if (inside) trace.add(*image, p, total);
    if (q.formatted) {
      for (unsigned c = 0; inside && c < image->channels; ++c) {
        const auto* source = reinterpret_cast<const std::uint32_t*>(
            r + op.extra->registers[std::min(c, q.results - 1)]);
        store_component(*image, p + c * image->channel_bytes, c < q.results ? source[lane] : 0);
      }
      continue;
    }
    for (unsigned c = 0; c < q.results; ++c) {
      std::uint8_t* lane_register = r + op.extra->registers[c] + lane * lane_bytes;
      if (Store) {
        if (inside) std::memcpy(p + c * q.bytes, lane_register, q.bytes);
      } else {
        std::memset(lane_register, 0, lane_bytes);
        if (inside) std::memcpy(lane_register, p + c * q.bytes, q.bytes);
      }
    }
  }
  trace.count();
}

// aux: 0 width, 1 height, 2 depth.
void query(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t handle = reinterpret_cast<const std::uint64_t*>(r + op.r[4])[lane];
    const Image* image = find_image(*w.worker->launch->memory, handle);
    if (image == nullptr)
      return w.worker->fault(w, FaultKind::illegal_address,
                             "the handle names no texture or surface object", lane, handle);
    reinterpret_cast<std::uint32_t*>(r + op.r[0])[lane] =
        static_cast<std::uint32_t>(op.aux == 0   ? image->width
                                   : op.aux == 1 ? image->height
                                                 : image->depth);
  }
}

}  // namespace

FunctionDecoder::Result FunctionDecoder::texture(Modifiers& m) {
  pipe_ = Pipe::texture;
  const std::string& root = at_->root;
  if (root == "txq" || root == "suq") {
    const std::string_view what = m.take_any({"width", "height", "depth"});
    if (what.empty() || !m.take("b32") || !m.empty()) return Result::unsupported;
    const Operand& a = operand(1);
    Operand name;
    name.name = a.name;
    const std::int32_t handle = source(name, Type::b64), d = destination(operand(0), 4);
    Op& op = emit(query, Step::faulting);
    op.r[0] = d;
    op.r[4] = handle;
    op.aux = what == "width" ? 0 : what == "height" ? 1 : 2;
    return Result::done;
  }
  const bool store = root == "sust", tex = root == "tex";
  if (!tex && root != "suld" && !store) return Result::unsupported;
  const bool formatted = store && m.take("p");
  if (!tex && !formatted && !m.take("b")) return Result::unsupported;
  if (tex) m.take_any({"level", "grad", "base"});  // images have one level
  Geometry g;
  if (!geometry_of(m.take_any({"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"}), g))
    return Result::unsupported;
  m.take_any({"ca", "cg", "cs", "cv", "wb", "wt"});
  const std::string_view vector = m.take_any({"v2", "v4"});
  const Type type = m.take_type();
  const Type coordinate = tex ? m.take_type() : Type::s32;
  const std::string_view mode =
      tex ? std::string_view("clamp") : m.take_any({"trap", "clamp", "zero"});
  if (!m.empty() || type == Type::none || mode.empty()) return Result::unsupported;
  if (tex && (type_bytes(type) != 4 || (coordinate != Type::f32 && coordinate != Type::s32)))
    return Result::unsupported;
  if (formatted && type != Type::b32) return Result::unsupported;
  const Operand& where = operand(store ? 0 : 1);
  const Operand& data = operand(store ? 1 : 0);
  if (where.kind != Operand::Kind::texture || where.items.size() != 2)
    return Result::unsupported;  // separate samplers
  const std::int32_t handle = source(where.items[0], Type::b64);
  const std::vector<Operand> coordinates = where.items[1].kind == Operand::Kind::vector
                                               ? where.items[1].items
                                               : std::vector<Operand>{where.items[1]};
  const unsigned needed = g.axes + (g.layered ? 1 : 0);
  if (coordinates.size() < needed) fail("too few coordinates");
  const std::vector<Operand> values =
      data.kind == Operand::Kind::vector ? data.items : std::vector<Operand>{data};
  const std::size_t expected = vector == "v2" ? 2 : vector == "v4" ? 4 : 1;
  if (values.size() != expected) fail("vector operand doesn't match its modifier");
  const unsigned bytes = type_bytes(type);
  std::vector<std::int32_t> registers;
  for (const Operand& v : values)
    registers.push_back(store ? source(v, type) : destination(v, bytes));
  for (unsigned i = 0; i < needed; ++i)
    registers.push_back(source(coordinates[i], g.layered && i == 0       ? Type::b32
                                               : coordinate == Type::f32 ? Type::b32
                                                                         : Type::b32));
  Op& op = emit(tex ? fetch : store ? surface<true> : surface<false>, Step::faulting);
  op.r[4] = handle;
  Extra& e = extra(op);
  e.registers = std::move(registers);
  e.values = {g.axes,
              g.layered,
              g.cube,
              static_cast<std::int64_t>(values.size()),
              coordinate == Type::s32,
              static_cast<std::int64_t>(type),
              bytes,
              mode[0],
              formatted};
  return Result::done;
}

}  // namespace cudasim
