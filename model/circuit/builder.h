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
};

struct NamedOperand {
  std::string_view field;
  Operand operand;
};

struct NamedAttribute {
  std::string_view field;
  AttributeValue value;
};

class CircuitBuilder {
 public:
  CircuitBuilder(const Weights& weights, PassShape pass, CacheGeometry cache)
      : weights_(weights), pass_(std::move(pass)), cache_(cache) {}

  const PassShape& pass() const { return pass_; }
  const CacheGeometry& cache_geometry() const { return cache_; }
  std::int64_t tokens() const { return pass_.tokens(); }

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
  // Pages of [head][token][dimension] for the current layer.
  Operand cache(std::string_view name, std::int64_t heads, std::int64_t dimensions);
  Operand state(std::string_view name, int run, const Shape& shape);

  // `makes` names the step; it is usually the name of what it writes.
  void call(std::string_view operation, std::string_view makes, std::initializer_list<NamedOperand> operands,
            std::initializer_list<NamedAttribute> attributes = {});

  // Views. A reshape asks for axes that can be split or joined without moving anything.
  Operand reshaped(const Operand& operand, const Shape& shape);
  Operand sliced(const Operand& operand, int axis, std::int64_t begin, std::int64_t end);
  Operand transposed(const Operand& operand, int first, int second);
  // The tokens of one run: a slice of axis 0.
  Operand of_run(const Operand& operand, int run);

  void fail(const Error& error);
  Result<Circuit> finish();

 private:
  std::string full_name(std::string_view name) const;
  Operand add(CircuitTensor tensor);
  DType dtype_of(const Operand& operand) const;

  const Weights& weights_;
  PassShape pass_;
  CacheGeometry cache_;
  int layer_ = -1;
  Circuit circuit_;
  std::map<std::string, int, std::less<>> positions_;
  std::optional<Error> mistake_;  // the first one
};

}  // namespace ingot
