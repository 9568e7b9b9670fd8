// Vector elementary functions, one source for every target. Included inside a vector source after hwy/highway.h; the
// include guard toggles with each target, as Highway asks of such headers.
//
// Accuracies are the worst found over the whole range against double precision, in epsilons of the result (2^-23 of
// its size, or of the smallest normal number's where the result is a denormal). NaN stays NaN everywhere. Polynomials
// are minimax fits; their own error is named where it is not far below an epsilon.
#if defined(INGOT_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_VECTOR_MATH_INL_H_
#undef INGOT_KERNELS_VECTOR_MATH_INL_H_
#else
#define INGOT_KERNELS_VECTOR_MATH_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// min(x, limit) and max(x, limit) that keep a NaN in x. x86 returns its second operand when one is a NaN, so there the
// order of operands is all it takes.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V at_most(D d, V x, float limit) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto bound = hn::Set(d, limit);
#if HWY_ARCH_X86
  return hn::Min(bound, x);
#else
  return hn::IfThenElse(hn::Gt(x, bound), bound, x);
#endif
}

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V at_least(D d, V x, float limit) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto bound = hn::Set(d, limit);
#if HWY_ARCH_X86
  return hn::Max(bound, x);
#else
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
#endif
}

// c0 + c1 x + c2 x^2 + ... The coefficients are arguments, not an array: compilers keep a loop over one at -O2.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>, class... Further>
HWY_INLINE V polynomial_of(D d, V x, float first, Further... further) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (sizeof...(further) == 0)
    return hn::Set(d, first);
  else
    return hn::MulAdd(polynomial_of(d, x, further...), x, hn::Set(d, first));
}

// x = n ln 2 + r with |r| <= ln 2 / 2, for |x| < 2^20.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
struct ReducedExponent {
  V shifted;  // n plus the number whose last place is one: its low bits are the integer n
  V n;
  V r;

  HWY_INLINE ReducedExponent(D d, V x) {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto round_to_integer = hn::Set(d, 0x1.8p23f);
    shifted = hn::MulAdd(x, hn::Set(d, 1.44269504088896341f), round_to_integer);
    n = hn::Sub(shifted, round_to_integer);
    // ln 2 in two parts (Cody and Waite): the first has trailing zeros, so n times it is exact, with or without FMA.
    r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
    r = hn::NegMulAdd(n, hn::Set(d, -2.12194440054690583e-4f), r);
  }

  // p 2^n, over- and underflowing like a product. 2^n alone may be out of range, so it is multiplied in two halves.
  HWY_INLINE V scale(D d, V p) const {
    namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_AVX3
    if constexpr (hn::MaxLanes(D()) == 16) return V{_mm512_scalef_ps(p.raw, n.raw)};
#endif
    const hn::RebindToSigned<D> di;
    const auto exponent = hn::Sub(hn::BitCast(di, shifted), hn::Set(di, 0x4b400000));
    const auto half = hn::ShiftRight<1>(exponent);
    const auto bias = hn::Set(di, 127);
    const auto first = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
    const auto second = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(exponent, half), bias)));
    return hn::Mul(hn::Mul(p, first), second);
  }
};

// e^r for |r| <= ln 2 / 2. The fit is within 0.02 epsilons, and gives 1 for 0.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp_of_reduced(D d, V r) {
  return polynomial_of(d, r, 1.0f, 1.0f, 0.49999994039f, 0.16666430235f, 0.041668005288f, 0.0083741955459f,
                       0.0013843605993f);
}

// e^x. At most 1 epsilon; overflow gives infinity, underflow denormals and then zero.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp_of(D d, V x) {
  const ReducedExponent<D> reduced(d, at_least(d, at_most(d, x, 89.0f), -104.0f));
  return reduced.scale(d, exp_of_reduced(d, reduced.r));
}

// e^x for x <= 0: one bound less.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp_of_nonpositive(D d, V x) {
  const ReducedExponent<D> reduced(d, at_least(d, x, -104.0f));
  return reduced.scale(d, exp_of_reduced(d, reduced.r));
}

// With a term less the fit is within 0.8 epsilons, and gives 1 for 0.
inline constexpr float brisk_exp_terms[6] = {1.0f,         0.999999702f,  0.499991477f,
                                             0.166676387f, 0.0418981612f, 0.00829027221f};

// e^(Sign r) for |r| <= ln 2 / 2.
template <int Sign = 1, class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V brisk_exp_of_reduced(D d, V r) {
  constexpr float sign = Sign;
  constexpr const float(&c)[6] = brisk_exp_terms;
  return polynomial_of(d, r, c[0], sign * c[1], c[2], sign * c[3], c[4], sign * c[5]);
}

// e^(Sign x) for hot loops: at most 3.5 epsilons within [2^-126, 2^127]; smaller results may be zero, larger ones
// infinity. Against exp_of the polynomial has a term less (its fit is within 0.8 epsilons), ln 2 has one part where
// there is FMA (n times its rounding is 2.5 epsilons at the ends of the range, none in the middle), and 2^n is one
// factor.
#if HWY_TARGET == HWY_AVX3
inline constexpr float lowest_brisk_exponent = -104;
#else
inline constexpr float lowest_brisk_exponent = -88;  // here n = -127, whose 2^n is zero
#endif

