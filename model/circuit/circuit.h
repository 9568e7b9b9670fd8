// Circuit: a model's forward pass as a list of contract invocations over named tensors. It is data: printed, rewritten,
// planned and reversed by code that knows operations only through their descriptors.
#pragma once

#include <string>
#include <vector>

#include "kernels/contract/operation.h"

namespace ingot {

// Who owns a tensor's bytes, and for how long they mean something.
enum class Storage : std::uint8_t {
  weight,      // the model file, forever
  input,       // the caller, for one pass
  activation,  // the plan's arena, from the step that writes it to the last that reads it
  output,      // the plan's arena, until the next pass
  cache,       // the session: keys and values of all sequences
  state,       // the session: a recurrent memory of one sequence
  gradient,    // the trainer: a weight's derivative, until the next step of the optimizer
};

std::string_view name_of(Storage storage);

struct CircuitTensor {
  std::string name;
  Storage storage = Storage::activation;
  DType dtype = DType::f32;
  Shape shape;
  ConstAnyView weight = {};  // where a weight lies
  int run = 0;               // of a state: which of the pass's runs it belongs to
  std::int64_t window = 0;   // of a cache: how many positions back it is read; 0: all
  bool is_on_host = false;   // of a circuit for a device: in the host's memory all the same (model/plan/split.h)
};

// A tensor as one operation sees it: all of it, or a part, under another shape.
struct Operand {
  int tensor = -1;  // index into Circuit::tensors; -1: left out
  Shape shape;
  Strides byte_strides;
  std::int64_t byte_offset = 0;

  bool is_present() const { return tensor >= 0; }
  bool operator==(const Operand&) const = default;
};

struct BoundOperand {
  int field;  // index into Operation::fields
  Operand operand;
};

struct BoundAttribute {
  int field;
  AttributeValue value;

  bool operator==(const BoundAttribute&) const = default;
};

struct Step {
  const Operation* operation = nullptr;
  std::string name;  // what it makes: "blk.3.attn_q"
  int layer = -1;    // -1: before or after the layers
  std::vector<BoundOperand> operands = {};
  std::vector<BoundAttribute> attributes = {};

  // A step with nothing bound yet. Precondition of this and of bind() and set(): there is such an operation or field.
  static Step of(std::string_view operation, std::string name, int layer);
  void bind(std::string_view field, const Operand& operand);
  void set(std::string_view field, const AttributeValue& value);

  // Null where the field is not bound.
  const Operand* find(std::string_view field) const;
  const AttributeValue* find_attribute(std::string_view field) const;
  // 0 where the attribute is not bound.
  std::int64_t integer(std::string_view field) const;
};

// What a plan's rewrite did to a circuit.
struct AppliedRewrite {
  std::string_view name;
  int count = 0;
};

struct Circuit {
  std::vector<CircuitTensor> tensors;
  std::vector<Step> steps;
  std::vector<AppliedRewrite> rewrites = {};  // in the order in which they applied

  const CircuitTensor* find(std::string_view name) const;
  // Appends a tensor and returns all of it.
  Operand add(CircuitTensor tensor);
  Operand whole(int tensor) const;
};

// What the names of a layer's tensors and steps begin with: "blk.3.", or nothing outside of layers.
std::string layer_prefix(int layer);

// One line a step: "blk.0.attn_q  linear.matmul  x=blk.0.attn_norm [1, 576] f32  weights=... -> y=...".
std::string text_of(const Circuit& circuit);
std::string text_of(const Circuit& circuit, const Step& step);

}  // namespace ingot
