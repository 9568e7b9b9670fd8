#include "kernels/linear/fused/fused_products.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "kernels/linear/matmul/matmul_run.h"
#include "kernels/linear/sum_tolerance.h"
#include "kernels/linear/ways/dots/coded_spans.h"
#include "tensor/interleaved.h"

namespace ingot {
namespace {

// Rows of x that a way takes together.
std::int64_t turn_rows(const ColumnProduct& product, const Matmul::Arguments& a) {
  const std::int64_t rows = a.x.size(0);
  return product.rows_together == nullptr ? rows : std::min(rows, product.rows_together(a));
}
// What is prepared for the rows of a turn, and for all of them.
std::size_t turn_bytes(const ColumnProduct& product, const Matmul::Arguments& a) {
  return align_up(product.prepared_bytes(rows_of(a, 0, turn_rows(product, a))), 64);
}
std::size_t prepared_bytes(const ColumnProduct& product, const Matmul::Arguments& a) {
  const std::int64_t rows = a.x.size(0), together = turn_rows(product, a);
  if (rows == together) return product.prepared_bytes(a);
  return static_cast<std::size_t>(divide_rounding_up(rows, together)) * turn_bytes(product, a);
}

// task(the turn's arguments, its place), turn by turn.
template <class Byte, class Task>
void in_turns(const ColumnProduct& product, const Matmul::Arguments& a, Byte* prepared, Task&& task) {
  const std::int64_t rows = a.x.size(0), together = turn_rows(product, a);
  if (rows == together) return task(a, prepared);
  const std::size_t bytes = turn_bytes(product, a);
  for (std::int64_t row = 0; row < rows; row += together, prepared += bytes) {
    task(rows_of(a, row, std::min(row + together, rows)), prepared);
  }
}
void multiply(const ColumnProduct& product, const Matmul::Arguments& columns, const std::byte* prepared,
              std::byte* workspace) {
  in_turns(product, columns, prepared, [&](const Matmul::Arguments& some, const std::byte* of_them) {
    product.multiply(some, of_them, workspace);
  });
}

// Scratch: x prepared for each part | a workspace a thread | a chunk of the second factor a thread
class FusedScratch {
 public:
  FusedScratch(const ColumnProduct& product, const FusedProducts& products, std::byte* place = nullptr)
      : place_(place) {
    chunk = product.chunk_columns(products.parts[0]);
    if (products.has_factor()) {
      factor_ = aligned(static_cast<std::size_t>(products.parts[0].x.size(0) * chunk) * sizeof(float));
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(products.count); ++i) {
      const auto& part = products.parts[i];
      if (product.workspace_bytes != nullptr) {
        workspace_ = std::max(workspace_, aligned(product.workspace_bytes(part)));
      }
      // A type that came before is prepared already.
      std::size_t same = 0;
      while (products.parts[same].weights.dtype() != part.weights.dtype()) ++same;
      starts_[i] = same < i ? starts_[same] : shared_;
      if (same == i) shared_ += aligned(prepared_bytes(product, part));
      is_first_[i] = same == i;
    }
  }

  std::size_t bytes(int threads) const { return shared_ + static_cast<std::size_t>(threads) * (workspace_ + factor_); }
  bool is_first_of_type(int part) const { return is_first_[static_cast<std::size_t>(part)]; }
  std::byte* prepared(int part) const { return place_ + starts_[static_cast<std::size_t>(part)]; }
  std::byte* workspace(int worker) const {
    return place_ + shared_ + static_cast<std::size_t>(worker) * (workspace_ + factor_);
  }
  float* factor(int worker) const { return reinterpret_cast<float*>(workspace(worker) + workspace_); }

  std::int64_t chunk = 0;  // columns

 private:
  static std::size_t aligned(std::size_t bytes) { return align_up(bytes, 64); }

