#include "engine/model_sum.h"

#include <algorithm>
#include <bit>

namespace ingot {
namespace {

constexpr std::size_t beginning_bytes = 4096;  // of a tensor: a page of the file

void add_view(std::string_view name, const ConstAnyView& view, Sum& sum) {
  sum.add(name);
  sum.add(static_cast<std::uint64_t>(view.dtype()));
  for (const std::int64_t size : view.shape()) sum.add(static_cast<std::uint64_t>(size));
  const auto bytes = static_cast<std::size_t>(row_bytes(view.dtype(), view.count()));
  sum.add(std::span(view.data(), std::min(bytes, beginning_bytes)));
}

}  // namespace

void add_model(const Model& model, Sum& sum) {
  for (const Metadata::Entry& entry : model.metadata().entries()) {
    sum.add(entry.key);
    sum.add(entry.value.bytes);
    if (entry.value.texts == nullptr) continue;
    for (const std::string_view text : *entry.value.texts) sum.add(text);
  }
  for (const StoredTensor& tensor : model.file().tensors()) add_view(tensor.name, tensor.view, sum);
}

void add_adapter(const Adapter& adapter, Sum& sum) {
  for (const auto& [name, pair] : adapter.all()) {
    add_view(name, pair.first, sum);
    add_view(name, pair.second, sum);
    sum.add(std::bit_cast<std::uint64_t>(pair.factor));
  }
}

}  // namespace ingot
