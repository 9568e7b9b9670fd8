#include "kernels/contract/weight_layout.h"

namespace ingot {

Result<void> require_can_interleave(std::string_view operation, std::string_view number, std::string_view field,
                                    const ConstAnyView& view) {
  TRY(require_rank(operation, number, field, view, 2));
  if (!can_interleave(view.dtype())) {
    return violated(operation, number, "expected ", field, " of type q4_0, q8_0, q5_0, q4_k or q6_k, found ",
                    view.dtype());
  }
  if (view.size(0) % interleaved_rows == 0) return {};
  return violated(operation, number, "expected ", field, " of whole eights of rows, found ", view.size(0), " rows");
}

Result<void> require_interleaved(std::string_view operation, std::string_view number, std::string_view field,
                                 const ConstAnyView& view) {
  TRY(require_can_interleave(operation, number, field, view));
  return require_contiguous(operation, number, field, view);
}

Result<void> require_weight_layout(std::string_view operation, std::string_view number, WeightLayout layout) {
  if (layout == WeightLayout::rows) return {};
  return violated(operation, number, "expected layout rows (0), found layout ", static_cast<int>(layout));
}

Result<void> require_can_pack(std::string_view operation, std::string_view number, std::string_view field,
                              WeightLayout layout, const ConstAnyView& view) {
  if (layout == WeightLayout::interleaved8) return require_can_interleave(operation, number, field, view);
  if (layout != WeightLayout::planes16) {
    return violated(operation, number, "expected layout interleaved8 (1) or planes16 (2), found layout ",
                    static_cast<int>(layout));
  }
  TRY(require_rank(operation, number, field, view, 2));
  if (!has_planes(view.dtype())) {
    return violated(operation, number, "expected ", field, " of type q4_0, q8_0, q5_0, q4_k, q5_k or q6_k, found ",
                    view.dtype());
  }
  if (view.size(0) % plane_rows == 0 && view.size(1) % plane_depth == 0) return {};
  return violated(operation, number, "expected ", field, " of whole sixteens of rows of whole spans of 256, found ",
                  view.shape());
}

Result<void> require_any_layout(std::string_view operation, std::string_view number, std::string_view field,
                                WeightLayout layout, const ConstAnyView& view) {
  if (layout == WeightLayout::rows) return {};
  TRY(require_can_pack(operation, number, field, layout, view));
  return require_contiguous(operation, number, field, view);
}

}  // namespace ingot
