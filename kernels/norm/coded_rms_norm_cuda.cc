#include "kernels/norm/coded_rms_norm_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/norm/coded_rms_norm.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(coded_rms_norm_cuda);
INGOT_DEVICE_FUNCTION_OF(coded_rms_norm_cuda, coded_rms_norm_octets);
INGOT_DEVICE_FUNCTION_OF(coded_rms_norm_cuda, coded_rms_norm_rows);

void run_coded_rms_norm(const CodedRmsNorm::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  const bool has_residual = is_present(a.residual);
  CodedRmsNormRows rows = {.x = device_rows(a.x),
                           .residual = {},
                           .sum = {},
                           .codes = device_rows(a.codes),
                           .scales = device_rows(a.scales),
                           .sums = device_rows(a.sums),
                           .gamma = a.gamma.data(),
                           .factor = 1 / static_cast<double>(a.x.shape().last()),
                           .epsilon = a.epsilon,
                           .block = static_cast<std::uint32_t>(a.block),
                           .is_aligned = groups_are_aligned(a.x) && groups_are_aligned(a.gamma)};
  if (has_residual) {
    rows.residual = device_rows(a.residual);
    rows.sum = device_rows(a.sum);
    rows.is_aligned = rows.is_aligned && groups_are_aligned(a.residual) && groups_are_aligned(a.sum);
  }
  if (rows.x.length > octet_row_length) {
    return context.queue->launch(coded_rms_norm_rows_function, {.blocks = rows.x.count, .threads = 256}, rows);
  }
  context.queue->launch(coded_rms_norm_octets_function,
                        {.blocks = rows.x.count, .threads = (rows.x.length + 255) / 256 * 32}, rows);
}

}  // namespace

constinit const Variant<CodedRmsNorm> coded_rms_norm_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_coded_rms_norm,
    .accepts = [](const CodedRmsNorm::Arguments& a) { return fits_device(a.x.shape()); },
    .device_function = &coded_rms_norm_rows_function};

}  // namespace ingot
