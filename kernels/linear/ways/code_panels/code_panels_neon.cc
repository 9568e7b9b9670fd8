// Code panels by the byte products of NEON.
#include "kernels/linear/ways/code_panels/code_panels.h"

#include <arm_neon.h>

#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"
#include "kernels/contract/context.h"
#include "kernels/linear/instructions/group_words.h"
#include "kernels/linear/ways/dots/coded_spans.h"
#include "kernels/linear/ways/floats/gemm.h"
#include "kernels/linear/ways/interleaved/matmul_interleaved.h"
#include "tensor/block_scales.h"
#include "tensor/interleaved.h"

// Code panels multiplied by SDOT: four codes of a row of weights by those of four rows of x, a lane each. The codes of
// a row of weights are named by their lane, so that sixteen of them are loaded at once.
//
// A tile is eight rows of weights by four of x, as with SMMLA; a block of 32 takes 64 SDOT and 16 float instructions.
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")

namespace ingot {
namespace {
namespace byte_dots {

// Each builds on the one before it.
#include "kernels/linear/ways/code_panels/code_panels-inl.h"
//
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/instructions/blocks_32_neon-inl.h"
//
#include "kernels/linear/instructions/blocks_256_neon-inl.h"
//
#include "kernels/linear/ways/code_panels/weight_units_neon-inl.h"
//
#include "kernels/linear/ways/code_panels/code_panels_neon-inl.h"
//
#include "kernels/linear/instructions/multiply_neon_dotprod-inl.h"

}  // namespace byte_dots
}  // namespace

const PanelProduct* const panels_neon_dotprod =
    &byte_dots::panel_product<byte_dots::NeonProduct<byte_dots::DotMultiply>>;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

// Code panels multiplied by SMMLA: two rows of weights by two rows of x, eight codes each, into four 32-bit lanes
//
//   w0 x0   w0 x1   w1 x0   w1 x1
//
// on tiles of eight rows of weights by six of x.
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod+i8mm")

namespace ingot {
namespace {
namespace byte_matrices {

// Each builds on the one before it.
#include "kernels/linear/ways/code_panels/code_panels-inl.h"
//
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/instructions/blocks_32_neon-inl.h"
//
#include "kernels/linear/instructions/blocks_256_neon-inl.h"
//
#include "kernels/linear/ways/code_panels/weight_units_neon-inl.h"
//
#include "kernels/linear/instructions/multiply_neon_i8mm-inl.h"
//
#include "kernels/linear/ways/code_panels/matrix_tile_neon-inl.h"
//
#include "kernels/linear/ways/code_panels/braid_tiles_neon-inl.h"
//
#include "kernels/linear/ways/code_panels/matrix_panels_neon-inl.h"

constexpr PanelProduct product = {tile_bytes, sizeof(TileWorkspace), columns_at_once, fill_tiles, multiply_tiles};

}  // namespace byte_matrices
}  // namespace

const PanelProduct* const panels_neon_i8mm = &byte_matrices::product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES
