// What a training run reads: a row of tokens cut into windows, the last of them kept for validation.
//
// A window is `length` inputs and `length` targets, the targets one token further: length + 1 tokens. Within each of
// the two parts windows begin `length` tokens apart, so that the last token of one is the first of the next and every
// token of a part but its first is a target exactly once; what does not fill a window at the end of the training part
// is left out. The two parts share no token.
//
// Training windows come in an order of their own each epoch (BatchOrder). A batch that an epoch cannot fill goes on
// with the next epoch.
#pragma once

#include <cstdint>
#include <span>

#include "train/data/token_stream.h"

namespace ingot {

struct DataOptions {
  std::int64_t length = 256;
  double validation_fraction = 0.01;  // of the windows, at least one; 0: none
  std::uint64_t seed = 0;
};

// Where a run stands in its data: the window that comes next.
struct DataPosition {
  std::uint64_t epoch = 0, index = 0;
  bool operator==(const DataPosition&) const = default;
};

class DataSet {
 public:
  static Result<DataSet> create(TokenStream tokens, const DataOptions& options);

  std::int64_t length() const { return length_; }
  std::uint64_t training_windows() const { return training_windows_; }
  std::uint64_t validation_windows() const { return validation_windows_; }

  // The next `batch` training windows: inputs and targets are [batch, length].
  Result<void> fill(std::int64_t batch, std::span<std::int32_t> inputs, std::span<std::int32_t> targets);
  // The validation windows from `first` on, in the order of the text.
  Result<void> fill_validation(std::uint64_t first, std::int64_t batch, std::span<std::int32_t> inputs,
                               std::span<std::int32_t> targets) const;

  DataPosition position() const { return position_; }
  // The same batches follow as followed when the position was asked for.
  Result<void> seek(DataPosition position);

 private:
  DataSet(TokenStream tokens, const DataOptions& options)
      : tokens_(std::move(tokens)), seed_(options.seed), length_(options.length) {}

  Result<void> check_batch(std::int64_t batch, std::size_t inputs, std::size_t targets) const;
  void copy_window(std::uint64_t begin, std::int64_t row, std::span<std::int32_t> inputs,
                   std::span<std::int32_t> targets) const;

  TokenStream tokens_;
  std::uint64_t seed_;
  std::int64_t length_;
  std::uint64_t training_windows_ = 0, validation_windows_ = 0;
  std::uint64_t validation_begin_ = 0;  // a token
  DataPosition position_;
};

}  // namespace ingot