  std::byte* place_;
  std::size_t workspace_ = 0;
  std::size_t factor_ = 0;
  std::size_t shared_ = 0;
  std::array<std::size_t, 3> starts_ = {};
  std::array<bool, 3> is_first_ = {};
};

// Chunks of one part after those of another, in one fork-join; of a part, chunks of rows with the same columns after
// each other.
void run_apart(const ColumnProduct& product, const FusedProducts& products, const FusedScratch& scratch,
               Workers& workers) {
  const std::int64_t rows = products.parts[0].x.size(0);
  const std::int64_t chunk_rows = product.chunk_rows == 0 ? rows : product.chunk_rows;
  const std::int64_t row_chunks = divide_rounding_up(rows, chunk_rows);
  std::array<std::int64_t, 4> first = {};  // chunk of each part
  std::array<std::int64_t, 3> chunk = {};
  for (std::size_t i = 0; i < static_cast<std::size_t>(products.count); ++i) {
    chunk[i] = product.chunk_columns(products.parts[i]);
    first[i + 1] = first[i] + row_chunks * divide_rounding_up(products.parts[i].y.size(1), chunk[i]);
  }
  workers.for_chunks(first[static_cast<std::size_t>(products.count)], 1,
                     [&](std::int64_t index, std::int64_t, int worker) {
                       std::size_t part = 0;
                       while (index >= first[part + 1]) ++part;
                       const Matmul::Arguments& all = products.parts[part];
                       const std::int64_t begin = (index - first[part]) / row_chunks * chunk[part];
                       Matmul::Arguments some = columns_of(all, begin, std::min(begin + chunk[part], all.y.size(1)));
                       const std::byte* prepared = scratch.prepared(static_cast<int>(part));
                       if (row_chunks > 1) {
                         const std::int64_t row = (index - first[part]) % row_chunks * chunk_rows;
                         some = rows_of(some, row, std::min(row + chunk_rows, rows));
                         prepared += product.prepared_offset(all, row);
                       }
                       multiply(product, some, prepared, scratch.workspace(worker));
                     });
}

// y = f(y) up, or f(y), over all of y.
void finish(const Epilogue& epilogue, const FusedProducts& products, const View<float>& y, const View<float>& up) {
  for (std::int64_t row = 0; row < y.size(0); ++row) {
    float* out = y.data() + row * y.stride(0);
    if (products.has_factor()) {
      epilogue.gate(*products.curve, out, up.data() + row * up.stride(0), y.size(1));
    } else {
      epilogue.apply(*products.curve, out, y.size(1));
    }
  }
}

void run_ended(const ColumnProduct& product, const FusedProducts& products, const FusedScratch& scratch,
               Workers& workers) {
  const Epilogue& epilogue = *epilogues.widest(product.target);
  workers.for_chunks(products.parts[0].y.size(1), scratch.chunk, [&](std::int64_t begin, std::int64_t end, int worker) {
    const Matmul::Arguments main = columns_of(products.parts[0], begin, end);
    multiply(product, main, scratch.prepared(0), scratch.workspace(worker));
    const View<float> up(scratch.factor(worker), {main.y.size(0), end - begin});
    if (products.has_factor()) {
      Matmul::Arguments factor = columns_of(products.parts[1], begin, end);
      factor.y = up;
      multiply(product, factor, scratch.prepared(1), scratch.workspace(worker));
    }
    finish(epilogue, products, main.y, up);
  });
}

}  // namespace

Result<void> require_fused_weights(std::string_view operation, std::string_view number, std::string_view field,
                                   const ProductInput& input, const ConstAnyView& weights) {
  TRY(require_rank(operation, number, field, weights, 2));
  TRY(require_weights(operation, number, weights, {weights.size(0), input.shape()[1]}));
  return require_any_layout(operation, number, field, input.layout, weights);
}

Result<void> require_curve(std::string_view operation, std::string_view number, FusedCurve curve) {
  if (static_cast<int>(curve) < fused_curve_count) return {};
  return violated(operation, number, "expected a curve from 0 to ", fused_curve_count - 1, ", found ",
                  static_cast<int>(curve));
}

Cost fused_cost(const FusedProducts& products) {
  Cost cost{.bytes_read = stored_bytes_of(products.parts[0])};
  for (int i = 0; i < products.count; ++i) {
    const Matmul::Arguments& part = products.parts[static_cast<std::size_t>(i)];
    const Cost one = Matmul::cost(part);
    cost.operations += one.operations;
    cost.bytes_read += one.bytes_read - stored_bytes_of(part);
    if (!products.curve.has_value() || i == 0) cost.bytes_written += one.bytes_written;
  }
  if (products.curve.has_value()) {
    const auto count = static_cast<double>(products.parts[0].y.count());
    cost.operations += count * (curve_operations(*products.curve) + (products.has_factor() ? 1 : 0));
  }
  return cost;
}

// With sums of size S, of which roundings take E epsilons each: f(g) u is off by slope E S_g |u| + |f(g)| E S_u, where
// |u| and |f(g)| are seldom beyond S_u and S_g.
Tolerance fused_tolerance(const FusedProducts& products) {
  Tolerance tolerance{.reason = "roundings of float sums (sum_tolerance.h), carried through the curve and the gate"};
  double product_of_sizes = 1;
  double largest_size = 0;
  for (int i = 0; i < products.count; ++i) {
    const Matmul::Arguments& part = products.parts[static_cast<std::size_t>(i)];
    const Tolerance one = Matmul::tolerance(part);
    tolerance.epsilons = std::max(tolerance.epsilons, one.epsilons);
    const double size = one.least_scale + (is_present(part.bias) ? largest_magnitude(part.bias) : 0);
    product_of_sizes *= size;
    largest_size = std::max(largest_size, size);
  }
  tolerance.least_scale = largest_size;
  if (!products.curve.has_value()) return tolerance;
  const Tolerance curve = curve_tolerance(*products.curve);
  tolerance.epsilons *= largest_curve_slope;
  if (products.has_factor()) {
    tolerance.epsilons *= 2;
    tolerance.least_scale = product_of_sizes;
  }
  tolerance.epsilons += curve.epsilons + 1;
  tolerance.least_scale = std::max(tolerance.least_scale, curve.least_scale * std::max(1.0, largest_size));
  return tolerance;
}

void run_fused_reference(const FusedProducts& products, Context& context) {
  std::vector<float> factor;
  FusedProducts apart = products;
  const Matmul::Arguments& main = products.parts[0];
  if (products.has_factor()) {
    factor.resize(static_cast<std::size_t>(main.y.count()));
    apart.parts[1].y = View<float>(factor.data(), main.y.shape());
  }
  for (int i = 0; i < products.count; ++i) matmul_reference(apart.parts[static_cast<std::size_t>(i)], context);
  if (!products.curve.has_value()) return;
  for (std::int64_t m = 0; m < main.y.size(0); ++m) {
    for (std::int64_t n = 0; n < main.y.size(1); ++n) {
      const double curve = curve_value(*products.curve, double{main.y(m, n)});
      main.y(m, n) = static_cast<float>(products.has_factor() ? curve * double{apart.parts[1].y(m, n)} : curve);
    }
  }
}

// Planes are for devices.
bool can_run_fused(const ColumnProduct& product, const FusedProducts& products) {
  return products.parts[0].layout != WeightLayout::planes16 &&
         std::all_of(products.parts.begin(), products.parts.begin() + products.count, product.accepts);
}

bool can_run_fused_alone(const ColumnProduct& product, const FusedProducts& products) {
  return product.accepts_alone != nullptr && products.parts[0].layout != WeightLayout::planes16 &&
         std::all_of(products.parts.begin(), products.parts.begin() + products.count, product.accepts_alone);
}

std::size_t fused_scratch_bytes(const ColumnProduct& product, const FusedProducts& products, int threads) {
  return FusedScratch(product, products).bytes(threads);
}

void run_fused(const ColumnProduct& product, const FusedProducts& products, Context& context) {
  if (products.parts[0].x.size(0) == 0) return;
  const FusedScratch scratch(product, products, context.scratch.data());
  for (int i = 0; i < products.count; ++i) {
    if (!scratch.is_first_of_type(i)) continue;
    in_turns(product, products.parts[static_cast<std::size_t>(i)], scratch.prepared(i),
             [&](const Matmul::Arguments& some, std::byte* place) { product.prepare(some, context.workers, place); });
  }
  if (products.curve.has_value()) {
    run_ended(product, products, scratch, context.workers);
  } else {
    run_apart(product, products, scratch, context.workers);
  }
}

namespace {

// The second factor comes first in the scratch.
std::size_t factor_bytes(const FusedProducts& products) {
  if (!products.has_factor()) return 0;
  return align_up(static_cast<std::size_t>(products.parts[0].y.count()) * sizeof(float), 64);
}

}  // namespace

std::size_t composed_scratch_bytes(const FusedProducts& products) {
  std::size_t bytes = 0;
  for (int i = 0; i < products.count; ++i) {
    const Matmul::Arguments& part = products.parts[static_cast<std::size_t>(i)];
    const std::int64_t rows = part.x.size(0);
    const std::int64_t depth = part.x.size(1);
    bytes = std::max({bytes, codes_scratch_bytes(std::min(rows, dot_rows), depth),
                      packed_scratch_bytes(rows, part.weights.size(0), depth, part.weights.dtype())});
  }
  return factor_bytes(products) + bytes;
}

template <SimdTarget target>
void run_composed(const FusedProducts& products, Context& context) {
  FusedProducts apart = products;
  const View<float>& y = products.parts[0].y;
  if (products.has_factor()) {
    apart.parts[1].y = View<float>(reinterpret_cast<float*>(context.scratch.data()), y.shape());
  }
  Context rest{context.workers, context.scratch.subspan(factor_bytes(products))};
  for (int i = 0; i < products.count; ++i) {
    const Matmul::Arguments& part = apart.parts[static_cast<std::size_t>(i)];
    (has_few_rows(part) ? matmul_dot<target> : matmul_threaded<target>)(part, rest);
  }
  if (!products.curve.has_value() || y.empty()) return;
  const std::int64_t chunk = rows_per_chunk(y.size(1) * static_cast<std::int64_t>(sizeof(float)));
  context.workers.for_chunks(y.size(0), chunk, [&](std::int64_t begin, std::int64_t end, int) {
    auto rows_of = [&](const View<float>& all) {
      if (!is_present(all)) return all;
      return View<float>(all.data() + begin * all.stride(0), {end - begin, all.size(1)}, all.strides());
    };
    finish(*epilogues.widest(target), products, rows_of(y), rows_of(apart.parts[1].y));
  });
}

template void run_composed<SimdTarget::avx512>(const FusedProducts& products, Context& context);
template void run_composed<SimdTarget::avx2>(const FusedProducts& products, Context& context);
template void run_composed<SimdTarget::sse4>(const FusedProducts& products, Context& context);
template void run_composed<SimdTarget::neon>(const FusedProducts& products, Context& context);

}  // namespace ingot
