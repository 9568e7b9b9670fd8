// One row of x and interleaved Q4_K weights by matrix instructions (USMMLA), which have a column of x to spare: see
// q4_k_braids_neon-inl.h. SDOT reads what lies in quads; codes of Q4_K lie in eights.
#include "kernels/linear/ways/interleaved/matmul_interleaved.h"

#include <arm_neon.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "hwy/base.h"
#include "kernels/linear/ways/floats/gemm.h"
#include "tensor/interleaved.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod+i8mm")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/instructions/every_vector_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/q4_k_braids_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/one_row_braids_neon-inl.h"

template <>
struct OneRow<BlockQ4_K> {
  using LaneBlock = Q4_KLaneBlock;
};

// Other types go by SDOT, for the sake of fused products that have some of each.
bool is_own(const Matmul::Arguments& a) { return a.weights.dtype() == DType::q4_k && a.x.size(1) > 0; }

bool accepts(const Matmul::Arguments& a) {
  return a.x.size(0) == 1 && (is_own(a) || interleaved_neon_dotprod->accepts(a));
}

std::size_t prepared_bytes(const Matmul::Arguments& a) {
  if (!is_own(a)) return interleaved_neon_dotprod->bytes(a);
  return static_cast<std::size_t>(a.x.size(1) / BlockQ4_K::elements) * sizeof(Q4_KLaneBlock);
}

void prepare(const Matmul::Arguments& a, Workers& workers, std::byte* prepared) {
  is_own(a) ? prepare_one_row<BlockQ4_K>(a, prepared) : interleaved_neon_dotprod->prepare(a, workers, prepared);
}

void columns(const Matmul::Arguments& a, const std::byte* prepared) {
  is_own(a) ? multiply_one_row<BlockQ4_K>(a, prepared) : interleaved_neon_dotprod->columns(a, prepared);
}

constexpr BraidProduct product = {accepts, prepared_bytes, prepare, columns, 512 << 10};

}  // namespace

const BraidProduct* const interleaved_row_neon_i8mm = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
#undef INGOT_EVERY_VECTOR
HWY_POP_ATTRIBUTES
