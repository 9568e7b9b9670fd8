#include "train/data/data_set.h"

#include <algorithm>

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
  DataSet set(std::move(tokens), options);
  const auto length = static_cast<std::uint64_t>(options.length);
  const std::uint64_t size = set.tokens_.size();
  const bool validates = options.validation_fraction > 0;
  const std::uint64_t least = (validates ? 2 : 1) * (length + 1);
  if (size < least) {
    return Error::of(ErrorCode::invalid_argument, "training data: expected at least ", least, " tokens (",
                     validates ? "a window for training and one for validation" : "one window", " of length ", length,
                     " and one more), found ", size);
  }
  std::uint64_t training_size = size;
  if (validates) {
    // As many as still leave one for training, which takes a token more than `length` of its own.
    const std::uint64_t most = (size - (length + 1) - 1) / length;
    const auto wanted =
        static_cast<std::uint64_t>(options.validation_fraction * static_cast<double>((size - 1) / length));
    set.validation_windows_ = std::clamp<std::uint64_t>(wanted, 1, most);
    training_size = size - (set.validation_windows_ * length + 1);
  }
  set.validation_begin_ = training_size;
  set.training_windows_ = (training_size - 1) / length;
  return set;
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
  BatchOrder order(seed_, position_.epoch, training_windows_);
  for (std::int64_t row = 0; row < batch; ++row) {
    if (position_.index == training_windows_) {
      position_ = {position_.epoch + 1, 0};
      order = BatchOrder(seed_, position_.epoch, training_windows_);
    }
    copy_window(order[position_.index++] * static_cast<std::uint64_t>(length_), row, inputs, targets);
  }
  return {};
}

Result<void> DataSet::fill_validation(std::uint64_t first, std::int64_t batch, std::span<std::int32_t> inputs,
                                      std::span<std::int32_t> targets) const {
  TRY(check_batch(batch, inputs.size(), targets.size()));
  const auto count = static_cast<std::uint64_t>(batch);
  if (count > validation_windows_ || first > validation_windows_ - count) {
    return Error::of(ErrorCode::out_of_range, "validation: expected windows below ", validation_windows_, ", found ",
                     count, " from ", first, " on");
  }
  for (std::int64_t row = 0; row < batch; ++row) {
    const std::uint64_t window = first + static_cast<std::uint64_t>(row);
    copy_window(validation_begin_ + window * static_cast<std::uint64_t>(length_), row, inputs, targets);
  }
  return {};
}

Result<void> DataSet::seek(DataPosition position) {
  if (position.index > training_windows_) {
    return Error::of(ErrorCode::out_of_range, "data position: expected an index of at most ", training_windows_,
                     " windows, found ", position.index, "; the data or the length is another");
  }
  position_ = position;
  return {};
}

}  // namespace ingot
