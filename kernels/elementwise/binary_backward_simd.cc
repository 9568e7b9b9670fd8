// Vector gradients: sums of repetitions in double, then da as a map (da may be dy, so the sums come first).
#include <type_traits>

#include "hwy/cache_control.h"
#include "kernels/elementwise/binary_backward.h"
#include "kernels/elementwise/repeated_sum.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/binary_backward_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/stretch_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Op>
constexpr bool takes_inputs = std::is_same_v<typename Op::Arguments, ProductBackwardArguments>;

// Sums are taken over blocks of columns: a block of double sums stays in the first-level cache while all repetitions
// pass by, and blocks are what threads share.
constexpr std::int64_t columns_per_block = 512;

// Where the terms of one row come from. a and b are null for addition and subtraction.
struct TermRow {
  const float* dy;
  const float* a;
  const float* b;
  std::int64_t b_step;  // 0 where one b serves the row
};

// The term of db, in double, for half a vector of floats from column i on.
template <class Op>
HWY_INLINE auto term(const TermRow& row, std::int64_t i) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const auto dy = hn::PromoteTo(dd, hn::LoadU(df, row.dy + i));
  if constexpr (std::is_same_v<Op, AddBackward>) {
    return dy;
  } else if constexpr (std::is_same_v<Op, SubtractBackward>) {
    return hn::Neg(dy);
  } else {
    const auto product = hn::Mul(dy, hn::PromoteTo(dd, hn::LoadU(df, row.a + i)));
    if constexpr (std::is_same_v<Op, MultiplyBackward>) return product;
    const auto b = row.b_step == 0 ? hn::Set(dd, double{*row.b}) : hn::PromoteTo(dd, hn::LoadU(df, row.b + i));
    return hn::Div(hn::Neg(product), hn::Mul(b, b));
  }
}

template <class Op>
HWY_INLINE double scalar_term(const TermRow& row, std::int64_t i) {
  if constexpr (takes_inputs<Op>)
    return Op::db(row.dy[i], row.a[i], row.b[i * row.b_step]);
  else
    return Op::db(row.dy[i], 0, 0);
}

template <class Op>
void add_terms(const TermRow& row, double* sums, std::int64_t length) {
  const hn::ScalableTag<double> dd;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(dd));
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes) {
    hn::Store(hn::Add(hn::Load(dd, sums + i), term<Op>(row, i)), dd, sums + i);
  }
  for (; i < length; ++i) sums[i] += scalar_term<Op>(row, i);
}

template <class Op>
double sum_of_terms(const TermRow& row, std::int64_t length) {
  const hn::ScalableTag<double> dd;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(dd));
  auto sum0 = hn::Zero(dd);
  auto sum1 = hn::Zero(dd);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= length; i += 2 * lanes) {
    sum0 = hn::Add(sum0, term<Op>(row, i));
    sum1 = hn::Add(sum1, term<Op>(row, i + lanes));
  }
  double sum = hn::GetLane(hn::SumOfLanes(dd, hn::Add(sum0, sum1)));
  for (; i < length; ++i) sum += scalar_term<Op>(row, i);
  return sum;
}

template <class Op>
void sum_repetitions(const typename Op::Arguments& arguments, Context& context) {
  const Shape& shape = arguments.dy.shape();
  enum { db, dy, first, second };
  // Addition has no use for a and b: dy stands in for them.
  std::array<Strides, 4> strides = {strides_within(arguments.db, shape), arguments.dy.strides(), arguments.dy.strides(),
                                    arguments.dy.strides()};
  if constexpr (takes_inputs<Op>) {
    strides[first] = arguments.a.strides();
    strides[second] = strides_within(arguments.b, shape);
  }
  const RepeatedSum<4> walk(shape, arguments.db.shape(), strides);
  const std::int64_t blocks = walk.keeps_last ? divide_rounding_up(walk.length, columns_per_block) : 1;
  auto row_at = [&](const Offsets<4>& kept, const Offsets<4>& repeated, std::int64_t column) {
    TermRow row{arguments.dy.data() + kept[dy] + repeated[dy] + column, nullptr, nullptr, 0};
    if constexpr (takes_inputs<Op>) {
      row.a = arguments.a.data() + kept[first] + repeated[first] + column;
      row.b = arguments.b.data() + kept[second] + (walk.keeps_last ? column : 0);
      row.b_step = walk.keeps_last ? 1 : 0;
    }
    return row;
  };
  const std::int64_t item_bytes =
      4 * walk.repeated.count() * (walk.keeps_last ? HWY_MIN(walk.length, columns_per_block) : walk.length);
  context.workers.for_chunks(walk.kept.count() * blocks, rows_per_chunk(item_bytes),
                             [&](std::int64_t begin, std::int64_t end, int) {
                               HWY_ALIGN double sums[columns_per_block];
                               for (std::int64_t item = begin; item < end; ++item) {
                                 const Offsets<4> kept = walk.kept[item / blocks];
                                 float* output = arguments.db.data() + kept[db];
                                 if (!walk.keeps_last) {
                                   double sum = 0;
                                   for (std::int64_t index = 0; index < walk.repeated.count(); ++index) {
                                     sum += sum_of_terms<Op>(row_at(kept, walk.repeated[index], 0), walk.length);
                                   }
                                   *output = static_cast<float>(sum);
                                   continue;
                                 }
                                 const std::int64_t column = item % blocks * columns_per_block;
                                 const std::int64_t length = HWY_MIN(columns_per_block, walk.length - column);
                                 for (std::int64_t i = 0; i < length; ++i) sums[i] = 0;
                                 for (std::int64_t index = 0; index < walk.repeated.count(); ++index) {
                                   add_terms<Op>(row_at(kept, walk.repeated[index], column), sums, length);
                                 }
                                 for (std::int64_t i = 0; i < length; ++i)
                                   output[column + i] = static_cast<float>(sums[i]);
                               }
                             });
}

