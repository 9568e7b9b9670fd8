// What an invocation must do at the least: the figure the roofline measures a variant against.
#pragma once

namespace ingot {

struct Cost {
  double operations = 0;     // floating-point (or integer multiply-add) operations, a fused multiply-add counting two
  double bytes_read = 0;     // each input once
  double bytes_written = 0;  // each output once

  double bytes() const { return bytes_read + bytes_written; }
};

}  // namespace ingot
