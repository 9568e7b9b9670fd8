// CircuitBuilder: how a template writes down a pass. Every tensor is named, every operation is called by name with its
// fields by name, and every mistake (a missing weight, a wrong shape, an unknown field) is kept and returned by
// finish(), so that templates read as lists of operations.
#pragma once

#include <initializer_list>
#include <optional>

#include "model/circuit/circuit.h"
#include "model/circuit/weights.h"

namespace ingot {

// What one pass computes: runs of new tokens, one for each sequence that takes part, and which tokens' outputs are
// wanted. Runs lie one behind the other in every activation.
struct PassShape {
  std::vector<std::int64_t> runs;
  std::int64_t outputs = 1;
  std::vector<float> adapters = {};  // how much each counts, for whoever rewrites the circuit; templates have none

  std::int64_t tokens() const;
  bool operator==(const PassShape&) const = default;
};

// Sequences that a session keeps from pass to pass.
struct KeptSequences {
  std::int64_t longest = 0;  // tokens that one may come to have
};

struct NamedOperand {
  std::string_view field;
  Operand operand;
};

struct NamedAttribute {
  std::string_view field;
  AttributeValue value;
};

// What sequences bring into a pass and take out of it.
struct StateOperands {
  Operand initial;  // absent in a pass without memory: its sequences begin with it
  Operand final;
};

// Weights that come into being because a template asks for them: how a model that has learnt nothing is made.
class MissingWeights {
 public:
  virtual ~MissingWeights() = default;
  // Whether a weight that a template can do without shall be there.
  virtual bool includes(std::string_view name) const = 0;
  // Adds it to the weights that the builder reads.
  virtual Result<void> add(std::string_view name, const Shape& shape) = 0;
};

class CircuitBuilder {
 public:
  // A pass that continues sequences: recurrent states are kept. Attention is written down as if sequences began with
  // the pass; keys and values are a plan's business (model/plan/cache_lowering.h).
  CircuitBuilder(const Weights& weights, PassShape pass, KeptSequences kept)
      : weights_(weights), pass_(std::move(pass)), kept_(kept) {}
  // A pass without memory: every run is a whole sequence, as in training.
  CircuitBuilder(const Weights& weights, PassShape pass) : weights_(weights), pass_(std::move(pass)) {}

  // Must outlive the builder.
  void supply(MissingWeights& missing) { missing_ = &missing; }

  bool remembers() const { return kept_.has_value(); }
  // The pass's result is what the head would score, and no scores.
  void yield_vectors() { yields_vectors_ = true; }
  bool yields_vectors() const { return yields_vectors_; }

  const PassShape& pass() const { return pass_; }
  std::int64_t tokens() const { return pass_.tokens(); }
  // Tokens that a sequence may come to have: its run in a pass without memory.
  std::int64_t longest_sequence() const;

  // Layers give their tensors a prefix: within layer 3, activation("attn_q") is "blk.3.attn_q".
  void begin_layer(int layer) { layer_ = layer; }
  void end_layers() { layer_ = -1; }

  // Weights are looked up under the prefix too. A missing one, or one of another shape, is a mistake.
  Operand weight(std::string_view name, const Shape& shape);
  Operand optional_weight(std::string_view name, const Shape& shape);
  bool has_weight(std::string_view name) const;
  // A weight that no layer owns, under its own name wherever the builder is.
  Operand shared_weight(std::string_view name, const Shape& shape);
  Operand input(std::string_view name, DType dtype, const Shape& shape);
  Operand activation(std::string_view name, const Shape& shape, DType dtype = DType::f32);
  Operand output(std::string_view name, const Shape& shape);
  // The memory of the sequences of a group of runs, `shape` each.
  StateOperands state(std::string_view name, int run_group, const Shape& shape);

  // `makes` names the step; it is usually the name of what it writes.
  void call(std::string_view operation, std::string_view makes, std::initializer_list<NamedOperand> operands,
            std::initializer_list<NamedAttribute> attributes = {});

  // Views. A reshape asks for axes that can be split or joined without moving anything.
  Operand reshaped(const Operand& operand, const Shape& shape);
  Operand sliced(const Operand& operand, int axis, std::int64_t begin, std::int64_t end);
  Operand transposed(const Operand& operand, int first, int second);

  // Operations over time take [sequences, time, ...] of sequences that are equally long. Where the pass remembers, each
  // run is a group of its own, because each has its own memory; otherwise all runs, which are equal, are one group.
  int run_groups() const;
  Operand of_run_group(const Operand& operand, int run_group);

  void fail(const Error& error);
  Result<Circuit> finish();

 private:
  std::string full_name(std::string_view name) const;
  Operand add(CircuitTensor tensor);
  DType dtype_of(const Operand& operand) const;
  // Says how its weights lie.
  void mark_layout(Step& step);
  bool joins_runs() const;

  const Weights& weights_;
  PassShape pass_;
  std::optional<KeptSequences> kept_;
  MissingWeights* missing_ = nullptr;
  bool yields_vectors_ = false;
  int layer_ = -1;
  Circuit circuit_;
  std::map<std::string, int, std::less<>> positions_;
  std::optional<Error> mistake_;  // the first one
};

}  // namespace ingot
