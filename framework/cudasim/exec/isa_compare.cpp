// Handlers of setp and set.
#include "cudasim/exec/isa_parts.hpp"

namespace cudasim::CUDASIM_ISA {
namespace {
#include "cudasim/exec/lanes.inl"
#include "cudasim/exec/lanes_float.inl"
#include "cudasim/exec/lanes_integer.inl"

template <typename T, template <typename> class F>
Handler setp_for(const Key& k) {
  if constexpr (std::is_same_v<T, float>) {
    if (k.ftz) return set_predicate<float, FlushedCompare<F<float>>>;
  }
  return set_predicate<T, F<T>>;
}
template <typename S, template <typename> class F>
Handler setp_small(const Key& k, bool pair) {
  if (pair)
    return k.ftz ? set_predicate_pair<SmallFlushedCompare<S, F<float>>>
                 : set_predicate_pair<SmallCompare<S, F<float>>>;
  return k.ftz ? set_predicate<std::uint16_t, SmallFlushedCompare<S, F<float>>>
               : set_predicate<std::uint16_t, SmallCompare<S, F<float>>>;
}
template <typename D, typename T, template <typename> class F>
Handler set_sized(const Key& k) {
  if constexpr (std::is_same_v<T, float>) {
    if (k.ftz) return set_value<D, float, FlushedCompare<F<float>>>;
  }
  return set_value<D, T, F<T>>;
}
template <typename S, template <typename> class F>
Handler set_small(const Key& k, bool pair) {
  if (pair)
    return k.ftz ? set_value_pair<SmallFlushedCompare<S, F<float>>>
                 : set_value_pair<SmallCompare<S, F<float>>>;
  if (type_bytes(k.type) == 2)
    return k.ftz ? set_value<std::uint16_t, std::uint16_t, SmallFlushedCompare<S, F<float>>>
                 : set_value<std::uint16_t, std::uint16_t, SmallCompare<S, F<float>>>;
  return k.ftz ? set_value<std::uint32_t, std::uint16_t, SmallFlushedCompare<S, F<float>>>
               : set_value<std::uint32_t, std::uint16_t, SmallCompare<S, F<float>>>;
}
/// `from` is the type compared. For set, `type` is the result's.
template <template <typename> class F, bool Float>
Handler comparison(const Key& k) {
  const bool set = k.op == "set";
  const bool narrow = type_bytes(k.type) == 2;
  switch (k.from) {
#define CUDASIM_COMPARE(ptx, T)                         \
  case Type::ptx:                                       \
    return !set     ? setp_for<T, F>(k)                 \
           : narrow ? set_sized<std::uint16_t, T, F>(k) \
                    : set_sized<std::uint32_t, T, F>(k);
    CUDASIM_COMPARE(f32, float)
    CUDASIM_COMPARE(f64, double)
#undef CUDASIM_COMPARE
    case Type::f16:
      return set ? set_small<F16, F>(k, false) : setp_small<F16, F>(k, false);
    case Type::f16x2:
      return set ? set_small<F16, F>(k, true) : setp_small<F16, F>(k, true);
    case Type::bf16:
      return set ? set_small<BF16, F>(k, false) : setp_small<BF16, F>(k, false);
    case Type::bf16x2:
      return set ? set_small<BF16, F>(k, true) : setp_small<BF16, F>(k, true);
    default:
      break;
  }
  if constexpr (!Float) {
    switch (k.from) {
#define CUDASIM_COMPARE(ptx, T) \
  case Type::ptx:               \
    return !set ? setp_for<T, F>(k) : narrow ? nullptr : set_sized<std::uint32_t, T, F>(k);
      CUDASIM_COMPARE(u16, std::uint16_t)
      CUDASIM_COMPARE(b16, std::uint16_t) CUDASIM_COMPARE(s16, std::int16_t)
          CUDASIM_COMPARE(u32, std::uint32_t) CUDASIM_COMPARE(b32, std::uint32_t)
              CUDASIM_COMPARE(s32, std::int32_t) CUDASIM_COMPARE(u64, std::uint64_t)
                  CUDASIM_COMPARE(b64, std::uint64_t) CUDASIM_COMPARE(s64, std::int64_t)
#undef CUDASIM_COMPARE
                      default : break;
    }
  }
  return nullptr;
}
Handler choose(const Key& k) {
  const bool is_float = k.from == Type::f32 || k.from == Type::f64 || k.from == Type::f16 ||
                        k.from == Type::f16x2 || k.from == Type::bf16 || k.from == Type::bf16x2;
  const bool is_signed = k.from == Type::s16 || k.from == Type::s32 || k.from == Type::s64;
  if (k.compare == "eq") return comparison<Eq, false>(k);
  if (k.compare == "ne")
    return is_float ? comparison<NeOrdered, true>(k) : comparison<Ne, false>(k);
  if (k.compare == "lt") return comparison<Lt, false>(k);
  if (k.compare == "le") return comparison<Le, false>(k);
  if (k.compare == "gt") return comparison<Gt, false>(k);
  if (k.compare == "ge") return comparison<Ge, false>(k);
  if (!is_float) {
    if (is_signed) return nullptr;
    if (k.compare == "lo") return comparison<Lt, false>(k);
    if (k.compare == "ls") return comparison<Le, false>(k);
    if (k.compare == "hi") return comparison<Gt, false>(k);
    if (k.compare == "hs") return comparison<Ge, false>(k);
    return nullptr;
  }
  if (k.compare == "equ") return comparison<Equ, true>(k);
  if (k.compare == "neu") return comparison<Ne, true>(k);
  if (k.compare == "ltu") return comparison<Ltu, true>(k);
  if (k.compare == "leu") return comparison<Leu, true>(k);
  if (k.compare == "gtu") return comparison<Gtu, true>(k);
  if (k.compare == "geu") return comparison<Geu, true>(k);
  if (k.compare == "num") return comparison<Num, true>(k);
  if (k.compare == "nan") return comparison<NanCompare, true>(k);
  return nullptr;
}

}  // namespace

Handler compare_handler(const Key& k) { return choose(k); }

}  // namespace cudasim::CUDASIM_ISA
