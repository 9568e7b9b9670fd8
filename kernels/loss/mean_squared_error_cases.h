// Shapes: one element, odd widths, rank above 2, nothing at all; each reduction.
#pragma once

#include "kernels/loss/mean_squared_error.h"

namespace ingot {

inline const std::initializer_list<std::pair<Shape, Reduction>> squared_error_shapes = {
    {{1}, Reduction::mean},   {{3, 17}, Reduction::mean},    {{5, 64}, Reduction::sum},   {{2, 3, 33}, Reduction::none},
    {{0, 4}, Reduction::sum}, {{70, 1000}, Reduction::mean}, {{4, 129}, Reduction::none},
};

inline Shape squared_error_loss_shape(const Shape& shape, Reduction reduction) {
  return reduction == Reduction::none ? shape : Shape{1};
}

inline std::string squared_error_case_name(const Shape& shape, Reduction reduction) {
  return std::string(text_of(shape).view()) + (reduction == Reduction::none  ? " none"
                                               : reduction == Reduction::sum ? " sum"
                                                                             : " mean");
}

inline void MeanSquaredError::cases(CaseList<MeanSquaredError>& list) {
  auto build = [](Shape shape, Reduction reduction) {
    return [shape, reduction](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape);
      a.target = builder.filled(shape);
      a.reduction = reduction;
      a.loss = builder.blank(squared_error_loss_shape(shape, reduction));
      return a;
    };
  };
  for (const auto& [shape, reduction] : squared_error_shapes) {
    list.parity(squared_error_case_name(shape, reduction), build(shape, reduction));
  }
  for (Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
    list.gradient(squared_error_case_name({2, 4}, reduction), build({2, 4}, reduction));
  }
  list.benchmark("512 x 4096 mean", build({512, 4096}, Reduction::mean));
}

inline void MeanSquaredErrorBackward::cases(CaseList<MeanSquaredErrorBackward>& list) {
  auto build = [](Shape shape, Reduction reduction, bool with_target) {
    return [shape, reduction, with_target](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape);
      a.target = builder.filled(shape);
      a.reduction = reduction;
      a.dloss = builder.filled(squared_error_loss_shape(shape, reduction), Fill::uniform(-2, 2));
      a.dx = builder.blank(shape);
      if (with_target) a.dtarget = builder.blank(shape);
      return a;
    };
  };
  for (const auto& [shape, reduction] : squared_error_shapes) {
    list.parity(squared_error_case_name(shape, reduction), build(shape, reduction, true));
  }
  list.parity("without dtarget", build({3, 20}, Reduction::mean, false));
  list.benchmark("512 x 4096 mean", build({512, 4096}, Reduction::mean, false));
}

}  // namespace ingot
