// Handlers of float arithmetic.
#include "cudasim/exec/isa_parts.hpp"

namespace cudasim::CUDASIM_ISA {
namespace {
#include "cudasim/exec/lanes.inl"
#include "cudasim/exec/lanes_float.inl"

// f32 with the four combinations of ftz and sat; f64 has neither.
template <template <typename, bool, bool> class F>
Handler float_binary(const Key& k) {
  if (k.type == Type::f64)
    return with_rounding<binary<double, double, double, F<double, false, false>>>(k.rounding);
  if (k.type != Type::f32) return nullptr;
  if (k.ftz && k.sat)
    return with_rounding<binary<float, float, float, F<float, true, true>>>(k.rounding);
  if (k.ftz) return with_rounding<binary<float, float, float, F<float, true, false>>>(k.rounding);
  if (k.sat) return with_rounding<binary<float, float, float, F<float, false, true>>>(k.rounding);
  return with_rounding<binary<float, float, float, F<float, false, false>>>(k.rounding);
}
template <template <typename, bool, bool> class F>
Handler float_unary(const Key& k) {
  if (k.type == Type::f64)
    return with_rounding<unary<double, double, F<double, false, false>>>(k.rounding);
  if (k.type != Type::f32) return nullptr;
  if (k.ftz) return with_rounding<unary<float, float, F<float, true, false>>>(k.rounding);
  return with_rounding<unary<float, float, F<float, false, false>>>(k.rounding);
}
inline Handler float_fma(const Key& k) {
  if (k.type == Type::f64)
    return with_rounding<ternary<double, double, double, double, FFma<double, false, false>>>(
        k.rounding);
  if (k.ftz && k.sat)
    return with_rounding<ternary<float, float, float, float, FFma<float, true, true>>>(k.rounding);
  if (k.ftz)
    return with_rounding<ternary<float, float, float, float, FFma<float, true, false>>>(k.rounding);
  if (k.sat)
    return with_rounding<ternary<float, float, float, float, FFma<float, false, true>>>(k.rounding);
  return with_rounding<ternary<float, float, float, float, FFma<float, false, false>>>(k.rounding);
}
template <typename F>
Handler small_binary(bool pair) {
  if (pair) return binary<std::uint32_t, std::uint32_t, std::uint32_t, Pair<F>>;
  return binary<std::uint16_t, std::uint16_t, std::uint16_t, F>;
}
template <typename F>
Handler small_unary(bool pair) {
  if (pair) return unary<std::uint32_t, std::uint32_t, Pair<F>>;
  return unary<std::uint16_t, std::uint16_t, F>;
}
template <typename F>
Handler small_ternary(bool pair) {
  if (pair) return ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Pair<F>>;
  return ternary<std::uint16_t, std::uint16_t, std::uint16_t, std::uint16_t, F>;
}
template <typename S>
Handler small_arithmetic(const Key& k, bool pair) {
  if (k.rounding != 0 && k.rounding != 'n') return nullptr;
  if (k.op == "add") {
    if (k.sat)
      return k.ftz ? small_binary<HAdd<S, true, true>>(pair)
                   : small_binary<HAdd<S, false, true>>(pair);
    return k.ftz ? small_binary<HAdd<S, true, false>>(pair)
                 : small_binary<HAdd<S, false, false>>(pair);
  }
  if (k.op == "sub") {
    if (k.sat)
      return k.ftz ? small_binary<HSub<S, true, true>>(pair)
                   : small_binary<HSub<S, false, true>>(pair);
    return k.ftz ? small_binary<HSub<S, true, false>>(pair)
                 : small_binary<HSub<S, false, false>>(pair);
  }
  if (k.op == "mul") {
    if (k.sat)
      return k.ftz ? small_binary<HMul<S, true, true>>(pair)
                   : small_binary<HMul<S, false, true>>(pair);
    return k.ftz ? small_binary<HMul<S, true, false>>(pair)
                 : small_binary<HMul<S, false, false>>(pair);
  }
  if (k.op == "fma") {
    if (k.relu)
      return k.ftz ? small_ternary<HFma<S, true, false, true>>(pair)
                   : small_ternary<HFma<S, false, false, true>>(pair);
    if (k.sat)
      return k.ftz ? small_ternary<HFma<S, true, true, false>>(pair)
                   : small_ternary<HFma<S, false, true, false>>(pair);
    return k.ftz ? small_ternary<HFma<S, true, false, false>>(pair)
                 : small_ternary<HFma<S, false, false, false>>(pair);
  }
  if (k.sat || k.relu) return nullptr;
  if (k.op == "min" || k.op == "max") {
    const bool max = k.op == "max";
    if (k.xorsign) {
      if (k.ftz) return nullptr;
      if (max)
        return k.nan ? small_binary<HMinMaxXorSign<S, true, true>>(pair)
                     : small_binary<HMinMaxXorSign<S, true, false>>(pair);
      return k.nan ? small_binary<HMinMaxXorSign<S, false, true>>(pair)
                   : small_binary<HMinMaxXorSign<S, false, false>>(pair);
    }
    if (max) {
      if (k.ftz)
        return k.nan ? small_binary<HMinMax<S, true, true, true>>(pair)
                     : small_binary<HMinMax<S, true, true, false>>(pair);
      return k.nan ? small_binary<HMinMax<S, false, true, true>>(pair)
                   : small_binary<HMinMax<S, false, true, false>>(pair);
    }
    if (k.ftz)
      return k.nan ? small_binary<HMinMax<S, true, false, true>>(pair)
                   : small_binary<HMinMax<S, true, false, false>>(pair);
    return k.nan ? small_binary<HMinMax<S, false, false, true>>(pair)
                 : small_binary<HMinMax<S, false, false, false>>(pair);
  }
  if (k.op == "neg")
    return k.ftz ? small_unary<HNeg<S, true>>(pair) : small_unary<HNeg<S, false>>(pair);
  if (k.op == "abs")
    return k.ftz ? small_unary<HAbs<S, true>>(pair) : small_unary<HAbs<S, false>>(pair);
  if (k.op == "ex2")
    return k.ftz ? small_unary<HEx2<S, true>>(pair) : small_unary<HEx2<S, false>>(pair);
  if (k.op == "tanh") return small_unary<HTanh<S>>(pair);
  return nullptr;
}

template <bool Max>
Handler float_min_max(const Key& k) {
  if (k.xorsign) {
    if (k.type != Type::f32) return nullptr;
    if (k.ftz)
      return k.nan ? binary<float, float, float, FMinMaxXorSign<true, Max, true>>
                   : binary<float, float, float, FMinMaxXorSign<true, Max, false>>;
    return k.nan ? binary<float, float, float, FMinMaxXorSign<false, Max, true>>
                 : binary<float, float, float, FMinMaxXorSign<false, Max, false>>;
  }
  if (k.type == Type::f64)
    return binary<double, double, double, FMinMax<double, false, Max, false>>;
  if (k.ftz)
    return k.nan ? binary<float, float, float, FMinMax<float, true, Max, true>>
                 : binary<float, float, float, FMinMax<float, true, Max, false>>;
  return k.nan ? binary<float, float, float, FMinMax<float, false, Max, true>>
               : binary<float, float, float, FMinMax<float, false, Max, false>>;
}

Handler wide_float_arithmetic(const Key& k) {
  if (k.relu) return nullptr;
  if (k.op == "add") return float_binary<FAdd>(k);
  if (k.op == "sub") return float_binary<FSub>(k);
  if (k.op == "mul") return float_binary<FMul>(k);
  if (k.op == "fma") return float_fma(k);
  if (k.op == "min") return float_min_max<false>(k);
  if (k.op == "max") return float_min_max<true>(k);
  if (k.sat) return nullptr;
  if (k.op == "div") {
    if (k.type == Type::f32 && (k.approx || k.full))
      return k.ftz ? binary<float, float, float, DivApprox<true>>
                   : binary<float, float, float, DivApprox<false>>;
    return float_binary<FDiv>(k);
  }
  if (k.op == "rcp") {
    if (k.type == Type::f64 && k.approx) return unary<double, double, RcpApproxD>;
    return float_unary<FRcp>(k);
  }
  if (k.op == "sqrt") return float_unary<FSqrt>(k);
  if (k.op == "rsqrt") {
    if (k.type == Type::f64)
      return k.ftz ? unary<double, double, RsqrtApproxD> : unary<double, double, RsqrtD>;
    return k.ftz ? unary<float, float, RsqrtF<true>> : unary<float, float, RsqrtF<false>>;
  }
  if (k.op == "neg")
    return k.type == Type::f64 ? unary<double, double, FNeg<double, false>>
           : k.ftz             ? unary<float, float, FNeg<float, true>>
                               : unary<float, float, FNeg<float, false>>;
  if (k.op == "abs")
    return k.type == Type::f64 ? unary<double, double, FAbs<double, false>>
           : k.ftz             ? unary<float, float, FAbs<float, true>>
                               : unary<float, float, FAbs<float, false>>;
  if (k.op == "copysign")
    return k.type == Type::f64 ? binary<double, double, double, FCopysign<double>>
                               : binary<float, float, float, FCopysign<float>>;
  if (k.type != Type::f32) return nullptr;
  if (k.op == "ex2")
    return k.ftz ? unary<float, float, Ex2<true>> : unary<float, float, Ex2<false>>;
  if (k.op == "lg2")
    return k.ftz ? unary<float, float, Lg2<true>> : unary<float, float, Lg2<false>>;
  if (k.op == "sin")
    return k.ftz ? unary<float, float, SinCos<false, true>>
                 : unary<float, float, SinCos<false, false>>;
  if (k.op == "cos")
    return k.ftz ? unary<float, float, SinCos<true, true>>
                 : unary<float, float, SinCos<true, false>>;
  if (k.op == "tanh") return unary<float, float, Tanh>;
  return nullptr;
}

}  // namespace

Handler float_arithmetic(const Key& k) {
  switch (k.type) {
    case Type::f16:
      return small_arithmetic<F16>(k, false);
    case Type::f16x2:
      return small_arithmetic<F16>(k, true);
    case Type::bf16:
      return small_arithmetic<BF16>(k, false);
    case Type::bf16x2:
      return small_arithmetic<BF16>(k, true);
    default:
      return wide_float_arithmetic(k);
  }
}

}  // namespace cudasim::CUDASIM_ISA
