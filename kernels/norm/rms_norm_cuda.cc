#include "kernels/norm/rms_norm_cuda.h"

#include "kernels/device/row_launch.h"
#include "kernels/device/windows.h"
#include "kernels/norm/l2_norm.h"
#include "kernels/norm/qk_norm.h"
#include "kernels/norm/residual_rms_norm.h"
#include "kernels/norm/rms_norm.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(rms_norm_cuda);
INGOT_DEVICE_FUNCTION_OF(rms_norm_cuda, rms_norm_warps);
INGOT_DEVICE_FUNCTION_OF(rms_norm_cuda, rms_norm_blocks);
INGOT_DEVICE_FUNCTION_OF(rms_norm_cuda, rms_norm_large_blocks);
INGOT_DEVICE_FUNCTION_OF(rms_norm_cuda, rms_norm_large);
INGOT_DEVICE_FUNCTION_OF(rms_norm_cuda, rms_norm_long);

void launch_rms_norm(Queue& queue, const RmsNormRows& rows) {
  launch_rows(queue,
              {rms_norm_warps_function, rms_norm_blocks_function, rms_norm_large_blocks_function,
               rms_norm_large_function, rms_norm_long_function},
              rows.x.count, rows.x.length, rows.is_aligned && rows.residual.data == nullptr, rows);
}

void run_rms_norm(const RmsNorm::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  launch_rms_norm(*context.queue,
                  {.x = device_rows(a.x),
                   .residual = {},
                   .sum = {},
                   .y = device_rows(a.y),
                   .gamma = a.gamma.data(),
                   .rstd = a.rstd.data(),
                   .factor = 1 / static_cast<double>(a.x.shape().last()),
                   .epsilon = a.epsilon,
                   .is_aligned = groups_are_aligned(a.x) && groups_are_aligned(a.y) && groups_are_aligned(a.gamma)});
}

void run_residual_rms_norm(const ResidualRmsNorm::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  launch_rms_norm(*context.queue,
                  {.x = device_rows(a.x),
                   .residual = device_rows(a.residual),
                   .sum = device_rows(a.sum),
                   .y = device_rows(a.y),
                   .gamma = a.gamma.data(),
                   .rstd = a.rstd.data(),
                   .factor = 1 / static_cast<double>(a.x.shape().last()),
                   .epsilon = a.epsilon,
                   .is_aligned = groups_are_aligned(a.x) && groups_are_aligned(a.residual) &&
                                 groups_are_aligned(a.sum) && groups_are_aligned(a.y) && groups_are_aligned(a.gamma)});
}

void run_l2_norm(const L2Norm::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  launch_rms_norm(*context.queue, {.x = device_rows(a.x),
                                   .residual = {},
                                   .sum = {},
                                   .y = device_rows(a.y),
                                   .gamma = nullptr,
                                   .rstd = a.rstd.data(),
                                   .factor = 1,
                                   .epsilon = a.epsilon,
                                   .is_aligned = groups_are_aligned(a.x) && groups_are_aligned(a.y)});
}

}  // namespace

constinit const Variant<RmsNorm> rms_norm_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_rms_norm,
    .accepts = [](const RmsNorm::Arguments& a) { return fits_device(a.x.shape()); },
    .device_function = &rms_norm_warps_function};

constinit const Variant<ResidualRmsNorm> residual_rms_norm_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_residual_rms_norm,
    .accepts = [](const ResidualRmsNorm::Arguments& a) { return fits_device(a.x.shape()); },
    .device_function = &rms_norm_warps_function};

constinit const Variant<QkNorm> qk_norm_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run =
        [](const QkNorm::Arguments& a, Context& context) {
          run_rms_norm(a.queries(), context);
          run_rms_norm(a.keys(), context);
        },
    .accepts = [](const QkNorm::Arguments& a) { return fits_device(a.q.shape()) && fits_device(a.k.shape()); },
    .device_function = &rms_norm_warps_function};

constinit const Variant<L2Norm> l2_norm_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_l2_norm,
    .accepts = [](const L2Norm::Arguments& a) { return fits_device(a.x.shape()); },
    .device_function = &rms_norm_warps_function};

}  // namespace ingot
