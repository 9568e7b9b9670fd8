#include "kernels/loss/class_loss_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/loss/class_targets.h"
#include "kernels/loss/negative_log_likelihood.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(class_loss_cuda);
INGOT_DEVICE_FUNCTION_OF(class_loss_cuda, cross_entropy_rows);
INGOT_DEVICE_FUNCTION_OF(class_loss_cuda, cross_entropy_long_rows);
INGOT_DEVICE_FUNCTION_OF(class_loss_cuda, cross_entropy_longest_rows);
INGOT_DEVICE_FUNCTION_OF(class_loss_cuda, negative_log_likelihood_rows);
INGOT_DEVICE_FUNCTION_OF(class_loss_cuda, class_loss_total);

template <class Arguments>
ClassLossRows class_loss_rows(const Arguments& a, const View<const float>& scores, Context& context) {
  const bool is_none = a.reduction == Reduction::none;
  return {.targets = {.targets = a.targets.data(),
                      .stride = a.targets.stride(0),
                      .class_weights = is_present(a.class_weights) ? a.class_weights.data() : nullptr,
                      .ignore_index = a.ignore_index},
          .scores = scores.data(),
          .stride = scores.stride(0),
          .rows = static_cast<std::uint32_t>(scores.size(0)),
          .classes = static_cast<std::uint32_t>(scores.size(1)),
          .label_smoothing = 0,
          .is_aligned = reinterpret_cast<std::uintptr_t>(scores.data()) % 16 == 0 && scores.stride(0) % 4 == 0,
          .log_sum_exp = nullptr,
          .loss = is_none ? a.loss.data() : nullptr,
          .row_losses = reinterpret_cast<double*>(context.scratch.data())};
}

// Where rows do not keep their losses. Also of no rows: their sum is 0.
template <class Arguments>
void total_loss(const Arguments& a, const ClassLossRows& rows, Context& context) {
  if (a.reduction == Reduction::none) return;
  const ClassLossTotal total = {.targets = rows.targets,
                                .row_losses = rows.row_losses,
                                .rows = rows.rows,
                                .is_mean = a.reduction == Reduction::mean,
                                .loss = a.loss.data()};
  context.queue->launch(class_loss_total_function, {.blocks = 1, .threads = 1024}, total);
}

void run_cross_entropy(const CrossEntropy::Arguments& a, Context& context) {
  ClassLossRows rows = class_loss_rows(a, a.logits, context);
  rows.label_smoothing = a.label_smoothing;
  rows.log_sum_exp = is_present(a.log_sum_exp) ? a.log_sum_exp.data() : nullptr;
  if (rows.rows > 0) {
    if (rows.classes <= classes_of_small_block) {
      context.queue->launch(cross_entropy_rows_function, {.blocks = rows.rows, .threads = 128}, rows);
    } else if (rows.classes <= classes_of_block) {
      context.queue->launch(cross_entropy_long_rows_function, {.blocks = rows.rows, .threads = 256}, rows);
    } else {
      context.queue->launch(cross_entropy_longest_rows_function, {.blocks = rows.rows, .threads = 512}, rows);
    }
  }
  total_loss(a, rows, context);
}

void run_negative_log_likelihood(const NegativeLogLikelihood::Arguments& a, Context& context) {
  const ClassLossRows rows = class_loss_rows(a, a.log_probabilities, context);
  if (rows.rows > 0) {
    context.queue->launch(negative_log_likelihood_rows_function,
                          {.blocks = rows.rows / 256 + (rows.rows % 256 != 0 ? 1 : 0), .threads = 256}, rows);
  }
  total_loss(a, rows, context);
}

template <class Arguments>
std::size_t row_loss_bytes(const Arguments& a, int) {
  return a.reduction == Reduction::none ? 0 : static_cast<std::size_t>(a.targets.size(0)) * sizeof(double);
}

}  // namespace

constinit const Variant<CrossEntropy> cross_entropy_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_cross_entropy,
    .accepts = [](const CrossEntropy::Arguments& a) { return fits_device(a.logits.shape()); },
    .scratch_bytes = row_loss_bytes<CrossEntropy::Arguments>,
    .device_function = &cross_entropy_rows_function};

constinit const Variant<NegativeLogLikelihood> negative_log_likelihood_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_negative_log_likelihood,
    .accepts = [](const NegativeLogLikelihood::Arguments& a) { return fits_device(a.log_probabilities.shape()); },
    .scratch_bytes = row_loss_bytes<NegativeLogLikelihood::Arguments>,
    .device_function = &negative_log_likelihood_rows_function};

}  // namespace ingot
