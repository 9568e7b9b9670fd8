#include "kernels/elementwise/binary.h"

#include "kernels/contract/describe.h"
#include "kernels/elementwise/binary_cases.h"
#include "kernels/elementwise/checks.h"

namespace ingot {

template <class Op>
Result<void> BinaryContract<Op>::check(const Arguments& a) {
  TRY(require_rank_between(Op::name, "C1", "a", a.a, 1, max_rank));
  TRY(elementwise::require_repeats_to(Op::name, "C2", "b", a.b, a.a.shape()));
  TRY(elementwise::require_elements(Op::name, "C3", "y", a.y, a.a.shape()));
  return require_contiguous_rows(Op::name, "C4", "a", a.a);
}

template <class Op>
Cost BinaryContract<Op>::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.a.count());
  return {
      .operations = count, .bytes_read = 4 * (count + static_cast<double>(a.b.count())), .bytes_written = 4 * count};
}

template <class Op>
Tolerance BinaryContract<Op>::tolerance(const Arguments&) {
  return Tolerance::exact("one correctly rounded operation; rounding a double result again changes nothing");
}

template <class Op>
std::span<const Variant<Op>> BinaryContract<Op>::variants() {
  static const Variant<Op> table[] = {
      binary_cuda<Op>(),
      INGOT_SIMD_ROWS(binary_simd<Op>()),
      {"reference", {}, binary_reference<Op>},
  };
  return table;
}

template struct BinaryContract<Add>;
template struct BinaryContract<Subtract>;
template struct BinaryContract<Multiply>;
template struct BinaryContract<Divide>;

template const Operation& describe_operation<Add>();
template const Operation& describe_operation<Subtract>();
template const Operation& describe_operation<Multiply>();
template const Operation& describe_operation<Divide>();

}  // namespace ingot
