#include "kernels/elementwise/reduce_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/elementwise/reduce.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(reduce_cuda);
INGOT_DEVICE_FUNCTION_OF(reduce_cuda, reduce_rows_by_warps);
INGOT_DEVICE_FUNCTION_OF(reduce_cuda, reduce_pieces_by_blocks);
INGOT_DEVICE_FUNCTION_OF(reduce_cuda, reduce_partials);

template <class Op>
constexpr ReductionKind reduction_kind = std::is_same_v<Op, ReduceSum>            ? ReductionKind::sum
                                         : std::is_same_v<Op, ReduceMean>         ? ReductionKind::mean
                                         : std::is_same_v<Op, ReduceSumOfSquares> ? ReductionKind::sum_of_squares
                                         : std::is_same_v<Op, ReduceMax>          ? ReductionKind::maximum
                                                                                  : ReductionKind::argmax;

std::uint32_t pieces_of_row(std::int64_t length) {
  return static_cast<std::uint32_t>(divide_rounding_up(length, std::int64_t{reduced_piece}));
}

template <class Arguments>
std::size_t partial_bytes(const Arguments& a, int) {
  const std::int64_t length = a.x.shape().last();
  const std::size_t pieces = pieces_of_row(length);
  return pieces == 1 ? 0 : static_cast<std::size_t>(a.x.count() / length) * pieces * sizeof(double);
}

// Rows begin at multiples of 16 bytes; their length may be any.
bool rows_begin_aligned(const View<const float>& x) {
  if (reinterpret_cast<std::uintptr_t>(x.data()) % 16 != 0) return false;
  for (int axis = 0; axis < x.rank() - 1; ++axis) {
    if (x.size(axis) > 1 && x.stride(axis) % 4 != 0) return false;
  }
  return true;
}

template <class Op>
void run_reduction(const typename Op::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  DeviceReduction reduction = {.x = device_rows(a.x),
                               .y = nullptr,
                               .indices = nullptr,
                               .partials = context.scratch.data(),
                               .pieces = pieces_of_row(a.x.shape().last()),
                               .kind = reduction_kind<Op>,
                               .is_aligned = rows_begin_aligned(a.x)};
  if constexpr (requires { a.indices; }) {
    reduction.indices = a.indices.data();
  } else {
    reduction.y = a.y.data();
  }
  const std::uint32_t rows = reduction.x.count;
  if (reduction.x.length <= reduced_by_warp) {
    constexpr std::uint32_t warps = 8;
    return context.queue->launch(reduce_rows_by_warps_function,
                                 {.blocks = (rows + warps - 1) / warps, .threads = 32 * warps}, reduction);
  }
  context.queue->launch(reduce_pieces_by_blocks_function, {.blocks = rows * reduction.pieces, .threads = 256},
                        reduction);
  if (reduction.pieces > 1) {
    context.queue->launch(reduce_partials_function, {.blocks = rows, .threads = 256}, reduction);
  }
}

template <class Op>
bool reduction_fits(const typename Op::Arguments& a) {
  return fits_device(a.x.shape());
}

}  // namespace

template <class Op>
Variant<Op> reduce_cuda() {
  return {.name = "cuda",
          .needs = {Feature::sm_80},
          .run = run_reduction<Op>,
          .accepts = reduction_fits<Op>,
          .scratch_bytes = partial_bytes<typename Op::Arguments>,
          .device_function = &reduce_rows_by_warps_function};
}
template Variant<ReduceSum> reduce_cuda<ReduceSum>();
template Variant<ReduceMean> reduce_cuda<ReduceMean>();
template Variant<ReduceSumOfSquares> reduce_cuda<ReduceSumOfSquares>();
template Variant<ReduceMax> reduce_cuda<ReduceMax>();
template Variant<Argmax> reduce_cuda<Argmax>();

}  // namespace ingot
