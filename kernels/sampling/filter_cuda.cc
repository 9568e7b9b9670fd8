#include "kernels/sampling/filter.h"
#include "kernels/sampling/sampling_scratch.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(filter_cuda);
INGOT_DEVICE_FUNCTION_OF(filter_cuda, divide_logits);
INGOT_DEVICE_FUNCTION_OF(filter_cuda, keep_near_greatest);
INGOT_DEVICE_FUNCTION_OF(filter_cuda, find_kth);
INGOT_DEVICE_FUNCTION_OF(filter_cuda, find_nucleus);
INGOT_DEVICE_FUNCTION_OF(filter_cuda, keep_up_to_last);

template <class Op>
constexpr sampling::Weights weights_of =
    std::is_same_v<Op, TopP> ? sampling::Weights::summed : sampling::Weights::unused;

template <class Op>
void run_filter(const typename Op::Arguments& a, Context& context) {
  if (a.logits.empty()) return;
  Queue& queue = *context.queue;
  FilteredRows rows = {.rows = sampling::sampling_rows(a.logits, weights_of<Op>, context),
                       .y = device_rows(a.y),
                       .groups = RowGroups(static_cast<std::uint32_t>(a.logits.size(0)),
                                           static_cast<std::uint32_t>((a.logits.size(1) + 3) / 4)),
                       .limit = static_cast<float>(a.limit),
                       .k = 0,
                       .last = nullptr};
  rows.rows.is_aligned = rows.rows.is_aligned && groups_are_aligned(a.y);
  rows.last = sampling::numbers_of_rows(rows.rows);
  const LaunchShape over_groups = {.blocks = rows.groups.blocks(), .threads = RowGroups::threads};
  const LaunchShape over_rows = {.blocks = rows.y.count, .threads = 1024};
  if constexpr (std::is_same_v<Op, Temperature>) {
    queue.launch(divide_logits_function, over_groups, rows);
  } else if constexpr (std::is_same_v<Op, MinP>) {
    rows.limit = sampling::least_distance(a.limit);
    sampling::prepare_rows(queue, rows.rows);
    queue.launch(keep_near_greatest_function,
                 {.blocks = rows.y.count * rows.rows.scratch.pieces, .threads = RowGroups::threads}, rows);
  } else if constexpr (std::is_same_v<Op, SamplingTopK>) {
    rows.k = static_cast<std::uint32_t>(std::min<std::int64_t>(a.limit, a.logits.size(1)));
    queue.launch(find_kth_function, over_rows, rows);
    queue.launch(keep_up_to_last_function, over_groups, rows);
  } else {
    sampling::prepare_rows(queue, rows.rows);
    queue.launch(find_nucleus_function, over_rows, rows);
    queue.launch(keep_up_to_last_function, over_groups, rows);
  }
}

}  // namespace

template <class Op>
const Variant<Op>& filter_cuda() {
  using Arguments = typename Op::Arguments;
  static constinit const Variant<Op> row = {
      .name = "cuda",
      .needs = {Feature::sm_80},
      .run = run_filter<Op>,
      .accepts = [](const Arguments& a) { return sampling::fits_sampling(a.logits); },
      .scratch_bytes = [](const Arguments& a, int) { return sampling::device_scratch_bytes(a.logits, weights_of<Op>); },
      .device_function = &keep_up_to_last_function};
  return row;
}
template const Variant<Temperature>& filter_cuda<Temperature>();
template const Variant<SamplingTopK>& filter_cuda<SamplingTopK>();
template const Variant<TopP>& filter_cuda<TopP>();
template const Variant<MinP>& filter_cuda<MinP>();

}  // namespace ingot
