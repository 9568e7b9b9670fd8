#include "convert/tensor_converter.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "convert/gguf_conventions.h"
#include "kernels/all_operations.h"
#include "kernels/contract/run.h"
#include "kernels/quantization/quantize.h"
#include "machine/machine.h"
#include "tensor/block_codec.h"

namespace ingot {
namespace {

constexpr std::int64_t batch_elements = std::int64_t{1} << 21;
constexpr std::int64_t measured_elements = 256;  // whole blocks of every format
static_assert(std::all_of(dtype_table.begin(), dtype_table.end(),
                          [](const auto& row) { return measured_elements % row.block_elements == 0; }));

// Rows of a tensor of any rank, wherever they lie.
class SourceRows {
 public:
  explicit SourceRows(const Conversion& conversion)
      : view_(conversion.source), row_(view_.rank() == 0 ? 1 : view_.shape().last()) {
    // Elements of a vector move one by one.
    if (conversion.interleaved_heads > 0 && view_.rank() == 1) row_ = 1;
    count_ = row_ > 0 ? view_.count() / row_ : 0;
    if (conversion.interleaved_heads > 0) rows_per_head_ = count_ / conversion.interleaved_heads;
  }

  std::int64_t count() const { return count_; }
  std::int64_t row() const { return row_; }  // elements
  const std::byte* at(std::int64_t index) const {
    if (rows_per_head_ > 0) index = row_before_interleaving(index, rows_per_head_);
    std::int64_t offset = 0;
    const bool is_by_element = row_ == 1 && view_.rank() == 1;
    for (int axis = view_.rank() - (is_by_element ? 1 : 2); axis >= 0; --axis) {
      offset += index % view_.size(axis) * view_.byte_stride(axis);
      index /= view_.size(axis);
    }
    return view_.data() + offset;
  }

 private:
  ConstAnyView view_;
  std::int64_t row_;
  std::int64_t count_ = 0;
  std::int64_t rows_per_head_ = 0;
};

Result<void> check(const Conversion& conversion) {
  const ConstAnyView& source = conversion.source;
  TRY(check_well_formed(source));
  if (!source.has_contiguous_rows()) {
    return Error::of(ErrorCode::unsupported, "expected rows without gaps, found strides ", source.byte_strides());
  }
  const bool has_numbers = is_floating_point(source.dtype()) || is_block_format(source.dtype());
  const bool takes_numbers = is_floating_point(conversion.target) || is_block_format(conversion.target);
  if (source.dtype() != conversion.target && !(has_numbers && takes_numbers)) {
    return Error::of(ErrorCode::unsupported, "expected a format for numbers, found ", source.dtype(), " to become ",
                     conversion.target);
  }
  if (source.dtype() != conversion.target && is_block_format(conversion.target) && !has_encoder(conversion.target)) {
    return Error::of(ErrorCode::unsupported, "expected a format that has an encoder, found ", conversion.target);
  }
  const SourceRows rows(conversion);
  if (rows.row() % block_elements(conversion.target) != 0 || rows.row() % block_elements(source.dtype()) != 0) {
    return Error::of(ErrorCode::invalid_argument, "expected rows of whole blocks of ", conversion.target, ", found ",
                     source.shape());
  }
  const std::int64_t heads = conversion.interleaved_heads;
  if (heads > 0 && rows.count() % (2 * heads) != 0) {
    return Error::of(ErrorCode::corrupt, "expected ", heads, " heads with an even number of rows, found ", rows.count(),
                     " rows");
  }
  return {};
}

}  // namespace

struct TensorConverter::Batch {
  const Conversion& conversion;
  const SourceRows& rows;
  std::int64_t begin;
  std::int64_t count;

  std::int64_t chunk() const { return rows_per_chunk(rows.row() * static_cast<std::int64_t>(sizeof(float))); }
  std::int64_t target_row_bytes() const { return row_bytes(conversion.target, rows.row()); }
};

Result<TensorConverter> TensorConverter::create(int threads) {
  KernelTable table = TRY(KernelTable::select(all_operations(), Machine::detect().features));
  return TensorConverter(std::move(table), TRY(Workers::create({.threads = threads})));
}

void TensorConverter::decode(const Batch& batch) {
  const std::int64_t row = batch.rows.row();
  workers_->for_chunks(batch.count, batch.chunk(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t index = begin; index < end; ++index) {
      decode_row(batch.conversion.source.dtype(), batch.rows.at(batch.begin + index), values_.data() + index * row,
                 row);
    }
  });
}

