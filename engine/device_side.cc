#include "engine/device_side.h"

#include <algorithm>
#include <cstring>

#include "base/units.h"
#include "kernels/contract/accelerated_call.h"
#include "model/template/pass_inputs.h"

namespace ingot {

Result<DeviceSide> DeviceSide::create(std::shared_ptr<const DeviceModel> model, int most_choices,
                                      Neighbours neighbours) {
  Device& device = model->device();
  std::unique_ptr<Queue> queue = TRY(device.make_queue());
  DeviceSide side(std::move(model), std::move(queue));
  if (device.information().takes_calls) side.calls_ = calls_into(*side.queue_, neighbours);
  const auto choices = static_cast<std::size_t>(most_choices);
  side.uniforms_ = TRY(device.allocate(choices * sizeof(float)));
  side.chosen_ = TRY(device.allocate(choices * sizeof(std::int32_t)));
  for (Turn& turn : side.turns_) {
    turn.uniforms = TRY(device.allocate_pinned(side.uniforms_.size()));
    turn.chosen = TRY(device.allocate_pinned(side.chosen_.size()));
    turn.has_chosen = TRY(side.queue_->make_mark());
  }
  return side;
}

Result<std::byte*> DeviceSide::weight(const CircuitTensor& tensor) const {
  std::byte* const found = model_->find(tensor.weight.data());
  if (found != nullptr) return found;
  const auto adapter = adapter_offsets_.find(tensor.weight.data());
  if (adapter != adapter_offsets_.end()) return adapters_.data() + adapter->second;
  return Error::of(ErrorCode::not_found, "expected the weight ", std::string_view(tensor.name),
                   " on the device, found that it was not uploaded");
}

Result<void> DeviceSide::upload(std::span<const std::shared_ptr<const Adapter>> adapters) {
  constexpr std::size_t alignment = 256, part_bytes = std::size_t{4} << 20;
  std::map<const std::byte*, std::size_t> sizes;
  for (const auto& adapter : adapters) {
    for (const auto& [name, pair] : adapter->all()) {
      for (const ConstAnyView* view : {&pair.first, &pair.second}) {
        sizes[view->data()] = static_cast<std::size_t>(row_bytes(view->dtype(), view->count()));
      }
    }
  }
  if (sizes.empty()) return {};
  std::size_t total = 0;
  for (const auto& [data, bytes] : sizes) {
    adapter_offsets_[data] = total;
    total += align_up(bytes, alignment);
  }
  adapters_ = TRY(device().allocate(total));
  const PinnedMemory staged = TRY(device().allocate_pinned(std::min(total, part_bytes)));
  for (const auto& [data, bytes] : sizes) {
    for (std::size_t at = 0; at < bytes; at += part_bytes) {
      const std::size_t part = std::min(part_bytes, bytes - at);
      std::memcpy(staged.data(), data + at, part);
      queue_->copy_in(adapters_.data() + adapter_offsets_[data] + at, staged.data(), part);
      TRY(queue_->wait());  // it is used again
    }
  }
  return {};
}

Result<void> DeviceSide::make_scratch(std::size_t bytes) {
  // Who runs calls has scratch of his own.
  if (takes_calls() || scratch_.size() >= bytes) return {};
  TRY(queue_->wait());  // what runs may still use the memory that is given back
  recordings_.forget();
  scratch_ = DeviceMemory();
  scratch_ = TRY(device().allocate(bytes));
  return {};
}

Result<bool> DeviceSide::make_room(const Plan& plan) {
  TRY(make_scratch(plan.scratch_bytes()));
  const auto needed = static_cast<std::size_t>(plan.arena_bytes());
  const auto needed_on_host = static_cast<std::size_t>(plan.host_arena_bytes());
  if (arena_.size() >= needed && host_arena_.size() >= needed_on_host) return false;
  TRY(queue_->wait());
  recordings_.forget();
  if (arena_.size() < needed) {
    arena_ = DeviceMemory();
    arena_ = TRY(device().allocate(needed));
  }
  if (host_arena_.size() < needed_on_host) {
    host_arena_ = PinnedMemory();
    host_arena_ = TRY(device().allocate_pinned(needed_on_host));
  }
  return true;
}

Result<void> DeviceSide::begin_pass(const Plan& plan) {
  const auto needed = static_cast<std::size_t>(plan.input_bytes());
  if (turn().inputs.size() < needed) turn().inputs = TRY(device().allocate_pinned(needed));
  return {};
}

std::byte* DeviceSide::input(const Plan& plan, std::string_view name) const {
  const std::int64_t offset = plan.input_offset(name);
  return offset < 0 ? nullptr : turn().inputs.data() + offset;
}

void DeviceSide::send_inputs(const Plan& plan) {
  queue_->copy_in(arena_.data(), turn().inputs.data(), static_cast<std::size_t>(plan.input_bytes()));
}

void DeviceSide::send_uniforms(std::size_t count) {
  queue_->copy_in(uniforms_.data(), turn().uniforms.data(), count * sizeof(float));
}

void DeviceSide::continue_tokens(const Plan& plan, std::size_t count) {
  queue_->copy_within(arena_.data() + plan.input_offset(pass_inputs::tokens), chosen_.data(),
                      count * sizeof(std::int32_t));
}

ChoiceTensors DeviceSide::choice_tensors(const Plan& plan) const {
  const AnyView logits = plan.tensor(pass_inputs::result);
  const Shape rows{logits.shape()[0]};
  const auto on_device = [&]<class Element>(std::byte* data, const Shape& shape) {
    return View<Element>(reinterpret_cast<Element*>(data), shape, contiguous_strides(shape), place());
  };
  return {.logits = on_device.operator()<float>(logits.data(), logits.shape()),
          .uniforms = on_device.operator()<const float>(uniforms_.data(), rows),
          .tokens = on_device.operator()<std::int32_t>(chosen_.data(), rows)};
}

Result<int> DeviceSide::send_chosen_back(std::size_t count) {
  turn().chosen_count = count;
  queue_->copy_out(turn().chosen.data(), chosen_.data(), count * sizeof(std::int32_t));
  TRY(turn().has_chosen->place());
  return std::exchange(turn_, 1 - turn_);
}

Result<std::span<const std::int32_t>> DeviceSide::receive_chosen(int turn) const {
  const Turn& asked = turns_[static_cast<std::size_t>(turn)];
  TRY(asked.has_chosen->wait());
  return std::span(reinterpret_cast<const std::int32_t*>(asked.chosen.data()), asked.chosen_count);
}

Result<void> DeviceSide::receive(const AnyView& tensor, std::vector<float>& values) {
  const auto count = static_cast<std::size_t>(tensor.count());
  if (received_.size() < count * sizeof(float)) received_ = TRY(device().allocate_pinned(count * sizeof(float)));
  queue_->copy_out(received_.data(), tensor.data(), count * sizeof(float));
  TRY(queue_->wait());
  const auto* const data = reinterpret_cast<const float*>(received_.data());
  values.insert(values.end(), data, data + count);
  return {};
}

}  // namespace ingot
