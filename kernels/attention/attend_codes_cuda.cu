// Attention over pages of q8_0.
//
// Budget of attend_whole_codes_64: 128 registers. Codes of 16 queries, of a unit 16 scores and weights as two halves,
// sums of 32 numbers, and codes of its keys. Budget of attend_whole_codes_128: 160 registers, 8 bytes stack, 8 bytes
// spilled. Twice the queries; of 8.0 one word is put away. Budget of attend_alone_codes_128: 128 registers, 24
// bytes stack, 72 bytes spilled. Two blocks of eight warps find room in an SM, which costs what is put away. Budget of
// attend_token_codes_64: 128 registers. Rules, and 16 rows to join. Budget of attend_token_codes_128: 168 registers.
// Both. Budget of attend_runs_codes_64: 224 registers. And sums of 64 numbers, which a run keeps. Budget of
// attend_runs_codes_128: 255 registers. Twice the sums and the queries: two blocks of four warps find room in an SM.
#include "kernels/attention/attend_codes_device.h"
#include "kernels/attention/attend_runs_device.h"
#include "kernels/attention/attend_token_device.h"

namespace ingot::device {

INGOT_DEVICE_FUNCTION(attend_token_codes_64, AttendedRows, 256) { attend_token<CodedUnit<64>, AnyPages>(parameters); }
INGOT_DEVICE_FUNCTION(attend_whole_codes_64, AttendedRows, 256) { attend_token<CodedUnit<64>, WholeUnits>(parameters); }
INGOT_DEVICE_FUNCTION(attend_token_codes_128, AttendedRows, 128) { attend_token<CodedUnit<128>, AnyPages>(parameters); }
INGOT_DEVICE_FUNCTION(attend_whole_codes_128, AttendedRows, 128) {
  attend_token<CodedUnit<128>, WholeUnits>(parameters);
}
// 256 threads have it; room for 512 is what keeps it to 128 registers.
INGOT_DEVICE_FUNCTION(attend_alone_codes_128, AttendedRows, 512) {
  attend_token<CodedUnit<128>, WholeUnits, 8>(parameters);
}
INGOT_DEVICE_FUNCTION(attend_runs_codes_64, AttendedRows, 128) { attend_runs<CodedUnit<64>>(parameters); }
INGOT_DEVICE_FUNCTION(attend_runs_codes_128, AttendedRows, 128) { attend_runs<CodedUnit<128>>(parameters); }

}  // namespace ingot::device
