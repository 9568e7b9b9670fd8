#include "kernels/position/rope_table.h"

#include <vector>

#include "kernels/contract/describe.h"
#include "kernels/position/rope_table_cases.h"

namespace ingot {

Result<void> RopeTable::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "positions", a.positions, 1));
  TRY(check_rotation(name, "C2", a));
  const Shape shape = {a.positions.size(0), a.rotary_dimensions / 2};
  TRY(require_shape(name, "C3", "cosine", a.cosine, shape));
  return require_shape(name, "C3", "sine", a.sine, shape);
}

Cost RopeTable::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.cosine.count());
  return {
      .operations = 30 * count, .bytes_read = 4 * static_cast<double>(a.positions.count()), .bytes_written = 8 * count};
}

Tolerance RopeTable::tolerance(const Arguments&) {
  return {.epsilons = 1, .scale = ErrorScale::tensor, .reason = "angles are reduced in double; one rounding to float"};
}

void rope_table_reference(const RopeTable::Arguments& a, Context&) {
  std::vector<double> frequencies(static_cast<std::size_t>(a.rotary_dimensions / 2));
  rotation_frequencies(a, frequencies);
  const double magnitude = rotation_magnitude(a);
  for (std::int64_t row = 0; row < a.positions.size(0); ++row) {
    for (std::size_t pair = 0; pair < frequencies.size(); ++pair) {
      const Turn turn = turn_of(a.positions(row), frequencies[pair], magnitude);
      a.cosine(row, pair) = static_cast<float>(turn.cosine);
      a.sine(row, pair) = static_cast<float>(turn.sine);
    }
  }
}

std::span<const Variant<RopeTable>> RopeTable::variants() {
  static const Variant<RopeTable> table[] = {
      rope_table_cuda,
      {"reference", {}, rope_table_reference},
  };
  return table;
}

template const Operation& describe_operation<RopeTable>();

}  // namespace ingot
