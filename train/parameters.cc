#include "train/parameters.h"

#include <algorithm>

#include "kernels/contract/fields.h"

namespace ingot {
namespace {

constexpr std::int64_t alignment = 16;  // elements: a cache line

bool should_decay(std::string_view name, const Shape& shape) {
  return shape.rank() >= 2 && name.ends_with(".weight") && name.find("norm") == std::string_view::npos;
}

}  // namespace

Result<Parameters> Parameters::create(const Weights& base, const std::set<std::string, std::less<>>& trained,
                                      DType storage) {
  if (storage != DType::f32 && storage != DType::bf16) {
    return Error::of(ErrorCode::invalid_argument, "expected weights kept in f32 or bf16, found ", storage);
  }
  Parameters parameters;
  for (const std::string& name : trained) {
    const ConstAnyView* view = base.find(name);
    if (view == nullptr) return Error::of(ErrorCode::not_found, "expected a weight ", name, " to train, found none");
    parameters.all_.push_back({.name = name, .shape = view->shape(), .decays = should_decay(name, view->shape())});
  }
  std::ranges::stable_partition(parameters.all_, &Parameter::decays);
  for (Parameter& parameter : parameters.all_) {
    parameter.offset = parameters.elements_;
    const std::int64_t size = (element_count(parameter.shape) + alignment - 1) / alignment * alignment;
    parameters.elements_ += size;
    if (parameter.decays) parameters.decaying_ = parameters.elements_;
  }
  const Bytes bytes(static_cast<std::size_t>(parameters.elements_) * sizeof(float));
  parameters.values_ = TRY(Memory::allocate(bytes));

  for (const auto& [name, view] : base.all()) {
    if (!trained.contains(name)) TRY(parameters.weights_.add(name, view));
  }
  for (Parameter& parameter : parameters.all_) {
    const View<float> values = parameters.value_of(parameter);
    decode_all(*base.find(parameter.name), values.data());
    if (storage == DType::bf16 && parameter.shape.rank() >= 2 && parameter.decays) {
      parameter.rounded = TRY(parameters.weights_.add_owned(parameter.name, DType::bf16, parameter.shape));
    } else {
      TRY(parameters.weights_.add(parameter.name, AnyView(values)));
    }
  }
  return parameters;
}

const Parameter* Parameters::find(std::string_view name) const {
  const auto found = std::ranges::find(all_, name, &Parameter::name);
  return found == all_.end() ? nullptr : &*found;
}

std::int64_t Parameters::count() const {
  std::int64_t sum = 0;
  for (const Parameter& parameter : all_) sum += element_count(parameter.shape);
  return sum;
}

void Parameters::clear_gaps() const {
  auto* gradients = reinterpret_cast<float*>(gradients_);
  for (std::size_t index = 0; index < all_.size(); ++index) {
    const std::int64_t end = index + 1 < all_.size() ? all_[index + 1].offset : elements_;
    std::fill(gradients + all_[index].offset + element_count(all_[index].shape), gradients + end, 0.0f);
  }
}

std::size_t Parameters::bytes() const {
  std::size_t sum = values_.size();
  for (const Parameter& parameter : all_) {
    if (is_present(parameter.rounded)) sum += static_cast<std::size_t>(parameter.rounded.count()) * 2;
  }
  return sum;
}

}  // namespace ingot
