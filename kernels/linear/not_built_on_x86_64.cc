// Rows of ARM, on x86_64: no code, but their place in the tables, so that `ingot kernels` lists them as not built.
#include "kernels/linear/int8/int8_tiles.h"
#include "kernels/linear/ways/bf16_panels/bf16_panels.h"
#include "kernels/linear/ways/code_panels/code_panels.h"
#include "kernels/linear/ways/floats/gemm.h"
#include "kernels/linear/ways/interleaved/matmul_interleaved.h"

namespace ingot {

const Int8Entry int8_dot_neon_dotprod = {};
const Int8Entry int8_tiles_neon_dotprod = {};
const Int8Entry int8_tiles_neon_i8mm = {};

const Bf16Product* const bf16_panels_neon = nullptr;

const PanelProduct* const panels_neon_dotprod = nullptr;
const PanelProduct* const panels_neon_i8mm = nullptr;

const DotProduct* const gemm_codes_neon_dotprod = nullptr;
const DotProduct* const gemm_codes_neon_i8mm = nullptr;
const DotProduct* const gemm_dot_neon_bf16 = nullptr;
const DotProduct* const gemm_dot_neon_fp16 = nullptr;

const BraidProduct* const interleaved_neon_dotprod = nullptr;
const BraidProduct* const interleaved_neon_i8mm = nullptr;
const BraidProduct* const interleaved_even_neon_i8mm = nullptr;
const BraidProduct* const interleaved_row_neon_i8mm = nullptr;

}  // namespace ingot
