// Attention over pages of f16.
//
// Budget of attend_whole_halves_64: 128 registers. Queries of 16 rows, 16, of a unit 16 scores and weights as two
// halves, sums of 32 numbers, and keys on their way. Budget of attend_whole_halves_128: 144 registers. Twice the
// queries. Budget of attend_token_halves_64: 128 registers. Rules, and 16 rows to join. Budget of
// attend_token_halves_128: 168 registers, 32 bytes stack, 64 bytes spilled. Both; few models need it. Budget of
// attend_runs_halves_64: 168 registers. Queries, and sums of 64 numbers, which a run keeps. Budget of
// attend_runs_halves_128: 255 registers, 32 bytes stack, 64 bytes spilled. Twice the sums and the queries: two blocks
// of four warps find room in an SM.
#include "kernels/attention/attend_halves_device.h"
#include "kernels/attention/attend_runs_device.h"
#include "kernels/attention/attend_token_device.h"

namespace ingot::device {

INGOT_DEVICE_FUNCTION(attend_token_halves_64, AttendedRows, 256) { attend_token<HalfUnit<64>, AnyPages>(parameters); }
INGOT_DEVICE_FUNCTION(attend_whole_halves_64, AttendedRows, 256) { attend_token<HalfUnit<64>, WholeUnits>(parameters); }
INGOT_DEVICE_FUNCTION(attend_token_halves_128, AttendedRows, 128) { attend_token<HalfUnit<128>, AnyPages>(parameters); }
INGOT_DEVICE_FUNCTION(attend_whole_halves_128, AttendedRows, 128) {
  attend_token<HalfUnit<128>, WholeUnits>(parameters);
}
INGOT_DEVICE_FUNCTION(attend_runs_halves_64, AttendedRows, 128) { attend_runs<HalfUnit<64>>(parameters); }
INGOT_DEVICE_FUNCTION(attend_runs_halves_128, AttendedRows, 128) { attend_runs<HalfUnit<128>>(parameters); }

}  // namespace ingot::device
