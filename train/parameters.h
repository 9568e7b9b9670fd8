// Parameters: the weights that are trained, in one piece of memory, and their gradients in another, so that an
// optimizer walks them in two calls: those that decay, then those that do not. Gradients lie where the trainer says,
// because before a pass writes them their memory serves its activations.
#pragma once

#include <set>

#include "machine/memory.h"
#include "model/circuit/weights.h"

namespace ingot {

struct Parameter {
  std::string name;
  Shape shape;
  std::int64_t offset = 0;  // in elements, of the memory of all
  bool decays = false;      // matrices do; norms, biases and what a recurrence decays by do not
  // What a pass reads where weights are kept in bf16; empty: the parameter itself.
  AnyView rounded = {};
};

class Parameters {
 public:
  // Copies the named weights of `base` as f32; the others are read where they are, so `base` must outlive this. With
  // `storage` bf16, passes read matrices rounded to bf16, and updates go to the f32 ones.
  static Result<Parameters> create(const Weights& base, const std::set<std::string, std::less<>>& trained,
                                   DType storage);

  std::span<const Parameter> all() const { return all_; }
  const Parameter* find(std::string_view name) const;
  std::int64_t count() const;  // of numbers

  // All weights of the model, as passes read them.
  const Weights& weights() const { return weights_; }

  // Everything that decays, and behind it everything that does not.
  View<float> values() const { return whole(values_.data()); }
  View<float> gradients() const { return whole(gradients_); }
  std::int64_t decaying() const { return decaying_; }  // elements
  View<float> value_of(const Parameter& parameter) const { return part(values_.data(), parameter); }
  View<float> gradient_of(const Parameter& parameter) const { return part(gradients_, parameter); }

  std::size_t gradient_bytes() const { return values_.size(); }
  void place_gradients(std::byte* memory) { gradients_ = memory; }
  // Zeroes what lies between gradients, which a norm of all of them reads too.
  void clear_gaps() const;

  // Bytes of weights, without gradients.
  std::size_t bytes() const;

 private:
  Parameters() = default;
  View<float> whole(std::byte* memory) const { return View<float>(reinterpret_cast<float*>(memory), {elements_}); }
  static View<float> part(std::byte* memory, const Parameter& parameter) {
    return View<float>(reinterpret_cast<float*>(memory) + parameter.offset, parameter.shape);
  }

  std::vector<Parameter> all_;
  std::int64_t elements_ = 0;  // with the gaps that align each parameter
  std::int64_t decaying_ = 0;
  Memory values_;
  std::byte* gradients_ = nullptr;
  Weights weights_;
};

}  // namespace ingot
