// Code panels multiplied by SDOT: four codes of a row of weights by those of four rows of x, a lane each. The codes of
// a row of weights are named by their lane, so that sixteen of them are loaded at once.
//
// A tile is eight rows of weights by four of x, as with SMMLA; a block of 32 takes 64 SDOT and 16 float instructions.
#include "kernels/linear/code_panels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"
#include "kernels/contract/context.h"
#include "kernels/linear/coded_spans.h"
#include "kernels/linear/gemm.h"
#include "kernels/linear/group_words.h"
#include "kernels/linear/matmul_interleaved.h"
#include "tensor/block_scales.h"
#include "tensor/interleaved.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/code_panels-inl.h"
//
#include "kernels/linear/unrolled-inl.h"
//
#include "kernels/linear/blocks_32_neon-inl.h"
//
#include "kernels/linear/blocks_256_neon-inl.h"
//
#include "kernels/linear/weight_units_neon-inl.h"
//
#include "kernels/linear/code_panels_neon-inl.h"
//
#include "kernels/linear/multiply_neon_dotprod-inl.h"

}  // namespace

const PanelProduct* const panels_neon_dotprod = &panel_product<NeonProduct<DotMultiply>>;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const PanelProduct* const panels_neon_dotprod = nullptr;
}  // namespace ingot

#endif
