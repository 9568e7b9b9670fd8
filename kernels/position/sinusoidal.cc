#include "kernels/position/sinusoidal.h"

#include <cmath>
#include <vector>

#include "kernels/contract/describe.h"
#include "kernels/position/sinusoidal_cases.h"

namespace ingot {

Result<void> Sinusoidal::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "y", a.y, 2));
  if (a.y.size(1) % 2 != 0 || a.y.size(1) > rotary_limit) {
    return violated(name, "C1", "expected an even last axis of at most ", rotary_limit, ", found y ", a.y.shape());
  }
  if (is_present(a.x)) TRY(require_shape(name, "C1", "x", a.x, a.y.shape()));
  TRY(require_shape(name, "C2", "positions", a.positions, {a.y.size(0)}));
  if (!std::isfinite(a.base) || !(a.base > 0)) {
    return violated(name, "C3", "expected a finite base above 0, found one that is not");
  }
  return require_style(name, "C3", a.style);
}

Cost Sinusoidal::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.y.count());
  return {.operations = 16 * count, .bytes_read = is_present(a.x) ? 4 * count : 0, .bytes_written = 4 * count};
}

Tolerance Sinusoidal::tolerance(const Arguments&) {
  return {.epsilons = 1, .scale = ErrorScale::row, .reason = "angles are reduced in double; one rounding to float"};
}

void sinusoidal_reference(const Sinusoidal::Arguments& a, Context&) {
  const std::int64_t half = a.y.size(1) / 2;
  // The plain rotation's frequencies are the table's.
  RotationAttributes rotation;
  rotation.rotary_dimensions = a.y.size(1);
  rotation.base = a.base;
  std::vector<double> frequencies(static_cast<std::size_t>(half));
  rotation_frequencies(rotation, frequencies);
  for (std::int64_t token = 0; token < a.y.size(0); ++token) {
    for (std::int64_t pair = 0; pair < half; ++pair) {
      const Turn turn = turn_of(a.positions(token), frequencies[static_cast<std::size_t>(pair)], 1);
      const std::int64_t first = a.style == PairStyle::half_split ? pair : 2 * pair;
      const std::int64_t second = a.style == PairStyle::half_split ? pair + half : 2 * pair + 1;
      a.y(token, first) = static_cast<float>((is_present(a.x) ? a.x(token, first) : 0.0) + turn.sine);
      a.y(token, second) = static_cast<float>((is_present(a.x) ? a.x(token, second) : 0.0) + turn.cosine);
    }
  }
}

std::span<const Variant<Sinusoidal>> Sinusoidal::variants() {
  static const Variant<Sinusoidal> table[] = {
      sinusoidal_cuda,
      {"reference", {}, sinusoidal_reference},
  };
  return table;
}

template const Operation& describe_operation<Sinusoidal>();

}  // namespace ingot
