// Shapes: one class, odd vocabularies, long ones, ignored rows, all rows ignored, no rows, each reduction, smoothing
// and weights.
#pragma once

#include "kernels/loss/cross_entropy.h"

namespace ingot {

struct ClassLossShape {
  std::int64_t rows;
  std::int64_t classes;
  Reduction reduction = Reduction::mean;
  float label_smoothing = 0;
  bool weighted = false;
  std::int64_t ignored = 0;  // that many rows, from the first
};

// The fields that a class loss and its backward share.
template <class Arguments>
void fill_class_targets(CaseBuilder& builder, const ClassLossShape& shape, Arguments& a) {
  const View<std::int32_t> targets = builder.filled<std::int32_t>({shape.rows}, Fill::indices(shape.classes));
  for (std::int64_t row = 0; row < shape.ignored; ++row) targets(row) = a.ignore_index;
  a.targets = targets;
  if (shape.weighted) a.class_weights = builder.filled({shape.classes}, Fill::uniform(0.1, 2), Packing::contiguous);
  a.reduction = shape.reduction;
}

inline const std::initializer_list<std::pair<const char*, ClassLossShape>> class_loss_shapes = {
    {"3 x 1", {3, 1}},
    {"2 x 7 sum", {2, 7, Reduction::sum}},
    {"5 x 33 none", {5, 33, Reduction::none}},
    {"4 x 129 smoothed", {4, 129, Reduction::mean, 0.1f}},
    {"6 x 50 weighted, smoothed, one ignored", {6, 50, Reduction::mean, 0.2f, true, 1}},
    {"3 x 16 all ignored", {3, 16, Reduction::mean, 0, false, 3}},
    {"0 x 9 none", {0, 9, Reduction::none}},
    {"40 x 1000", {40, 1000}},
    {"3 x 4001 smoothed", {3, 4001, Reduction::mean, 0.1f}},
    {"2 x 20011 weighted, smoothed", {2, 20011, Reduction::sum, 0.1f, true}},
    {"2 x 20012", {2, 20012}},
    {"1 x 66001", {1, 66001}},
};

inline void CrossEntropy::cases(CaseList<CrossEntropy>& list) {
  auto build = [](ClassLossShape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.logits = builder.filled({shape.rows, shape.classes});
      fill_class_targets(builder, shape, a);
      a.label_smoothing = shape.label_smoothing;
      a.loss = builder.blank({shape.reduction == Reduction::none ? shape.rows : 1}, Packing::contiguous);
      a.log_sum_exp = builder.blank({shape.rows}, Packing::contiguous);
      return a;
    };
  };
  for (const auto& [name, shape] : class_loss_shapes) list.parity(name, build(shape));
  list.gradient("3 x 4 mean", build({3, 4, Reduction::mean, 0.1f, true, 1}));
  list.gradient("3 x 4 none", build({3, 4, Reduction::none}));
  list.gradient("2 x 5 sum", build({2, 5, Reduction::sum, 0.3f}));
  list.benchmark("256 x 32000", build({256, 32000}));
  list.benchmark("2097 x 32000", build({2097, 32000}));
  list.benchmark("523 x 128256", build({523, 128256}));
}

inline void CrossEntropyBackward::cases(CaseList<CrossEntropyBackward>& list) {
  auto build = [](ClassLossShape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.logits = builder.filled({shape.rows, shape.classes}, Fill::uniform(-3, 3));
      fill_class_targets(builder, shape, a);
      a.label_smoothing = shape.label_smoothing;
      a.log_sum_exp = builder.filled({shape.rows}, Fill::uniform(3, 9));
      a.dloss = builder.filled({shape.reduction == Reduction::none ? shape.rows : 1}, Fill::uniform(-2, 2),
                               Packing::contiguous);
      a.dlogits = builder.blank({shape.rows, shape.classes});
      return a;
    };
  };
  for (const auto& [name, shape] : class_loss_shapes) list.parity(name, build(shape));
  list.benchmark("256 x 32000", build({256, 32000}));
}

}  // namespace ingot
