// Handlers of integer, bit, predicate and select operations.
#include "cudasim/exec/isa_parts.hpp"

namespace cudasim::CUDASIM_ISA {
namespace {
#include "cudasim/exec/lanes.inl"
#include "cudasim/exec/lanes_float.inl"
#include "cudasim/exec/lanes_integer.inl"

template <template <typename> class F, bool SignMatters>
Handler integer_binary(Type type) {
  switch (type) {
    case Type::u16:
    case Type::b16:
      return binary<std::uint16_t, std::uint16_t, std::uint16_t, F<std::uint16_t>>;
    case Type::u32:
    case Type::b32:
      return binary<std::uint32_t, std::uint32_t, std::uint32_t, F<std::uint32_t>>;
    case Type::u64:
    case Type::b64:
      return binary<std::uint64_t, std::uint64_t, std::uint64_t, F<std::uint64_t>>;
    case Type::s16:
      if constexpr (SignMatters)
        return binary<std::int16_t, std::int16_t, std::int16_t, F<std::int16_t>>;
      else
        return binary<std::uint16_t, std::uint16_t, std::uint16_t, F<std::uint16_t>>;
    case Type::s32:
      if constexpr (SignMatters)
        return binary<std::int32_t, std::int32_t, std::int32_t, F<std::int32_t>>;
      else
        return binary<std::uint32_t, std::uint32_t, std::uint32_t, F<std::uint32_t>>;
    case Type::s64:
      if constexpr (SignMatters)
        return binary<std::int64_t, std::int64_t, std::int64_t, F<std::int64_t>>;
      else
        return binary<std::uint64_t, std::uint64_t, std::uint64_t, F<std::uint64_t>>;
    default:
      return nullptr;
  }
}
template <template <typename> class F>
Handler integer_unary(Type type) {
  switch (type) {
    case Type::u16:
    case Type::b16:
    case Type::s16:
      return unary<std::uint16_t, std::uint16_t, F<std::uint16_t>>;
    case Type::u32:
    case Type::b32:
    case Type::s32:
      return unary<std::uint32_t, std::uint32_t, F<std::uint32_t>>;
    case Type::u64:
    case Type::b64:
    case Type::s64:
      return unary<std::uint64_t, std::uint64_t, F<std::uint64_t>>;
    default:
      return nullptr;
  }
}
template <template <typename> class F>
Handler shift(Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return binary<std::uint16_t, std::uint16_t, std::uint32_t, F<std::uint16_t>>;
    case Type::b32:
    case Type::u32:
      return binary<std::uint32_t, std::uint32_t, std::uint32_t, F<std::uint32_t>>;
    case Type::b64:
    case Type::u64:
      return binary<std::uint64_t, std::uint64_t, std::uint32_t, F<std::uint64_t>>;
    case Type::s16:
      return binary<std::int16_t, std::int16_t, std::uint32_t, F<std::int16_t>>;
    case Type::s32:
      return binary<std::int32_t, std::int32_t, std::uint32_t, F<std::int32_t>>;
    case Type::s64:
      return binary<std::int64_t, std::int64_t, std::uint32_t, F<std::int64_t>>;
    default:
      return nullptr;
  }
}
template <template <typename> class F, typename... Args>
Handler signed_ternary(Type type) {
  switch (type) {
    case Type::u16:
      return ternary<std::uint16_t, std::uint16_t, std::uint16_t, std::uint16_t, F<std::uint16_t>>;
    case Type::s16:
      return ternary<std::int16_t, std::int16_t, std::int16_t, std::int16_t, F<std::int16_t>>;
    case Type::u32:
      return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, F<std::uint32_t>>;
    case Type::s32:
      return ternary<std::int32_t, std::int32_t, std::int32_t, std::int32_t, F<std::int32_t>>;
    case Type::u64:
      return ternary<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, F<std::uint64_t>>;
    case Type::s64:
      return ternary<std::int64_t, std::int64_t, std::int64_t, std::int64_t, F<std::int64_t>>;
    default:
      return nullptr;
  }
}
template <typename T, template <typename> class F>
constexpr Handler bin() {
  return binary<T, T, T, F<T>>;
}

template <template <typename> class F>
Handler pair_integer(bool is_signed) {
  if (is_signed) {
    struct S {
      static std::uint16_t run(std::uint16_t a, std::uint16_t b) {
        return static_cast<std::uint16_t>(
            F<std::int16_t>::run(static_cast<std::int16_t>(a), static_cast<std::int16_t>(b)));
      }
    };
    return binary<std::uint32_t, std::uint32_t, std::uint32_t, Pair<S>>;
  }
  struct U {
    static std::uint16_t run(std::uint16_t a, std::uint16_t b) {
      return F<std::uint16_t>::run(a, b);
    }
  };
  return binary<std::uint32_t, std::uint32_t, std::uint32_t, Pair<U>>;
}

inline Handler integer_arithmetic(const Key& k) {
  const std::string_view o = k.op;
  const Type t = k.type;
  if (t == Type::s16x2 || t == Type::u16x2) {
    const bool s = t == Type::s16x2;
    if (o == "add") return pair_integer<IAdd>(false);
    if (o == "min") return k.relu ? pair_integer<IMinRelu>(s) : pair_integer<IMin>(s);
    if (o == "max") return k.relu ? pair_integer<IMaxRelu>(s) : pair_integer<IMax>(s);
    return nullptr;
  }
  if (o == "add")
    return k.sat ? (t == Type::s32 ? bin<std::int32_t, IAddSat>() : nullptr)
                 : integer_binary<IAdd, false>(t);
  if (o == "sub")
    return k.sat ? (t == Type::s32 ? bin<std::int32_t, ISubSat>() : nullptr)
                 : integer_binary<ISub, false>(t);
  if (o == "mul.lo") return integer_binary<IMul, false>(t);
  if (o == "mul.hi") return integer_binary<IMulHi, true>(t);
  if (o == "mul.wide") switch (t) {
      case Type::u16:
        return binary<std::uint32_t, std::uint16_t, std::uint16_t, IMulWide<std::uint16_t>>;
      case Type::s16:
        return binary<std::int32_t, std::int16_t, std::int16_t, IMulWide<std::int16_t>>;
      case Type::u32:
        return binary<std::uint64_t, std::uint32_t, std::uint32_t, IMulWide<std::uint32_t>>;
      case Type::s32:
        return binary<std::int64_t, std::int32_t, std::int32_t, IMulWide<std::int32_t>>;
      default:
        return nullptr;
    }
  if (o == "mad.wide") switch (t) {
      case Type::u16:
        return ternary<std::uint32_t, std::uint16_t, std::uint16_t, std::uint32_t,
                       IMadWide<std::uint16_t>>;
      case Type::s16:
        return ternary<std::int32_t, std::int16_t, std::int16_t, std::int32_t,
                       IMadWide<std::int16_t>>;
      case Type::u32:
        return ternary<std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t,
                       IMadWide<std::uint32_t>>;
      case Type::s32:
        return ternary<std::int64_t, std::int32_t, std::int32_t, std::int64_t,
                       IMadWide<std::int32_t>>;
      default:
        return nullptr;
    }
  if (o == "mad.lo") switch (type_bytes(t)) {
      case 2:
        return ternary<std::uint16_t, std::uint16_t, std::uint16_t, std::uint16_t,
                       IMadLo<std::uint16_t>>;
      case 4:
        return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                       IMadLo<std::uint32_t>>;
      case 8:
        return ternary<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                       IMadLo<std::uint64_t>>;
      default:
        return nullptr;
    }
  if (o == "mad.hi")
    return k.sat ? (t == Type::s32 ? ternary<std::int32_t, std::int32_t, std::int32_t, std::int32_t,
                                             IMadHiSat<std::int32_t>>
                                   : nullptr)
                 : signed_ternary<IMadHi>(t);
  if (o == "mul24.lo")
    return t == Type::s32 ? binary<std::uint32_t, std::uint32_t, std::uint32_t, Mul24S>
                          : binary<std::uint32_t, std::uint32_t, std::uint32_t, Mul24U>;
  if (o == "mul24.hi")
    return t == Type::s32 ? binary<std::uint32_t, std::uint32_t, std::uint32_t, Mul24HiS>
                          : binary<std::uint32_t, std::uint32_t, std::uint32_t, Mul24HiU>;
  if (o == "mad24.lo")
    return t == Type::s32
               ? ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Mad24S>
               : ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Mad24U>;
  if (o == "sad") return signed_ternary<ISad>(t);
  if (o == "div") return integer_binary<IDiv, true>(t);
  if (o == "rem") return integer_binary<IRem, true>(t);
  if (o == "min")
    return k.relu ? (t == Type::s32 ? bin<std::int32_t, IMinRelu>() : nullptr)
                  : integer_binary<IMin, true>(t);
  if (o == "max")
    return k.relu ? (t == Type::s32 ? bin<std::int32_t, IMaxRelu>() : nullptr)
                  : integer_binary<IMax, true>(t);
  if (o == "abs") switch (t) {
      case Type::s16:
        return unary<std::int16_t, std::int16_t, IAbs<std::int16_t>>;
      case Type::s32:
        return unary<std::int32_t, std::int32_t, IAbs<std::int32_t>>;
      case Type::s64:
        return unary<std::int64_t, std::int64_t, IAbs<std::int64_t>>;
      default:
        return nullptr;
    }
  if (o == "neg") return integer_unary<INeg>(t);
  if (o == "not") return integer_unary<INot>(t);
  if (o == "cnot") return integer_unary<ICnot>(t);
  if (o == "and") return integer_binary<IAnd, false>(t);
  if (o == "or") return integer_binary<IOr, false>(t);
  if (o == "xor") return integer_binary<IXor, false>(t);
  if (o == "shl") return shift<IShl>(t);
  if (o == "shr") return shift<IShr>(t);
  if (o == "popc")
    return type_bytes(t) == 8 ? unary<std::uint32_t, std::uint64_t, Popc<std::uint64_t>>
                              : unary<std::uint32_t, std::uint32_t, Popc<std::uint32_t>>;
  if (o == "clz")
    return type_bytes(t) == 8 ? unary<std::uint32_t, std::uint64_t, Clz<std::uint64_t>>
                              : unary<std::uint32_t, std::uint32_t, Clz<std::uint32_t>>;
  if (o == "brev")
    return type_bytes(t) == 8 ? unary<std::uint64_t, std::uint64_t, Brev64>
                              : unary<std::uint32_t, std::uint32_t, Brev32>;
  if (o == "bfind") {
    const bool amount = k.mode == "shiftamt";
    switch (t) {
      case Type::u32:
        return amount ? unary<std::uint32_t, std::uint32_t, Bfind<std::uint32_t, true>>
                      : unary<std::uint32_t, std::uint32_t, Bfind<std::uint32_t, false>>;
      case Type::s32:
        return amount ? unary<std::uint32_t, std::int32_t, Bfind<std::int32_t, true>>
                      : unary<std::uint32_t, std::int32_t, Bfind<std::int32_t, false>>;
      case Type::u64:
        return amount ? unary<std::uint32_t, std::uint64_t, Bfind<std::uint64_t, true>>
                      : unary<std::uint32_t, std::uint64_t, Bfind<std::uint64_t, false>>;
      case Type::s64:
        return amount ? unary<std::uint32_t, std::int64_t, Bfind<std::int64_t, true>>
                      : unary<std::uint32_t, std::int64_t, Bfind<std::int64_t, false>>;
      default:
        return nullptr;
    }
  }
  if (o == "fns") return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Fns>;
  if (o == "bfe") switch (t) {
      case Type::u32:
        return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                       Bfe<std::uint32_t>>;
      case Type::s32:
        return ternary<std::int32_t, std::int32_t, std::uint32_t, std::uint32_t, Bfe<std::int32_t>>;
      case Type::u64:
        return ternary<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t,
                       Bfe<std::uint64_t>>;
      case Type::s64:
        return ternary<std::int64_t, std::int64_t, std::uint32_t, std::uint32_t, Bfe<std::int64_t>>;
      default:
        return nullptr;
    }
  if (o == "bfi") {
    if (type_bytes(t) == 8)
      return quaternary<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t,
                        Bfi<std::uint64_t>>;
    return quaternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                      Bfi<std::uint32_t>>;
  }
  if (o == "bmsk")
    return k.mode == "wrap" ? binary<std::uint32_t, std::uint32_t, std::uint32_t, Bmsk<false>>
                            : binary<std::uint32_t, std::uint32_t, std::uint32_t, Bmsk<true>>;
  if (o == "szext") {
    const bool wrap = k.mode == "wrap";
    if (t == Type::s32)
      return wrap ? binary<std::int32_t, std::int32_t, std::uint32_t, Szext<std::int32_t, true>>
                  : binary<std::int32_t, std::int32_t, std::uint32_t, Szext<std::int32_t, false>>;
    return wrap ? binary<std::uint32_t, std::uint32_t, std::uint32_t, Szext<std::uint32_t, true>>
                : binary<std::uint32_t, std::uint32_t, std::uint32_t, Szext<std::uint32_t, false>>;
  }
  if (o == "shf.l")
    return k.mode == "wrap" ? ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                                      Shf<true, true>>
                            : ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                                      Shf<true, false>>;
  if (o == "shf.r")
    return k.mode == "wrap" ? ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                                      Shf<false, true>>
                            : ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                                      Shf<false, false>>;
  if (o == "prmt") {
    if (k.mode == "f4e")
      return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, PrmtMode<0>>;
    if (k.mode == "b4e")
      return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, PrmtMode<1>>;
    if (k.mode == "rc8")
      return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, PrmtMode<2>>;
    if (k.mode == "ecl")
      return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, PrmtMode<3>>;
    if (k.mode == "ecr")
      return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, PrmtMode<4>>;
    if (k.mode == "rc16")
      return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, PrmtMode<5>>;
    return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Prmt>;
  }
  if (o == "dp4a" || o == "dp2a.lo" || o == "dp2a.hi") {
    const bool sa = k.type == Type::s32, sb = k.from == Type::s32;
#define CUDASIM_DOT(...) \
  ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, __VA_ARGS__>
    if (o == "dp4a")
      return sa ? (sb ? CUDASIM_DOT(Dp4a<true, true>) : CUDASIM_DOT(Dp4a<true, false>))
                : (sb ? CUDASIM_DOT(Dp4a<false, true>) : CUDASIM_DOT(Dp4a<false, false>));
    if (o == "dp2a.lo")
      return sa ? (sb ? CUDASIM_DOT(Dp2a<true, true, false>)
                      : CUDASIM_DOT(Dp2a<true, false, false>))
                : (sb ? CUDASIM_DOT(Dp2a<false, true, false>)
                      : CUDASIM_DOT(Dp2a<false, false, false>));
    return sa ? (sb ? CUDASIM_DOT(Dp2a<true, true, true>) : CUDASIM_DOT(Dp2a<true, false, true>))
              : (sb ? CUDASIM_DOT(Dp2a<false, true, true>) : CUDASIM_DOT(Dp2a<false, false, true>));
#undef CUDASIM_DOT
  }
  if (o == "lop3") return lop3;
  if (o == "addc")
    return type_bytes(t) == 8   ? add_carry<std::uint64_t, false>
           : type_bytes(t) == 4 ? add_carry<std::uint32_t, false>
                                : nullptr;
  if (o == "subc")
    return type_bytes(t) == 8   ? add_carry<std::uint64_t, true>
           : type_bytes(t) == 4 ? add_carry<std::uint32_t, true>
                                : nullptr;
  if (o == "madc.lo")
    return type_bytes(t) == 8 ? mad_carry<std::uint64_t, false> : mad_carry<std::uint32_t, false>;
  if (o == "madc.hi") switch (t) {
      case Type::u32:
        return mad_carry<std::uint32_t, true>;
      case Type::s32:
        return mad_carry<std::int32_t, true>;
      case Type::u64:
        return mad_carry<std::uint64_t, true>;
      case Type::s64:
        return mad_carry<std::int64_t, true>;
      default:
        return nullptr;
    }
  if (o == "vabsdiff4") return vabsdiff<8>;
  if (o == "vabsdiff2") return vabsdiff<16>;
  return nullptr;
}

}  // namespace

