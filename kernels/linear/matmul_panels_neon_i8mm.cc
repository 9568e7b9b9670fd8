// Code panels multiplied by SMMLA: two rows of weights by two rows of x, eight codes each, into four 32-bit lanes
//
//   w0 x0   w0 x1   w1 x0   w1 x1
//
// on tiles of eight rows of weights by six of x.
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

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod+i8mm")

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
#include "kernels/linear/multiply_neon_i8mm-inl.h"
//
#include "kernels/linear/matrix_tile_neon-inl.h"
//
#include "kernels/linear/group_tiles_neon-inl.h"
//
#include "kernels/linear/matrix_panels_neon-inl.h"

constexpr PanelProduct product = {tile_bytes, sizeof(TileWorkspace), columns_at_once, fill_tiles, multiply_tiles};

}  // namespace

const PanelProduct* const panels_neon_i8mm = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const PanelProduct* const panels_neon_i8mm = nullptr;
}  // namespace ingot

#endif
