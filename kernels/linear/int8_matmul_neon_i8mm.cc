// Plain bytes multiplied by SMMLA.
#include "kernels/linear/int8_tiles.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstring>
#include <utility>

#include "hwy/base.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod+i8mm")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/unrolled-inl.h"
//
#include "kernels/linear/multiply_neon_i8mm-inl.h"
//
#include "kernels/linear/int8_tiles-inl.h"
//
#include "kernels/linear/int8_tiles_neon-inl.h"

}  // namespace

const Int8Entry int8_tiles_neon_i8mm = tile_entry<NeonTiles<MatrixMultiply>>;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const Int8Entry int8_tiles_neon_i8mm = {};
}  // namespace ingot

#endif
