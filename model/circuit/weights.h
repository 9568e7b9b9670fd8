// Weights: the tensors of a model under the names that templates use, wherever they came from.
//
// Names are those of GGUF files ("blk.0.attn_q.weight"). Files that name or store them otherwise are translated when
// the model is opened; what must be computed for that (a transposed matrix, a vector that is not f32) is kept here.
//
// A weight matrix may also lie in an execution layout (tensor/interleaved.h), and then its name says so: a
// reader that does not know the layout finds no such weight, instead of one with other numbers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "machine/memory.h"
#include "tensor/any_view.h"

namespace ingot {

inline constexpr std::string_view interleaved_suffix = "@interleaved8";
inline bool names_interleaved(std::string_view name) { return name.ends_with(interleaved_suffix); }

class Weights {
 public:
  Weights() = default;
  Weights(Weights&&) = default;
  Weights& operator=(Weights&&) = default;

  // The view's memory must outlive this. Vectors that are not f32 become f32: kernels take no other, and they are
  // small.
  Result<void> add(std::string_view name, const ConstAnyView& view);
  // One piece of memory for the tensors that are added next: each by itself would be rounded up to its pages.
  Result<void> reserve(std::uint64_t bytes);
  // What a tensor takes of it.
  static std::uint64_t reserved_bytes(DType dtype, const Shape& shape);
  // A new tensor of zeros, owned here, for the caller to fill.
  Result<AnyView> add_owned(std::string_view name, DType dtype, const Shape& shape);

  const ConstAnyView* find(std::string_view name) const;  // null: no such weight
  bool has(std::string_view name) const { return find(name) != nullptr; }
  // In whichever layout it lies, under the name that says so. Null: in none.
  struct Stored {
    std::string name;
    const ConstAnyView* view = nullptr;
  };
  Stored find_stored(std::string_view name) const;
  std::size_t count() const { return views_.size(); }
  std::int64_t bytes() const;  // of all, wherever they lie
  const std::map<std::string, ConstAnyView, std::less<>>& all() const { return views_; }

 private:
  std::map<std::string, ConstAnyView, std::less<>> views_;
  std::vector<Memory> owned_;
  std::span<std::byte> reserved_;  // what is left
};

// Every element of a view in index order, decoded to f32. Precondition: target has room for view.count() elements.
void decode_all(const ConstAnyView& view, float* target);

}  // namespace ingot
