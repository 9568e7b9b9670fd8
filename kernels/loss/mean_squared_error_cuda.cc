#include "kernels/loss/mean_squared_error_cuda.h"

#include "kernels/device/joint_windows.h"
#include "kernels/loss/mean_squared_error.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(mean_squared_error_cuda);
INGOT_DEVICE_FUNCTION_OF(mean_squared_error_cuda, squared_errors);
INGOT_DEVICE_FUNCTION_OF(mean_squared_error_cuda, squared_error_pieces);
INGOT_DEVICE_FUNCTION_OF(mean_squared_error_cuda, squared_error_total);

JointWalk<2> squared_error_walk(const MeanSquaredError::Arguments& a) {
  return joint_walk<2>(a.x.shape(), {a.x.strides(), a.target.strides()});
}
std::uint32_t squared_error_pieces_of(const JointWalk<2>& walk) {
  return static_cast<std::uint32_t>(divide_rounding_up(std::int64_t{walk.length}, std::int64_t{squared_error_piece}));
}

std::size_t squared_error_scratch(const MeanSquaredError::Arguments& a, int) {
  if (a.reduction == Reduction::none || a.x.empty()) return 0;
  const JointWalk<2> walk = squared_error_walk(a);
  return std::size_t{walk.rows} * squared_error_pieces_of(walk) * sizeof(double);
}

void run_mean_squared_error(const MeanSquaredError::Arguments& a, Context& context) {
  if (a.reduction == Reduction::none) {
    if (a.loss.empty()) return;
    const SquaredErrors errors = {.map = device_map(a.loss, a.x, a.target)};
    return context.queue->launch(squared_errors_function, map_shape(errors.map), errors);
  }
  SquaredErrorTotal total = {.partials = reinterpret_cast<const double*>(context.scratch.data()),
                             .count = 0,
                             .divisor = a.reduction == Reduction::mean ? static_cast<double>(a.x.count()) : 1,
                             .loss = a.loss.data()};
  if (!a.x.empty()) {
    SquaredErrorPieces pieces = {.walk = squared_error_walk(a),
                                 .x = a.x.data(),
                                 .target = a.target.data(),
                                 .partials = reinterpret_cast<double*>(context.scratch.data()),
                                 .pieces = 0,
                                 .is_aligned = false};
    pieces.pieces = squared_error_pieces_of(pieces.walk);
    pieces.is_aligned = rows_are_aligned(pieces.walk, 0, pieces.x, sizeof(float), 16) &&
                        rows_are_aligned(pieces.walk, 1, pieces.target, sizeof(float), 16);
    total.count = std::uint64_t{pieces.walk.rows} * pieces.pieces;
    context.queue->launch(squared_error_pieces_function,
                          {.blocks = static_cast<std::uint32_t>(total.count), .threads = 256}, pieces);
  }
  context.queue->launch(squared_error_total_function, {.blocks = 1, .threads = 1024}, total);
}

}  // namespace

constinit const Variant<MeanSquaredError> mean_squared_error_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_mean_squared_error,
    .accepts = [](const MeanSquaredError::Arguments& a) { return fits_device(a.x.shape()); },
    .scratch_bytes = squared_error_scratch,
    .device_function = &squared_errors_function};

}  // namespace ingot
