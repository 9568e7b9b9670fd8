// What this machine can do at most, measured: the roofs that kernels are compared with.
#pragma once

#include <string>

#include "base/result.h"
#include "machine/machine.h"
#include "machine/workers.h"

namespace ingot {

// Rates with `threads` threads working together. Zero means not measured.
struct Peaks {
  double read_bytes_per_second = 0;   // from memory, beyond the last-level cache
  double write_bytes_per_second = 0;  // ordinary stores; bytes the program wrote, not the lines the CPU fetched first
  double copy_bytes_per_second = 0;   // bytes read plus bytes written
  double cache_read_bytes_per_second = 0;  // from each thread's own first-level cache
  double fma_flops = 0;                    // float32, vector units; a multiply and an add are two
  double int8_dot_operations = 0;          // int8 to int32, vector units; a multiply and an add are two
  // By matrix instructions (SMMLA, BFMMLA, AMX); where the machine has none, by the best of its vector instructions.
  double int8_matrix_operations = 0;  // int8 to int32
  double bf16_flops = 0;              // bf16 to float32
  int threads = 0;
  // Programs that ran or waited for a CPU just before, on average over a minute: those that ran on took of the rates.
  double load = 0;
  double f16_flops = 0;  // f16 to float32; of devices alone: CPUs widen halves

  // Whether others may have taken of what was measured.
  bool is_disturbed() const { return load >= 0.5; }
  bool operator==(const Peaks&) const = default;
};

// Takes about a second. Memory that cannot be had leaves the three memory rates at zero.
Peaks measure_peaks(const Machine& machine, Workers& workers);

// The same, remembered for this CPU model, feature set and thread count under $XDG_CACHE_HOME/ingot or ~/.cache/ingot.
// A cache that cannot be written is no error; a rate that could not be measured is.
Result<Peaks> cached_peaks(const Machine& machine, Workers& workers);

// Measures in any case. A peak is a maximum, so of each rate the larger is kept, this one or the remembered one; and a
// measurement that others disturbed once is cured by one when they rest.
Result<Peaks> peaks_measured_again(const Machine& machine, Workers& workers);

}  // namespace ingot