template <class Op>
struct FirstGradient {
  template <class D, class V>
  HWY_INLINE V operator()(D, V dy) const {
    return dy;
  }
  template <class D, class V>
  HWY_INLINE V operator()(D, V dy, V b) const {
    if constexpr (std::is_same_v<Op, MultiplyBackward>)
      return hn::Mul(dy, b);
    else
      return hn::Div(dy, b);
  }
};

// db where nothing was repeated, as a map; division is not here, because b^2 may over- or underflow in float.
template <class Op>
struct SecondGradient {
  template <class D, class V>
  HWY_INLINE V operator()(D, V dy) const {
    return std::is_same_v<Op, AddBackward> ? dy : hn::Neg(dy);
  }
  template <class D, class V>
  HWY_INLINE V operator()(D, V dy, V a) const {
    return hn::Mul(dy, a);
  }
};

template <class Op>
void map_second_gradient(const typename Op::Arguments& arguments, Context& context) {
  const Shape& shape = arguments.dy.shape();
  const SecondGradient<Op> function;
  if constexpr (takes_inputs<Op>) {
    const JointRows<3> rows(shape, {arguments.db.strides(), arguments.dy.strides(), arguments.a.strides()});
    rows.for_pieces(context.workers, [&](const Offsets<3>& at, std::int64_t length) {
      map_stretch(function, arguments.db.data() + at[0], length, FromMemory{arguments.dy.data() + at[1]},
                  FromMemory{arguments.a.data() + at[2]});
    });
  } else {
    const JointRows<2> rows(shape, {arguments.db.strides(), arguments.dy.strides()});
    rows.for_pieces(context.workers, [&](const Offsets<2>& at, std::int64_t length) {
      map_stretch(function, arguments.db.data() + at[0], length, FromMemory{arguments.dy.data() + at[1]});
    });
  }
}

template <class Op>
void binary_backward(const typename Op::Arguments& arguments, Context& context) {
  const Shape& shape = arguments.dy.shape();
  if (!std::is_same_v<Op, DivideBackward> && arguments.db.shape() == shape) {
    map_second_gradient<Op>(arguments, context);
  } else {
    sum_repetitions<Op>(arguments, context);
  }
  const FirstGradient<Op> function;
  if constexpr (takes_inputs<Op>) {
    const JointRows<3, LastTensor::may_repeat> rows(
        shape, {arguments.da.strides(), arguments.dy.strides(), strides_within(arguments.b, shape)});
    rows.for_pieces(context.workers, [&](const Offsets<3>& at, std::int64_t length) {
      float* da = arguments.da.data() + at[0];
      const FromMemory dy{arguments.dy.data() + at[1]};
      const float* b = arguments.b.data() + at[2];
      if (rows.last_repeats())
        map_stretch(function, da, length, dy, Repeated{*b});
      else
        map_stretch(function, da, length, dy, FromMemory{b});
    });
  } else if (arguments.da.data() != arguments.dy.data()) {
    const JointRows<2> rows(shape, {arguments.da.strides(), arguments.dy.strides()});
    rows.for_pieces(context.workers, [&](const Offsets<2>& at, std::int64_t length) {
      map_stretch(function, arguments.da.data() + at[0], length, FromMemory{arguments.dy.data() + at[1]});
    });
  }
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {

template <class Op>
const SimdEntries<Op>& binary_backward_simd() {
  static const SimdEntries<Op> entries = INGOT_SIMD_ENTRIES(binary_backward<Op>);
  return entries;
}
template const SimdEntries<AddBackward>& binary_backward_simd<AddBackward>();
template const SimdEntries<SubtractBackward>& binary_backward_simd<SubtractBackward>();
template const SimdEntries<MultiplyBackward>& binary_backward_simd<MultiplyBackward>();
template const SimdEntries<DivideBackward>& binary_backward_simd<DivideBackward>();

}  // namespace ingot
#endif