Result<void> TensorConverter::encode(const Batch& batch) {
  const std::int64_t row = batch.rows.row();
  const DType target = batch.conversion.target;
  if (is_block_format(target)) {
    Context context{*workers_, {}};
    const Shape shape = {batch.count, row};
    return run<Quantize>(*table_, {View<const float>(values_.data(), shape), AnyView(blocks_.data(), target, shape)},
                         context);
  }
  workers_->for_chunks(batch.count, batch.chunk(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t index = begin; index < end; ++index) {
      encode_row(target, values_.data() + index * row, blocks_.data() + index * batch.target_row_bytes(), row);
    }
  });
  return {};
}

void TensorConverter::measure(const Batch& batch) {
  const std::int64_t row = batch.rows.row();
  const DType target = batch.conversion.target;
  workers_->for_chunks(batch.count, batch.chunk(), [&](std::int64_t begin, std::int64_t end, int) {
    float decoded[measured_elements];
    for (std::int64_t index = begin; index < end; ++index) {
      double error = 0;
      double square = 0;
      for (std::int64_t first = 0; first < row; first += measured_elements) {
        const std::int64_t count = std::min(measured_elements, row - first);
        const float* values = values_.data() + index * row + first;
        const std::byte* blocks = blocks_.data() + index * batch.target_row_bytes() + row_bytes(target, first);
        decode_row(target, blocks, decoded, count);
        for (std::int64_t element = 0; element < count; ++element) {
          const double value = values[element];
          // Plain formats keep infinities as they are; blocks cannot, and
          // the sum below says so.
          if (!std::isfinite(value) && !is_block_format(target)) continue;
          const double difference = value - decoded[element];
          error += difference * difference;
          square += value * value;
        }
      }
      errors_[static_cast<std::size_t>(index)] = error;
      squares_[static_cast<std::size_t>(index)] = square;
    }
  });
}

Result<void> TensorConverter::copy(const Conversion& conversion, const ByteSink& sink) {
  const SourceRows rows(conversion);
  const auto bytes = static_cast<std::size_t>(row_bytes(conversion.source.dtype(), rows.row()));
  if (conversion.interleaved_heads == 0 && conversion.source.is_contiguous()) {
    return sink(std::span(conversion.source.data(), bytes * static_cast<std::size_t>(rows.count())));
  }
  for (std::int64_t index = 0; index < rows.count(); ++index) TRY(sink(std::span(rows.at(index), bytes)));
  return {};
}

Result<double> TensorConverter::convert(const Conversion& conversion, const ByteSink& sink) {
  TRY(check(conversion));
  if (conversion.source.empty()) return 0.0;
  if (conversion.source.dtype() == conversion.target) {
    TRY(copy(conversion, sink));
    return 0.0;
  }
  const SourceRows rows(conversion);
  const std::int64_t most = std::clamp<std::int64_t>(batch_elements / rows.row(), 1, rows.count());
  values_.resize(static_cast<std::size_t>(most * rows.row()));
  blocks_.resize(static_cast<std::size_t>(most * row_bytes(conversion.target, rows.row())));
  errors_.resize(static_cast<std::size_t>(most));
  squares_.resize(static_cast<std::size_t>(most));
  double error = 0;
  double square = 0;
  for (std::int64_t begin = 0; begin < rows.count(); begin += most) {
    const Batch batch{conversion, rows, begin, std::min(most, rows.count() - begin)};
    decode(batch);
    TRY(encode(batch));
    measure(batch);
    for (std::size_t index = 0; index < static_cast<std::size_t>(batch.count); ++index) {
      error += errors_[index];
      square += squares_[index];
    }
    if (!std::isfinite(error)) {
      return Error::of(ErrorCode::out_of_range, "expected numbers that ", conversion.target,
                       " can hold, found some that are too large or no numbers");
    }
    TRY(sink(std::span(blocks_).first(static_cast<std::size_t>(batch.count * batch.target_row_bytes()))));
  }
  return square > 0 ? std::sqrt(error / square) : 0.0;
}

}  // namespace ingot