Handler arithmetic(const Key& k) {
  if (k.op == "setp" || k.op == "set") return compare_handler(k);
  if (k.type == Type::pred) {
    if (k.op == "and") return predicate_op<'&'>;
    if (k.op == "or") return predicate_op<'|'>;
    if (k.op == "xor") return predicate_op<'^'>;
    if (k.op == "not") return predicate_op<'~'>;
    if (k.op == "mov") return predicate_op<'='>;
    return nullptr;
  }
  if (k.op == "mov") switch (type_bytes(k.type)) {
      case 2:
        return unary<std::uint16_t, std::uint16_t, Move<std::uint16_t>>;
      case 4:
        return unary<std::uint32_t, std::uint32_t, Move<std::uint32_t>>;
      case 8:
        return unary<std::uint64_t, std::uint64_t, Move<std::uint64_t>>;
      default:
        return nullptr;
    }
  if (k.op == "selp") switch (type_bytes(k.type)) {
      case 2:
        return select<std::uint16_t>;
      case 4:
        return select<std::uint32_t>;
      case 8:
        return select<std::uint64_t>;
      default:
        return nullptr;
    }
  if (k.op == "slct") {
    const unsigned size = type_bytes(k.type);
    if (k.from == Type::s32)
      return size == 2   ? ternary<std::uint16_t, std::uint16_t, std::uint16_t, std::int32_t,
                                 Slct<std::uint16_t, std::int32_t>>
             : size == 4 ? ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::int32_t,
                                   Slct<std::uint32_t, std::int32_t>>
                         : ternary<std::uint64_t, std::uint64_t, std::uint64_t, std::int32_t,
                                   Slct<std::uint64_t, std::int32_t>>;
    if (k.from == Type::f32 && k.ftz)
      return size == 2   ? ternary<std::uint16_t, std::uint16_t, std::uint16_t, float,
                                 SlctFtz<std::uint16_t>>
             : size == 4 ? ternary<std::uint32_t, std::uint32_t, std::uint32_t, float,
                                   SlctFtz<std::uint32_t>>
                         : ternary<std::uint64_t, std::uint64_t, std::uint64_t, float,
                                   SlctFtz<std::uint64_t>>;
    if (k.from == Type::f32)
      return size == 2   ? ternary<std::uint16_t, std::uint16_t, std::uint16_t, float,
                                 Slct<std::uint16_t, float>>
             : size == 4 ? ternary<std::uint32_t, std::uint32_t, std::uint32_t, float,
                                   Slct<std::uint32_t, float>>
                         : ternary<std::uint64_t, std::uint64_t, std::uint64_t, float,
                                   Slct<std::uint64_t, float>>;
    return nullptr;
  }
  switch (k.type) {
    case Type::f32:
    case Type::f64:
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
      if (k.op == "and" || k.op == "or" || k.op == "xor") return nullptr;
      return float_arithmetic(k);
    default:
      return integer_arithmetic(k);
  }
}

}  // namespace cudasim::CUDASIM_ISA
