// The backward of attention.sdpa and attention.streaming. With w = e^(s - log_sum_exp), the weights:
//
//   delta[b,h,i] = sum_d dy y                          dw[b,h,i,j]  = sum_d dy[b,h,i,d] v[b,h/group,j,d]
//   dv[b,g,j,:]  = sum over the group's h, i of w dy     draw         = scale w (dw - delta) bound'(raw)
//   dq[b,h,i,:]  = sum_j draw k[b,h/group,j,:]         dk[b,g,j,:]  = sum over the group's h, i of draw q[b,h,i,:]
//   dsinks[h]    = - sum_{b,i} e^(sinks[h] - log_sum_exp) delta
//
// Weights are computed again from log_sum_exp, so nothing of size Sq x Skv is kept between forward and backward. A
// query whose log_sum_exp is -infinity has no weights and no gradient.
//
// C1 to C7  as in sdpa_inputs.h
// C8   y and dy have shape [B, Hq, Sq, Dv] and packed last axes; log_sum_exp has shape [B, Hq, Sq]
// C9   dq, dk and dv have the shapes of q, k and v and packed last axes
// C10  dsinks, where given, has shape [Hq], and sinks are given
#pragma once

#include "kernels/attention/sdpa/sdpa_inputs.h"
#include "kernels/contract/contract.h"

namespace ingot {

struct SdpaBackward {
  static constexpr std::string_view name = "attention.sdpa_backward";
  static constexpr std::string_view equation =
      "dv = w^T dy, draw = scale w (dy v^T - sum dy y) bound', dq = draw k, dk = draw^T q, w = e^(s - log_sum_exp)";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments : SdpaInputs {
    View<const float> y;
    View<const float> log_sum_exp;
    View<const float> dy;
    View<float> dq;
    View<float> dk;
    View<float> dv;
    View<float> dsinks;

    static constexpr auto fields() {
      return std::tuple_cat(
          SdpaInputs::fields(),
          field_list(input(&Arguments::y, "y"), input(&Arguments::log_sum_exp, "log_sum_exp"),
                     input(&Arguments::dy, "dy"), output(&Arguments::dq, "dq"), output(&Arguments::dk, "dk"),
                     output(&Arguments::dv, "dv"), optional_output(&Arguments::dsinks, "dsinks")));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<SdpaBackward>> variants();
  static void cases(CaseList<SdpaBackward>& list);
};

void sdpa_backward_reference(const SdpaBackward::Arguments& arguments, Context& context);
extern const SimdEntries<SdpaBackward> sdpa_backward_simd;
std::size_t sdpa_backward_scratch_bytes(const SdpaBackward::Arguments& arguments, int threads);

}  // namespace ingot
