// The one matrix product under this family's operations: out = left x right (+ bias), with both operands read through
// strides and converted to float while they are packed. Transposed, strided, half-precision and block-format operands
// therefore need no copy and no kernel of their own.
//
// How it runs:
//
//   for each block of columns, for each block of the depth:
//     pack the right operand into panels [depth][tile columns]
//     for each task (a few rows by many columns):
//       take the rows as the tile reads them: where they lie, or packed (gemm_left-inl.h)
//       for each tile's rows, for each panel of columns: one register tile, stored or added to the output
//
// Edges are filled up with zeros, so the inner loop never sees them; only the store does. The depth is cut the same way
// whatever the number of threads, and threads share nothing but packed panels: results do not depend on them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear/coded_x.h"
#include "machine/workers.h"
#include "tensor/any_view.h"

namespace ingot {

// The axis along which an operand's numbers are neighbours in memory.
enum class PackedAxis : std::uint8_t { width, depth, neither };  // neither: f32 only

// A matrix by its width (the axis that stays: rows of the left operand, columns of the right) and its depth (the axis
// summed over). Strides are in bytes; along a block format's packed axis the stride is not used.
struct GemmOperand {
  const std::byte* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t width_stride = 0;
  std::int64_t depth_stride = 0;
  PackedAxis packed = PackedAxis::neither;
};

// An operand from a view: which of the view's axes is its width, and which its depth. Block formats are packed along
// their last axis.
GemmOperand gemm_operand(const ConstAnyView& view, int width_axis, int depth_axis);

enum class GemmStart : std::uint8_t {
  fresh,       // out = product + bias
  accumulate,  // out += product
};

struct Gemm {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  GemmOperand left;
  GemmOperand right;
  float* out = nullptr;  // rows of `columns` neighbours, `out_stride` floats apart
  std::int64_t out_stride = 0;
  const float* bias = nullptr;  // one a column, or null
  GemmStart start = GemmStart::fresh;
  CodedX coded = {};  // the left operand where it is codes, which only products with block formats take
};

// Cache blocks. A tile's rows (256 deep, 12 at most) are 12 KiB: they stay in a first-level cache of 32 KiB or more
// while panels of columns stream by from the second level, where a task's share of them stays (its size is the
// target's: see gemm_simd.cc). The packed whole is at most 4.5 MiB, in the last-level cache. 256 divides by every block
// format.
inline constexpr std::int64_t gemm_depth_block = 256;
inline constexpr std::int64_t gemm_column_block = 4608;
inline constexpr std::int64_t gemm_most_packed_columns = 768;  // in one call
// Columns of the packed right operand that fill half of this machine's second-level cache.
std::int64_t gemm_columns_in_cache();

std::size_t gemm_scratch_bytes(std::int64_t columns, std::int64_t depth);

// Preconditions: out shares no memory with the operands; scratch has gemm_scratch_bytes(...) and is aligned to 64
// bytes.
using GemmFunction = void (*)(const Gemm& gemm, Workers& workers, std::byte* scratch);
extern const PerTarget<GemmFunction> gemm_threaded;
// On the calling thread alone; the same bits.
using SerialGemmFunction = void (*)(const Gemm& gemm, std::byte* scratch);
extern const PerTarget<SerialGemmFunction> gemm_serial;

// Few rows, in two parts, so that products that share x share the first: x is encoded once, then any thread multiplies
// any columns. Packing weights would cost more than the product: they are read once, where they lie.
// Preconditions: rows <= dot_rows (float_dot_rows where the weights are no block format; above it packing pays), left
// f32, both operands packed along the depth; columns from begin to end, of any chunk, after encode.
inline constexpr std::int64_t dot_rows = 4;
inline constexpr std::int64_t float_dot_rows = 16;
struct DotProduct {
  void (*encode)(const Gemm& gemm, std::byte* coded) = nullptr;  // null: x is read as it is
  void (*columns)(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) = nullptr;
  std::int64_t chunk_bytes = 64 << 10;  // of weights: the most that is handed to a thread where there are many
};
// Weights that are not a block format. `coded` has rounded_scratch_bytes(...) (matmul_run.h): activations are rounded
// where the weights are bf16 or f16, else nothing is encoded.
extern const PerTarget<const DotProduct*> gemm_dot;
// bf16 weights and at most dot_rows rows, by instructions for pairs of bf16 numbers; null on other architectures.
// `coded` has rounded_scratch_bytes of a depth rounded up to 8.
extern const DotProduct* const gemm_dot_neon_bf16;
// f16 weights, by instructions that sum products of halves in f32; null on other architectures. `coded` has
// halves_scratch_bytes(...).
std::size_t halves_scratch_bytes(std::int64_t rows, std::int64_t depth);
extern const DotProduct* const gemm_dot_neon_fp16;
// A row of activations as it meets weights of type bf16 or f16 (matmul.h), in f32.
using RoundFunction = void (*)(DType weight_type, const float* x, float* rounded, std::int64_t count);
extern const PerTarget<RoundFunction> round_activations;
// The largest magnitude of those that are finite.
using MagnitudeFunction = float (*)(const float* x, std::int64_t count);
extern const PerTarget<MagnitudeFunction> largest_finite;
// Block formats, with activations as 8-bit codes and integer sums in each group of weights. `coded` has
// codes_scratch_bytes(...).
std::size_t codes_scratch_bytes(std::int64_t rows, std::int64_t depth);
extern const PerTarget<const DotProduct*> gemm_codes;
// The same by byte dot products; null on other architectures. `coded` has coded_span_bytes(...) (coded_spans.h).
extern const DotProduct* const gemm_codes_avx512_vnni;
extern const DotProduct* const gemm_codes_neon_dotprod;
// For up to paired_rows rows, in blocks of 32; `coded` has coded_span_bytes of an even number of rows. With more rows
// panels are faster.
inline constexpr std::int64_t paired_rows = 24;
extern const DotProduct* const gemm_codes_neon_i8mm;

// How many columns a thread takes at once: a multiple of 24, and so of as many as any product multiplies together.
inline constexpr std::int64_t dot_granule = 24;
std::int64_t dot_chunk_columns(const DotProduct& product, const Gemm& gemm);
// Both parts, on all threads.
void run_dot(const DotProduct& product, const Gemm& gemm, Workers& workers, std::byte* scratch);

// The codes of neighbouring blocks of weights, one after the other.
using UnpackFunction = void (*)(DType dtype, const std::byte* blocks, std::int64_t count, std::int8_t* codes);
extern const PerTarget<UnpackFunction> unpack_block_codes;

}  // namespace ingot
