// Quantizer: a model file or a Hugging Face folder, rewritten as a GGUF file
// whose tensors have other formats. One tensor at a time passes through memory.
//
//   Quantizer quantizer = TRY(Quantizer::open("folder", {.mix =
//   TRY(find_type_mix("Q4_K_M"))})); for (const PlannedTensor& tensor :
//   quantizer.tensors()) ...   // what would be done
//   TRY(quantizer.write("model.gguf", {.threads = 8}));
#pragma once

#include <functional>
#include <optional>

#include "convert/tensor_converter.h"
#include "convert/type_mix.h"
#include "engine/model.h"

namespace ingot {

struct QuantizeOptions {
  const TypeMix* mix = nullptr;  // null: as the numbers are stored; of a folder, as most of its numbers are
  MixRules rules = MixRules::usual;
};

struct PlannedTensor {
  std::string name;
  Shape shape;
  Conversion conversion;
  bool falls_back = false;  // its rows do not divide into the blocks of the
                            // format that it should have

  DType from() const { return conversion.source.dtype(); }
  DType to() const { return conversion.target; }
  std::uint64_t bytes_before() const;
  std::uint64_t bytes_after() const;
};

struct QuantizeProgress {
  int threads = 1;
  // Called after each tensor with the root mean square of its error, relative
  // to that of its numbers.
  std::function<void(const PlannedTensor& tensor, double relative_error)> done = {};
};

class Quantizer {
 public:
  static Result<Quantizer> open(const std::string& input, const QuantizeOptions& options);
  // Of a model in memory, which must outlive it: its numbers and weights under GGUF's names.
  static Result<Quantizer> of(const Metadata& metadata, const Weights& weights, const QuantizeOptions& options);

  std::span<const PlannedTensor> tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }
  // What the user should know: what is lost, what is left out.
  std::span<const std::string> notes() const { return notes_; }

  // The file appears whole or not at all. What is read cannot be written.
  Result<void> write(const std::string& output, const QuantizeProgress& progress) const;

 private:
  Quantizer() = default;
  Result<void> read_gguf();
  Result<void> read_hugging_face();
  Result<void> read_weights(const Metadata& metadata, const Weights& weights);
  Result<const TypeMix*> stored_mix() const;
  Result<void> choose(const QuantizeOptions& options);

  std::string input_;
  std::optional<ModelFile> file_;       // what a GGUF file's tensors view
  std::shared_ptr<const Model> model_;  // what a folder's tensors view
  std::shared_ptr<const std::vector<float>> rope_factors_;
  Metadata metadata_;
  std::vector<PlannedTensor> tensors_;
  std::vector<std::string> notes_;
};

}  // namespace ingot
