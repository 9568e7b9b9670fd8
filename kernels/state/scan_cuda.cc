#include "kernels/state/scan_cuda.h"

#include <algorithm>
#include <bit>

#include "kernels/device/windows.h"
#include "kernels/state/mamba2.h"
#include "kernels/state/selective_scan.h"
#include "machine/gpu/queue.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(scan_cuda);
INGOT_DEVICE_FUNCTION_OF(scan_cuda, scan_rows);

// One axis more, of one element, in front of the last one or behind it.
template <class Element>
View<Element> with_axis_before_last(const View<Element>& view) {
  if (!is_present(view)) return {};
  return View<Element>(view.data(), {view.size(0), view.size(1), 1, view.size(2)},
                       {view.stride(0), view.stride(1), 0, view.stride(2)}, view.place());
}
template <class Element>
View<Element> with_last_axis(const View<Element>& view) {
  return View<Element>(view.data(), {view.size(0), view.size(1), view.size(2), 1},
                       {view.stride(0), view.stride(1), view.stride(2), 0}, view.place());
}

// A channel a head, and a transition for each memory.
Mamba2::Arguments as_heads(const SelectiveScan::Arguments& a) {
  return {.x = with_last_axis(a.x),
          .delta = a.delta,
          .transition = a.transition,
          .input_projection = with_axis_before_last(a.input_projection),
          .output_projection = with_axis_before_last(a.output_projection),
          .skip = a.skip,
          .initial_state = with_axis_before_last(a.initial_state),
          .y = with_last_axis(a.y),
          .final_state = with_axis_before_last(a.final_state)};
}

bool accepts_rows(const Mamba2::Arguments& a) {
  const Shape rows = {a.x.size(0) * a.x.size(2) * a.x.size(3)};
  return fits_device(a.x.shape()) && fits_device(a.input_projection.shape()) && fits_device(a.final_state.shape()) &&
         fits_device(rows);
}

// A transition of rank 1 is one for all memories: the second axis of its tensor takes no step.
void run_rows(const Mamba2::Arguments& a, Context& context) {
  if (a.final_state.empty()) return;
  const auto memories = static_cast<std::uint32_t>(a.final_state.size(3));
  const std::int64_t rows = a.x.size(0) * a.x.size(2) * a.x.size(3);
  const ScannedRows scanned = {
      .x = device_tensor(a.x),
      .delta = device_tensor(a.delta),
      .transition = device_tensor(a.transition),
      .input_projection = device_tensor(a.input_projection),
      .output_projection = device_tensor(a.output_projection),
      .skip = is_present(a.skip) ? device_tensor(a.skip) : DeviceTensor<const float>(),
      .initial_state = is_present(a.initial_state) ? device_tensor(a.initial_state) : DeviceTensor<const float>(),
      .y = device_tensor(a.y),
      .final_state = device_tensor(a.final_state),
      .rows = static_cast<std::uint32_t>(rows),
      .memories = memories,
      .lanes = std::min<std::uint32_t>(std::bit_ceil(memories), 32),
      .head_group = static_cast<std::uint32_t>(a.x.size(2) / a.input_projection.size(2))};
  constexpr std::uint32_t threads = 128;
  const std::int64_t blocks = divide_rounding_up(rows, threads / scanned.lanes);
  context.queue->launch(scan_rows_function, {.blocks = static_cast<std::uint32_t>(blocks), .threads = threads},
                        scanned);
}

}  // namespace

constinit const Variant<Mamba2> mamba2_cuda = {.name = "cuda",
                                               .needs = {Feature::sm_80},
                                               .run = run_rows,
                                               .accepts = accepts_rows,
                                               .device_function = &scan_rows_function};

constinit const Variant<SelectiveScan> selective_scan_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = [](const SelectiveScan::Arguments& a, Context& context) { run_rows(as_heads(a), context); },
    .accepts = [](const SelectiveScan::Arguments& a) { return accepts_rows(as_heads(a)); },
    .device_function = &scan_rows_function};

}  // namespace ingot
