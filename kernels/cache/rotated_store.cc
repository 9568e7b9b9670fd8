#include "kernels/cache/rotated_store.h"

#include "kernels/cache/rotated_store_cases.h"
#include "kernels/contract/describe.h"

namespace ingot {

Result<void> RotatedStorePaged::check(const Arguments& a) {
  TRY(check_joint_rope(name, a));
  return check_joint_store(name, a.store(), "second_y");
}

Cost RotatedStorePaged::cost(const Arguments& a) {
  const Cost turned = JointRope::cost(a);
  const Cost stored = JointStorePaged::cost(a.store());
  const auto keys = 4 * static_cast<double>(a.second_y.count());  // are at hand
  return {.operations = turned.operations + stored.operations,
          .bytes_read = turned.bytes_read + stored.bytes_read - keys,
          .bytes_written = turned.bytes_written + stored.bytes_written};
}

// A key that is rounded otherwise may be stored as the next number of its pages' type, and of 8-bit codes that is a
// 127th of the largest in its block.
Tolerance RotatedStorePaged::tolerance(const Arguments& a) {
  Tolerance tolerance = JointRope::tolerance(a);
  if (a.k_pages.dtype() != DType::q8_0) return tolerance;
  tolerance.epsilons += 0x1.1p23 / 127;
  tolerance.reason = "turned keys as in position.rope, and where they are stored as codes one code";
  return tolerance;
}

std::span<const Variant<RotatedStorePaged>> RotatedStorePaged::variants() {
  static const Variant<RotatedStorePaged> table[] = {
      rotated_store_cuda,
      {"reference",
       {},
       [](const Arguments& a, Context& context) {
         joint_rope_reference(a, context);
         joint_store_reference(a.store(), context);
       }},
  };
  return table;
}

template const Operation& describe_operation<RotatedStorePaged>();

}  // namespace ingot
