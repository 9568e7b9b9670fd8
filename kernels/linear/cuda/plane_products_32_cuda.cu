// Products with weights in planes of formats with blocks of 32.
#include "kernels/linear/cuda/plane_ways.h"

namespace ingot::device {
namespace {

struct WithBlock32 {
  template <class Function>
  INGOT_ON_DEVICE void operator()(DType type, Function&& function) const {
    switch (type) {
      case DType::q4_0: return function.template operator()<BlockQ4_0>();
      case DType::q5_0: return function.template operator()<BlockQ5_0>();
      default: return function.template operator()<BlockQ8_0>();
    }
  }
};

using Way = PlaneWay<8, plane_stages, plane_stage_bytes_32, WithBlock32>;

}  // namespace

// So many threads that five blocks of four warps find registers in an SM.
// Budget of multiply_planes_one_32: 96 registers. Planes of a tile and of the next, 32, scales and x beside. Budget of
// multiply_planes_few_32: 104 registers. And sums of eight tokens. Budget of multiply_planes_many_32: 208 registers.
// Sums and totals of 128 rows by 64 tokens in eight warps, 64, x of two steps, 32, and what is unpacked.
INGOT_DEVICE_FUNCTION_AFTER(multiply_planes_one_32, PlaneProducts, 640, prefetch_streamed<Way>) {
  multiply_streamed<Way, true>(parameters);
}
INGOT_DEVICE_FUNCTION_AFTER(multiply_planes_few_32, PlaneProducts, 512, prefetch_streamed<Way>) {
  multiply_streamed<Way, false>(parameters);
}
INGOT_DEVICE_FUNCTION(multiply_planes_many_32, PlaneProducts, 256) { multiply_tiled<Way>(parameters); }

}  // namespace ingot::device
