// Rows of a PC, on aarch64: no code, but their place in the tables, so that `ingot kernels` lists them as not built.
#include "kernels/linear/int8/int8_tiles.h"
#include "kernels/linear/ways/bf16_panels/bf16_panels.h"
#include "kernels/linear/ways/code_panels/code_panels.h"
#include "kernels/linear/ways/floats/gemm.h"
#include "kernels/linear/ways/interleaved/matmul_interleaved.h"
#include "kernels/linear/ways/lanes/lanes.h"

namespace ingot {

const Int8Entry int8_tiles_amx = {};
const Int8Entry int8_tiles_avx2 = {};
const Int8Entry int8_dot_avx512_vnni = {};
const Int8Entry int8_tiles_avx512_vnni = {};
const Int8Entry int8_tiles_avx_vnni = {};

const Bf16Product* const bf16_panels_amx = nullptr;
const Bf16Product* const bf16_panels_avx512 = nullptr;

const PanelProduct* const panels_amx = nullptr;
const PanelProduct* const panels_avx2 = nullptr;
const PanelProduct* const panels_avx512_vnni = nullptr;
const PanelProduct* const panels_avx_vnni = nullptr;

const DotProduct* const gemm_codes_avx512_vnni = nullptr;

const BraidProduct* const interleaved_avx512_vnni = nullptr;

const LaneProduct* const lanes_avx2 = nullptr;
const LaneProduct* const lanes_even_avx_vnni = nullptr;
const LaneProduct* const lanes_even_avx2 = nullptr;
const LaneProduct* const lanes_avx512_vnni = nullptr;
const LaneProduct* const lanes_avx_vnni = nullptr;

}  // namespace ingot
