// Products with weights in planes of formats with blocks of 256.
#include "kernels/linear/cuda/plane_ways.h"

namespace ingot::device {
namespace {

struct WithBlock256 {
  template <class Function>
  INGOT_ON_DEVICE void operator()(DType type, Function&& function) const {
    switch (type) {
      case DType::q4_k: return function.template operator()<BlockQ4_K>();
      case DType::q5_k: return function.template operator()<BlockQ5_K>();
      default: return function.template operator()<BlockQ6_K>();
    }
  }
};

using Way = PlaneWay<1, plane_stages, plane_stage_bytes_256, WithBlock256>;

}  // namespace

// So many threads that five blocks of four warps find registers in an SM.
// Budget of multiply_planes_one_256: 96 registers. Planes of a tile and of the next, 32, scales and x beside. Budget of
// multiply_planes_few_256: 104 registers. And sums of eight tokens. Budget of multiply_planes_many_256: 208 registers.
// Sums and totals of 128 rows by 64 tokens in eight warps, 64, x of two steps, 32, and what is unpacked.
INGOT_DEVICE_FUNCTION_AFTER(multiply_planes_one_256, PlaneProducts, 640, prefetch_streamed<Way>) {
  multiply_streamed<Way, true>(parameters);
}
INGOT_DEVICE_FUNCTION_AFTER(multiply_planes_few_256, PlaneProducts, 512, prefetch_streamed<Way>) {
  multiply_streamed<Way, false>(parameters);
}
INGOT_DEVICE_FUNCTION(multiply_planes_many_256, PlaneProducts, 256) { multiply_tiled<Way>(parameters); }

}  // namespace ingot::device