inline constexpr float brisk_exp_rounding = 0x1.8p23f + 127;

// Precondition: Sign x is from lowest_brisk_exponent to 89, or NaN.
template <int Sign = 1, class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V brisk_exp_of_bounded(D d, V bounded) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr float sign = Sign;
  // Its last place is one, and the exponent's bias is in it already: the low bits become those of 2^n.
  const auto round_to_integer = hn::Set(d, brisk_exp_rounding);
  const auto shifted = hn::MulAdd(bounded, hn::Set(d, sign * 1.44269504088896341f), round_to_integer);
  const auto n = hn::Sub(shifted, round_to_integer);
#if HWY_NATIVE_FMA
  const auto r = hn::MulAdd(n, hn::Set(d, -sign * 0.69314718056f), bounded);
#else
  auto r = hn::MulAdd(n, hn::Set(d, -sign * 0.693359375f), bounded);
  r = hn::MulAdd(n, hn::Set(d, sign * 2.12194440054690583e-4f), r);
#endif
  const auto p = brisk_exp_of_reduced<Sign>(d, r);
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) return V{_mm512_scalef_ps(p.raw, n.raw)};
#endif
  const hn::RebindToSigned<D> di;
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

template <int Sign = 1, class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V brisk_exp_of(D d, V x) {
  constexpr float lowest = lowest_brisk_exponent;
  return brisk_exp_of_bounded<Sign>(
      d, Sign > 0 ? at_least(d, at_most(d, x, 89.0f), lowest) : at_least(d, at_most(d, x, -lowest), -89.0f));
}

// e^x for x <= 0: one bound less.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V brisk_exp_of_nonpositive(D d, V x) {
  return brisk_exp_of_bounded(d, at_least(d, x, lowest_brisk_exponent));
}

// x sigmoid(z) = x / (1 + e^-z). At most 4 epsilons; zero where the sigmoid is below 2^-126.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V times_sigmoid_of(D d, V x, V z) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), brisk_exp_of<-1>(d, z)));
}

// e^x - 1 for x <= 0, without cancellation near 0. At most 1.5 epsilons.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V expm1_of_nonpositive(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const ReducedExponent<D> reduced(d, at_least(d, x, -104.0f));
  // e^r - 1 = r + r^2 g(r), then 2^n (e^r - 1) + (2^n - 1).
  const auto g = polynomial_of(d, reduced.r, 0.5f, 0.16666543484f, 0.041666280478f, 0.0083666108549f, 0.0013946498511f);
  const auto p = hn::MulAdd(g, hn::Mul(reduced.r, reduced.r), reduced.r);
  const auto power = reduced.scale(d, hn::Set(d, 1.0f));
  return hn::MulAdd(power, p, hn::Sub(power, hn::Set(d, 1.0f)));
}

// sigmoid(x) = 1 / (1 + e^-x) and sigmoid(-x) = 1 - sigmoid(x), each at most 2 epsilons, of the tails too. By
// e = e^-|x|, which does not overflow: the larger of the two is 1 / (1 + e), the smaller e / (1 + e).
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
struct SigmoidPair {
  V value;
  V complement;

  HWY_INLINE SigmoidPair(D d, V x) {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto one = hn::Set(d, 1.0f);
    const auto e = exp_of_nonpositive(d, hn::Neg(hn::Abs(x)));
    const auto sum = hn::Add(one, e);
    const auto is_negative = hn::Lt(x, hn::Zero(d));
    const auto larger = hn::Div(one, sum);
    const auto smaller = hn::Mul(e, larger);
    value = hn::IfThenElse(is_negative, smaller, larger);
    complement = hn::IfThenElse(is_negative, larger, smaller);
  }
};

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V sigmoid_of(D d, V x) {
  return SigmoidPair<D>(d, x).value;
}

// tanh x. At most 2 epsilons. By t = e^(-2|x|) - 1, so that small x keep their precision: tanh |x| = -t / (2 + t).
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V tanh_of(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto t = expm1_of_nonpositive(d, hn::Mul(hn::Set(d, -2.0f), hn::Abs(x)));
  return hn::CopySign(hn::Div(t, hn::Add(hn::Set(d, 2.0f), t)), x);
}

