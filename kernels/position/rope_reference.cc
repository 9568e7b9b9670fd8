// Scalar truth: angles in double, at each token anew.
#include <vector>

#include "kernels/position/rope.h"
#include "kernels/position/turn_row.h"

namespace ingot {
namespace {

void rope_scalar(const RopeCall& call) {
  const auto pairs = static_cast<std::size_t>(call.inputs.rotary_dimensions / 2);
  std::vector<double> frequencies(pairs);
  std::vector<Turn> turns(pairs);
  rotation_frequencies(call.inputs, frequencies);
  const double magnitude = rotation_magnitude(call.inputs);
  for (std::int64_t token = 0; token < call.x.size(0); ++token) {
    call.inputs.for_each_section(token, [&](std::int64_t begin, std::int64_t end, std::int64_t position) {
      for (auto pair = static_cast<std::size_t>(begin); pair < static_cast<std::size_t>(end); ++pair) {
        turns[pair] = turn_of(position, frequencies[pair], magnitude);
      }
    });
    for (std::int64_t head = 0; head < call.x.size(1); ++head) {
      turn_row(&call.x(token, head, 0), &call.y(token, head, 0), call.x.size(2), call.inputs.rotary_dimensions,
               call.inputs.style, call.direction,
               [&](std::int64_t pair) { return turns[static_cast<std::size_t>(pair)]; });
    }
  }
}

}  // namespace

void rope_reference(const Rope::Arguments& arguments, Context&) { rope_scalar(arguments.call()); }
void joint_rope_reference(const JointRope::Arguments& arguments, Context&) {
  for (const RopeCall& call : arguments.calls()) rope_scalar(call);
}
void rope_backward_reference(const RopeBackward::Arguments& arguments, Context&) { rope_scalar(arguments.call()); }

}  // namespace ingot
