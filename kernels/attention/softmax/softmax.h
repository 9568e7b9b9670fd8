// Softmax over the last axis, with what attention puts around it.
//
//   s[r,j]          = scale x[r,j] + mask[r,j]
//   log_sum_exp[r]  = log( e^sinks[r] + sum over visible j of e^s[r,j] )
//   y[r,j]          = e^(s[r,j] - log_sum_exp[r]) for visible j, else 0
//
// With mask_kind causal the axis before the last counts queries, and row i sees keys j <= query_offset + i. A row that
// sees nothing (or only -infinity, and has no sink) is all zeros with log_sum_exp = -infinity. A sink is a logit that
// takes weight from the row but has no column.
//
// C1  x has rank 1 to 6 (2 to 6 where causal)
// C2  y has x's shape
// C3  the last axes of x and y are packed; rows may lie anywhere
// C4  mask, where given, repeats to x's shape; its last axis is packed
// C5  sinks, where given, repeats to x's shape without the last axis ([H, 1] for scores [B, H, Sq, Skv])
// C6  log_sum_exp, where given, has x's shape without the last axis, and is contiguous
// C7  scale is finite, mask_kind is full or causal, query_offset lies within 2^31 of 0
// In place: y may be x.
#pragma once

#include "kernels/attention/visibility.h"
#include "kernels/contract/contract.h"

namespace ingot {

struct Softmax {
  static constexpr std::string_view name = "attention.softmax";
  static constexpr std::string_view equation =
      "y[r,j] = e^s[r,j] / (e^sinks[r] + sum_k e^s[r,k]), s = scale x + mask, over visible j";
  static constexpr Backward backward = Backward::by("attention.softmax_backward");
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments {
    View<const float> x;
    View<const float> mask;
    View<const float> sinks;
    float scale = 1;
    MaskKind mask_kind = MaskKind::full;
    std::int64_t query_offset = 0;
    View<float> y;
    View<float> log_sum_exp;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), optional_input(&Arguments::mask, "mask"),
                        optional_weight(&Arguments::sinks, "sinks"), attribute(&Arguments::scale, "scale"),
                        attribute(&Arguments::mask_kind, "mask_kind"),
                        attribute(&Arguments::query_offset, "query_offset"), output(&Arguments::y, "y"),
                        saved(&Arguments::log_sum_exp, "log_sum_exp"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Softmax>> variants();
  static void cases(CaseList<Softmax>& list);
};

void softmax_reference(const Softmax::Arguments& arguments, Context& context);
extern const Variant<Softmax> softmax_cuda;
extern const SimdEntries<Softmax> softmax_simd;

// Its backward. What a row does not see has y = 0, so masks need no mention:
//
//   dx[r,j]  = scale y[r,j] (dy[r,j] - delta[r]),  delta[r] = sum_j dy[r,j] y[r,j]
//   dsinks   = - sum over the rows of a sink of e^(sinks[r] - log_sum_exp[r]) delta[r]
//
// C1  y has rank 1 to 6
// C2  dy and dx have y's shape
// C3  the last axes of y, dy and dx are packed
// C4  dsinks, where given, has sinks' shape, and sinks and log_sum_exp are given
// C5  sinks, where given, repeats to y's shape without the last axis
// C6  log_sum_exp, where given, has y's shape without the last axis, and is contiguous
// C7  scale is finite
// In place: dx may be dy.
struct SoftmaxBackward {
  static constexpr std::string_view name = "attention.softmax_backward";
  static constexpr std::string_view equation =
      "dx = scale y (dy - sum_j dy y), dsinks = -sum_r e^(sinks - lse) sum_j dy y";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dx", "dy"}};

  struct Arguments {
    View<const float> y;
    View<const float> sinks;
    View<const float> log_sum_exp;
    View<const float> dy;
    float scale = 1;
    View<float> dx;
    View<float> dsinks;

    static constexpr auto fields() {
      return field_list(input(&Arguments::y, "y"), optional_weight(&Arguments::sinks, "sinks"),
                        optional_input(&Arguments::log_sum_exp, "log_sum_exp"), input(&Arguments::dy, "dy"),
                        attribute(&Arguments::scale, "scale"), output(&Arguments::dx, "dx"),
                        optional_output(&Arguments::dsinks, "dsinks"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<SoftmaxBackward>> variants();
  static void cases(CaseList<SoftmaxBackward>& list);
};

void softmax_backward_reference(const SoftmaxBackward::Arguments& arguments, Context& context);
extern const SimdEntries<SoftmaxBackward> softmax_backward_simd;

// dsinks from the delta of each row. It is a small sum in a fixed order, so every variant uses the one scalar routine.
template <class Delta>
void softmax_sink_gradients(const SoftmaxBackward::Arguments& arguments, const Delta* deltas);
extern template void softmax_sink_gradients(const SoftmaxBackward::Arguments&, const float*);
std::size_t softmax_backward_scratch_bytes(const SoftmaxBackward::Arguments& arguments, int threads);

// A shape's rows: the shape without its last axis. Precondition: rank() >= 1.
constexpr Shape shape_of_rows(const Shape& shape) {
  Shape rows;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) rows.push_back(shape[axis]);
  return rows;
}

// The address of one number per row, for a tensor that repeats over rows. Precondition: it repeats to `rows`.
template <class Element>
class PerRow {
 public:
  PerRow(const View<Element>& view, const Shape& rows) : rows_(rows) {
    if (is_present(view)) view_ = view.broadcast_to(rows).value();
  }
  Element& operator[](std::int64_t row) const {
    std::int64_t offset = 0;
    for (int axis = rows_.rank() - 1; axis >= 0; --axis) {
      offset += row % rows_[axis] * view_.stride(axis);
      row /= rows_[axis];
    }
    return view_.data()[offset];
  }

 private:
  Shape rows_;
  View<Element> view_;
};

}  // namespace ingot
