// What a training run reads: a row of tokens cut into windows, the last of them kept for validation.
//
// A window is `length` inputs and `length` targets, the targets one token further: length + 1 tokens. Where windows
// begin is the Windows' business (windows.h). The two parts share no token.
//
// Training windows come in an order of their own each epoch (BatchOrder). A batch that an epoch cannot fill goes on
// with the next epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "train/data/token_stream.h"
#include "train/data/windows.h"

namespace ingot {

struct DataOptions {
  std::int64_t length = 256;
  double validation_fraction = 0.01;  // of the windows, at least one; 0: none
  std::uint64_t seed = 0;
  // Windows begin with this token, which ends documents; none: they follow each other evenly.
  std::optional<TokenId> document_end = {};
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
  std::uint64_t hash() const { return tokens_.hash(); }  // of the data alone, however it is cut
  std::uint64_t training_windows() const { return windows_.training(); }
  std::uint64_t validation_windows() const { return windows_.validation(); }

  // The next `batch` training windows: inputs and targets are [batch, length].
  Result<void> fill(std::int64_t batch, std::span<std::int32_t> inputs, std::span<std::int32_t> targets);
  // The validation windows from `first` on, in the order of the text.
  Result<void> fill_validation(std::uint64_t first, std::int64_t batch, std::span<std::int32_t> inputs,
                               std::span<std::int32_t> targets) const;

  DataPosition position() const { return position_; }
  // The same batches follow as followed when the position was asked for.
  Result<void> seek(DataPosition position);

 private:
  DataSet(TokenStream tokens, Windows windows, const DataOptions& options)
      : tokens_(std::move(tokens)), windows_(std::move(windows)), seed_(options.seed), length_(options.length) {}

  Result<void> check_batch(std::int64_t batch, std::size_t inputs, std::size_t targets) const;
  void copy_window(std::uint64_t begin, std::int64_t row, std::span<std::int32_t> inputs,
                   std::span<std::int32_t> targets) const;

  TokenStream tokens_;
  Windows windows_;
  std::uint64_t seed_;
  std::int64_t length_;
  DataPosition position_;
};

}  // namespace ingot
