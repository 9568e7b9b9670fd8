// Rewrites a tensor in another format, some rows at a time: however large the
// tensor, a few megabytes are held.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/table.h"
#include "machine/workers.h"
#include "model/files/gguf_writer.h"

namespace ingot {

struct Conversion {
  ConstAnyView source;
  DType target = DType::f32;
  std::int64_t interleaved_heads = 0;  // see gguf_conventions.h; 0: rows stay in their order
};

class TensorConverter {
 public:
  static Result<TensorConverter> create(int threads);

  // Hands the rows over, in order. Returns the root mean square of the error,
  // relative to that of the numbers; 0 where nothing changes, whatever the
  // dtype. Fails on numbers that the target cannot hold.
  Result<double> convert(const Conversion& conversion, const ByteSink& sink);

 private:
  struct Batch;
  TensorConverter(KernelTable table, std::unique_ptr<Workers> workers)
      : table_(std::make_unique<KernelTable>(std::move(table))), workers_(std::move(workers)) {}
  Result<void> copy(const Conversion& conversion, const ByteSink& sink);
  Result<void> encode(const Batch& batch);
  void decode(const Batch& batch);
  void measure(const Batch& batch);

  std::unique_ptr<KernelTable> table_;
  std::unique_ptr<Workers> workers_;
  std::vector<float> values_;
  std::vector<std::byte> blocks_;
  std::vector<double> errors_, squares_;  // a sum for each row of a batch
};

}  // namespace ingot