// Natural logarithm. At most 1 epsilon. Zero gives -infinity, negative numbers NaN.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V log_of(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> di;
  const auto is_denormal = hn::Lt(x, hn::Set(d, 0x1p-126f));
  const auto bits = hn::BitCast(di, hn::IfThenElse(is_denormal, hn::Mul(x, hn::Set(d, 0x1p23f)), x));
  // x = m 2^exponent with m in [sqrt(1/2), sqrt(2)): 0x3f3504f3 is sqrt(1/2).
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const auto m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const auto n = hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(is_denormal, hn::Set(d, 23.0f)));
  // log(1 + s) = s - s^2 / 2 + s^3 q(s); the largest terms are added last.
  const auto s = hn::Sub(m, hn::Set(d, 1.0f));
  const auto square = hn::Mul(s, s);
  const auto q = polynomial_of(d, s, 0.3333331048f, -0.2499998659f, 0.2000222653f, -0.1666925251f, 0.1421866417f,
                               -0.1238433495f, 0.1187292635f, -0.1178986579f, 0.0691554025f);
  auto y = hn::Mul(hn::Mul(square, s), q);
  y = hn::MulAdd(n, hn::Set(d, -2.12194440054690583e-4f), y);
  y = hn::NegMulAdd(hn::Set(d, 0.5f), square, y);
  y = hn::MulAdd(n, hn::Set(d, 0.693359375f), hn::Add(s, y));
  // What the bits of infinity, NaN, zero and negative numbers gave is replaced; the first two are their own logarithms.
  y = hn::IfThenElse(hn::IsFinite(x), y, x);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(hn::Inf(d)), y);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::NaN(d), y);
}

// log(1 + x) for 0 <= x <= 1, without cancellation near 0. At most 1.5 epsilons.
// By s = x / (2 + x) <= 1/3: log(1 + x) = 2 artanh s = 2 s (1 + s^2/3 + s^4/5 + ...).
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V log1p_of_unit(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto s = hn::Div(x, hn::Add(hn::Set(d, 2.0f), x));
  const auto square = hn::Mul(s, s);
  const auto rest =
      hn::Mul(square, polynomial_of(d, square, 0.33333155513f, 0.20012557507f, 0.1397883296f, 0.14095774293f));
  const auto twice = hn::Add(s, s);
  return hn::MulAdd(twice, rest, twice);
}

// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|). At most 2 epsilons, of the tail too.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V softplus_of(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::Add(at_least(d, x, 0.0f), log1p_of_unit(d, exp_of_nonpositive(d, hn::Neg(hn::Abs(x)))));
}

// The normal distribution at x: its density e^(-x^2/2) / sqrt(2 pi), and tail = Phi(-|x|), what lies beyond |x|.
// The tail is within 5 epsilons of itself however far out it is, by Phi(-a) = e^(-a^2/2) Q(1 / (1 + 0.3 a)); Q's fit is
// within half an epsilon.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
struct NormalTail {
  V magnitude;  // min(|x|, 15): beyond, density and tail are zero
  V density;
  V tail;

  HWY_INLINE NormalTail(D d, V x) {
    namespace hn = hwy::HWY_NAMESPACE;
    magnitude = at_most(d, hn::Abs(x), 15.0f);
    const auto a = magnitude;
    // a^2 / 2 needs more than 24 bits, for its error becomes the result's relative error: -a^2 / 2 = square + rest.
#if HWY_NATIVE_FMA
    const auto half = hn::Mul(a, hn::Set(d, -0.5f));
    const auto square = hn::Mul(half, a);
    const auto rest = hn::MulSub(half, a, square);
#else
    // a = high + low (Dekker), where high has 12 bits and so an exact square.
    const auto spread = hn::Mul(a, hn::Set(d, 4097.0f));
    const auto high = hn::Sub(spread, hn::Sub(spread, a));
    const auto square = hn::Mul(hn::Mul(high, hn::Set(d, -0.5f)), high);
    const auto rest = hn::Mul(hn::Mul(hn::Sub(a, high), hn::Set(d, -0.5f)), hn::Add(a, high));
#endif
    const ReducedExponent<D> reduced(d, square);
    const auto p = brisk_exp_of_reduced(d, hn::Add(reduced.r, rest));
    const auto one = hn::Set(d, 1.0f);
    const auto t = hn::Div(one, hn::MulAdd(a, hn::Set(d, 0.3f), one));
    const auto q = polynomial_of(d, t, 7.494571e-06f, 0.1194821075f, 0.121960327f, 0.0945266783f, 0.1429048032f,
                                 -0.0770423412f, 0.2291294634f, -0.1693936586f, 0.038425155f);
    density = reduced.scale(d, hn::Mul(p, hn::Set(d, 0.3989422804f)));
    tail = reduced.scale(d, hn::Mul(p, q));
  }
};

// Phi(x), the share of the normal distribution below x. At most 5 epsilons.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V normal_cdf_of(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto tail = NormalTail<D>(d, x).tail;
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0f), tail));
}

// The error function. At most 2 epsilons: a polynomial within [-1, 1], 1 - 2 Phi(-sqrt(2) |x|) beyond.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V erf_of(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto magnitude = hn::Abs(x);
  const auto tail = NormalTail<D>(d, hn::Mul(magnitude, hn::Set(d, 1.41421356237f))).tail;
  const auto outer = hn::NegMulAdd(hn::Set(d, 2.0f), tail, hn::Set(d, 1.0f));
  const auto small = at_most(d, magnitude, 1.0f);
  const auto inner =
      hn::Mul(small, polynomial_of(d, hn::Mul(small, small), 1.1283791065f, -0.3761262596f, 0.1128358543f,
                                   -0.026853811f, 0.0051883277f, -0.0008010194f, 7.8538607e-05f));
  return hn::CopySign(hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 1.0f)), outer, inner), x);
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
