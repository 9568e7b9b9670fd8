// Template: an architecture, bound to one model's numbers. It emits unfused contracts only; what is faster is a plan's
// business.
//
// An architecture is one file of this folder: how its numbers are read from metadata, how a Hugging Face checkpoint of
// it is translated, and the list of operations of a pass. architectures.cc lists them.
#pragma once

#include <memory>

#include "kernels/position/rotation.h"
#include "model/circuit/builder.h"
#include "model/files/model_file.h"

namespace ingot {

// How the vectors of a text's tokens become the text's, numbered as GGUF numbers it.
enum class Pooling : std::uint8_t {
  none = 0,  // they do not: each token keeps its own
  mean = 1,
  first = 2,  // the vector of the first token, [CLS]
  last = 3,
};

// What sessions and tools must know beside the circuit.
struct ModelFacts {
  std::string architecture;
  std::int64_t vocabulary = 0;
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t context = 0;         // tokens it was trained for
  std::int64_t scaled_context = 0;  // that the scaling of its rotation reaches; no fewer than those
  bool has_position_table = false;  // of `context` rows: later tokens have no position
  bool is_recurrent = false;        // keeps a state that cannot be rolled back
  bool makes_embeddings = false;    // the output is a vector a token and not logits
  bool sees_the_future = false;     // a token sees all of its text, which is therefore read in one pass and not kept
  Pooling pooling = Pooling::none;  // of a model that makes embeddings
};

class Template {
 public:
  virtual ~Template() = default;
  virtual const ModelFacts& facts() const = 0;
  // Inputs and outputs by the names of pass_inputs.h.
  virtual void emit(CircuitBuilder& builder) const = 0;
};

// A model's numbers and weights in GGUF's names, whatever file they came from.
struct ModelSource {
  Metadata metadata;
  Weights weights;
};

struct CheckpointNames;  // model/template/translation.h

struct ModelArchitecture {
  std::string_view name;                          // general.architecture
  std::span<const std::string_view> model_types;  // what config.json calls it
  Result<std::unique_ptr<Template>> (*create)(const ModelSource& source);
  // Translates a checkpoint: config.json's numbers (flattened) into GGUF's keys, tensors into GGUF's names and meaning.
  Result<void> (*translate)(const ModelFile& file, ModelSource& source);
  // Where a head's rotated pairs lie in its GGUF files. Most checkpoints have them in halves, so an architecture whose
  // files have neighbours gets the rows of its queries and keys in another order when it is written.
  PairStyle pairs_in_gguf = PairStyle::half_split;
  // What tensors are called in a checkpoint: so an adapter made beside one names matrices. Null: such adapters are
  // refused.
  CheckpointNames (*names)() = nullptr;
  PairStyle pairs_in_checkpoints = PairStyle::half_split;
  // Of checkpoints that multiply what a weight yields by numbers beside it, which were put into the weight when it was
  // translated: one for all its rows, or one for each. `metadata`: as translated. Null: they multiply nothing.
  Result<std::vector<double>> (*row_factors)(const ModelFile& file, const Metadata& metadata,
                                             std::string_view weight) = nullptr;
};

std::span<const ModelArchitecture* const> all_architectures();
// An error that names those there are, where none has this name.
Result<const ModelArchitecture*> find_architecture(std::string_view name);

// Refuses weights that the template never reads: a model with something more is another model, and would answer wrongly
// without a word.
Result<void> require_all_read(const Template& form, const ModelSource& source);

// The file's numbers and weights, translated where they need to be. The file must outlive the result.
Result<ModelSource> read_source(const ModelFile& file);
Result<std::unique_ptr<Template>> create_template(const ModelSource& source);

}  // namespace ingot
