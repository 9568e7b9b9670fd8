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

  std::int64_t tokens() const;
  bool operator==(const PassShape&) const = default;
};

// How the session keeps keys and values (see kernels/cache/cache_view.h).
struct CacheGeometry {
  DType dtype = DType::f16;
  std::int64_t pages = 1;
  std::int64_t page_length = 64;
  std::int64_t pages_per_sequence = 1;
  std::int64_t sequences = 1;
  // Layers that see no further than ring_window keep their last positions alone, in ring_pages a sequence. A model has
  // one window as a rule; of several, the largest sizes the ring of all.
  std::int64_t ring_window = 0;  // 0: every layer keeps all positions
  std::int64_t ring_pages = 0;

  bool keeps_in_ring(std::int64_t window) const { return window > 0 && window <= ring_window; }
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
  // A pass that continues sequences: keys, values and states are kept.
  CircuitBuilder(const Weights& weights, PassShape pass, CacheGeometry cache)
      : weights_(weights), pass_(std::move(pass)), cache_(cache), remembers_(true) {}
  // A pass without memory: every run is a whole sequence, as in training.
  CircuitBuilder(const Weights& weights, PassShape pass) : weights_(weights), pass_(std::move(pass)) {}

  // Must outlive the builder.
  void supply(MissingWeights& missing) { missing_ = &missing; }

  bool remembers() const { return remembers_; }

  const PassShape& pass() const { return pass_; }
  const CacheGeometry& cache_geometry() const { return cache_; }
  std::int64_t tokens() const { return pass_.tokens(); }
  // Tokens that a sequence may come to have: what there are pages for, or its run in a pass without memory.
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
  // Pages of [head][token][dimension] for the current layer, which sees `window` positions (0: all).
  Operand cache(std::string_view name, std::int64_t heads, std::int64_t dimensions, std::int64_t window = 0);
  // The memory of a group's sequences, `shape` each.
  StateOperands state(std::string_view name, int group, const Shape& shape);

  // `makes` names the step; it is usually the name of what it writes.
  void call(std::string_view operation, std::string_view makes, std::initializer_list<NamedOperand> operands,
            std::initializer_list<NamedAttribute> attributes = {});

  // Views. A reshape asks for axes that can be split or joined without moving anything.
  Operand reshaped(const Operand& operand, const Shape& shape);
  Operand sliced(const Operand& operand, int axis, std::int64_t begin, std::int64_t end);
  Operand transposed(const Operand& operand, int first, int second);

  // Operations over time take [sequences, time, ...] of sequences that are equally long. Where the pass remembers, each
  // run is a group, because each has its own memory; otherwise equal runs are one group of all.
  int groups() const;
  Operand of_group(const Operand& operand, int group);

  void fail(const Error& error);
  Result<Circuit> finish();

 private:
  std::string full_name(std::string_view name) const;
  Operand add(CircuitTensor tensor);
  DType dtype_of(const Operand& operand) const;
  bool joins_runs() const;

  const Weights& weights_;
  PassShape pass_;
  CacheGeometry cache_ = {};
  MissingWeights* missing_ = nullptr;
  bool remembers_ = false;
  int layer_ = -1;
  Circuit circuit_;
  std::map<std::string, int, std::less<>> positions_;
  std::optional<Error> mistake_;  // the first one
};

}  // namespace ingot
