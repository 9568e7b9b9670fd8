#include "profile/roofline.h"

#include <algorithm>

namespace ingot {
namespace {

double seconds(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

}  // namespace

Roofline roofline_of(const Cost& cost, const Peaks& peaks, const Machine& machine) {
  const double arithmetic = seconds(cost.operations, peaks.fma_flops);
  const bool is_in_cache = cost.bytes() <= static_cast<double>(machine.cache_bytes(2).count()) / 2;
  const double movement = is_in_cache ? seconds(cost.bytes(), peaks.cache_read_bytes_per_second)
                                      : seconds(cost.bytes_read, peaks.read_bytes_per_second) +
                                            seconds(cost.bytes_written, peaks.write_bytes_per_second);
  if (arithmetic >= movement) return {arithmetic, Roof::arithmetic};
  return {movement, is_in_cache ? Roof::cache : Roof::memory};
}

}  // namespace ingot
