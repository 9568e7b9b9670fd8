#include "train/data/data_set.h"

#include "base/units.h"
#include "train/data/batch_order.h"

namespace ingot {

Result<DataSet> DataSet::create(TokenStream tokens, const DataOptions& options) {
  constexpr std::int64_t longest = std::int64_t{1} << 30;
  if (options.length < 1 || options.length > longest) {
    return Error::of(ErrorCode::invalid_argument, "length: expected 1 to ", longest, " tokens, found ", options.length);
  }
  // Also false for NaN.
  if (!(options.validation_fraction >= 0 && options.validation_fraction < 1)) {
    return Error::of(ErrorCode::invalid_argument,
                     "validation_fraction: expected a number from 0 to less than 1, found ",
                     options.validation_fraction >= 1 ? "1 or more" : "a negative number or none");
  }
  const auto length = static_cast<std::uint64_t>(options.length);
  Windows windows =
      options.document_end
          ? TRY(Windows::from_documents(tokens, *options.document_end, length, options.validation_fraction))
          : TRY(Windows::evenly(tokens.size(), length, options.validation_fraction));
  return DataSet(std::move(tokens), std::move(windows), options);
}

Result<void> DataSet::check_batch(std::int64_t batch, std::size_t inputs, std::size_t targets) const {
  if (batch < 1) return Error::of(ErrorCode::invalid_argument, "batch: expected at least 1, found ", batch);
  const auto expected = static_cast<std::uint64_t>(TRY(checked_multiply(batch, length_)));
  if (inputs != expected || targets != expected) {
    return Error::of(ErrorCode::invalid_argument, "batch: expected inputs and targets of ", batch, " x ", length_,
                     " tokens, found ", inputs, " and ", targets);
  }
  return {};
}

void DataSet::copy_window(std::uint64_t begin, std::int64_t row, std::span<std::int32_t> inputs,
                          std::span<std::int32_t> targets) const {
  const auto length = static_cast<std::size_t>(length_);
  const auto offset = static_cast<std::size_t>(row) * length;
  tokens_.copy(begin, inputs.subspan(offset, length));
  tokens_.copy(begin + 1, targets.subspan(offset, length));
}

Result<void> DataSet::fill(std::int64_t batch, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) {
  TRY(check_batch(batch, inputs.size(), targets.size()));
  BatchOrder order(seed_, position_.epoch, training_windows());
  for (std::int64_t row = 0; row < batch; ++row) {
    if (position_.index == training_windows()) {
      position_ = {position_.epoch + 1, 0};
      order = BatchOrder(seed_, position_.epoch, training_windows());
    }
    copy_window(windows_.training_begin(order[position_.index++]), row, inputs, targets);
  }
  return {};
}

Result<void> DataSet::fill_validation(std::uint64_t first, std::int64_t batch, std::span<std::int32_t> inputs,
                                      std::span<std::int32_t> targets) const {
  TRY(check_batch(batch, inputs.size(), targets.size()));
  const auto count = static_cast<std::uint64_t>(batch);
  if (count > validation_windows() || first > validation_windows() - count) {
    return Error::of(ErrorCode::out_of_range, "validation: expected windows below ", validation_windows(), ", found ",
                     count, " from ", first, " on");
  }
  for (std::int64_t row = 0; row < batch; ++row) {
    copy_window(windows_.validation_begin(first + static_cast<std::uint64_t>(row)), row, inputs, targets);
  }
  return {};
}

Result<void> DataSet::seek(DataPosition position) {
  if (position.index > training_windows()) {
    return Error::of(ErrorCode::out_of_range, "data position: expected an index of at most ", training_windows(),
                     " windows, found ", position.index, "; the data or the length is another");
  }
  position_ = position;
  return {};
}

}  // namespace ingot
