#include "profile/guarded_call.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/text.h"
#include "profile/device_trial.h"
#include "profile/fillings.h"
#include "profile/tensor_pieces.h"

namespace ingot {
namespace {

constexpr std::size_t surrounding_bytes = 64;

}  // namespace

GuardedCall::GuardedCall(ProvingGround& ground, const Operation& operation, Placement placement, std::string where)
    : ground_(&ground), operation_(&operation), placement_(placement), where_(std::move(where)) {}

Result<GuardedCall> GuardedCall::make(ProvingGround& ground, const Operation& operation, const Invocation& original,
                                      Placement placement, std::string where) {
  GuardedCall call(ground, operation, placement, std::move(where));
  TRY(call.place_tensors(original));
  return call;
}

Result<GuardedCall::Placed> GuardedCall::place(std::size_t bytes, std::size_t remainder, Placement placement) {
  Placed placed;
  placed.piece = TRY(ground_->memory.take(placement == Placement::kept ? bytes + kept_alignment : bytes));
  std::byte* const begin = placed.piece.bytes().data();
  std::byte* const end = begin + placed.piece.bytes().size();
  // Nothing lies on the guard itself: whoever reads it is wrong.
  std::byte* data = placement == Placement::before && bytes > 0 ? begin : end - bytes;
  if (placement == Placement::kept && bytes > 0) {
    data -= (reinterpret_cast<std::uintptr_t>(data) - remainder) % kept_alignment;
  }
  const auto room_before = std::min(surrounding_bytes, static_cast<std::size_t>(data - begin));
  const auto room_behind = std::min(surrounding_bytes, static_cast<std::size_t>(end - data) - bytes);
  placed.bytes = {data, bytes};
  placed.surroundings = {data - room_before, room_before + bytes + room_behind};
  return placed;
}

Result<void> GuardedCall::place_tensors(const Invocation& original) {
  const std::vector<Footprint> pieces = tensor_pieces(*operation_, original);
  std::vector<std::byte*> homes;
  for (const Footprint& piece : pieces) {
    Placed placed = TRY(place(piece.size(), piece.begin % kept_alignment, placement_));
    std::fill(placed.surroundings.begin(), placed.surroundings.end(), tensor_surroundings);
    if (piece.size() > 0) std::memcpy(placed.bytes.data(), std::bit_cast<const void*>(piece.begin), piece.size());
    homes.push_back(placed.bytes.data());
    tensors_.push_back(std::move(placed));
  }
  invocation_ = TRY(moved_call(*operation_, original, pieces, homes, Place::host));
  return {};
}

std::string GuardedCall::names_in(const Placed& placed) const {
  std::string names;
  for (std::size_t index = 0; index < operation_->fields.size(); ++index) {
    const ConstAnyView view = invocation_->tensor(static_cast<int>(index));
    if (!operation_->fields[index].is_tensor || !placed.piece.is_near(view.data())) continue;
    names += (names.empty() ? "" : ", ") + std::string(operation_->fields[index].name);
  }
  return names;
}

Error GuardedCall::trespassed(const Trespass& trespass, const Placed& scratch, int threads) const {
  FixedText<120> where = text_of<120>(" at a guard of none of them");
  auto look = [&](const Placed& placed, std::string_view name) {
    if (!placed.piece.is_near(trespass.address)) return;
    const std::byte* begin = placed.bytes.data();
    const bool is_before = trespass.address < begin;
    const std::ptrdiff_t distance =
        is_before ? begin - trespass.address : trespass.address - (begin + placed.bytes.size()) + 1;
    where = text_of<120>(" ", distance, distance == 1 ? " byte " : " bytes ", is_before ? "before " : "behind ", name);
  };
  for (const Placed& placed : tensors_) look(placed, names_in(placed));
  look(scratch, "the scratch");
  Error error = Error::of(ErrorCode::corrupt, "expected no access outside of its tensors, found a ",
                          name_of(trespass.kind), where.view());
  return threads == 1 ? error : error.within("with ", threads, " threads");
}

bool GuardedCall::changed_outside(const Placed& placed, std::vector<std::byte>& before) const {
  const std::byte* begin = placed.surroundings.data();
  if (std::memcmp(begin, before.data(), before.size()) == 0) return false;
  for (std::size_t index = 0; index < operation_->fields.size(); ++index) {
    const ConstAnyView view = invocation_->tensor(static_cast<int>(index));
    if (!operation_->fields[index].is_tensor || !is_written(operation_->fields[index].role)) continue;
    if (view.empty() || !placed.piece.is_near(view.data())) continue;
    const auto bytes = static_cast<std::size_t>(block_bytes(view.dtype()));
    for_each_block(view, [&](std::int64_t offset) {
      const std::byte* block = view.data() + offset;
      std::memcpy(before.data() + (block - begin), block, bytes);
    });
  }
  return std::memcmp(begin, before.data(), before.size()) != 0;
}

Result<std::unique_ptr<Invocation>> GuardedCall::moved(Place place, std::span<std::byte* const> homes) const {
  std::vector<Footprint> pieces;
  for (const Placed& placed : tensors_) {
    const auto begin = reinterpret_cast<std::uintptr_t>(placed.bytes.data());
    pieces.push_back({begin, begin + placed.bytes.size()});
  }
  return moved_call(*operation_, *invocation_, pieces, homes, place);
}

Result<void> GuardedCall::run(int variant, Workers& workers) {
  std::vector<std::vector<std::byte>> before;
  for (const Placed& placed : tensors_) before.emplace_back(placed.surroundings.begin(), placed.surroundings.end());
  if (variant == accelerator_row) {
    TRY(run_on_accelerator());
  } else if (!operation_->variants[static_cast<std::size_t>(variant)].is_of_device) {
    TRY(run_here(*invocation_, variant, workers, nullptr));
  } else if (ground_->device->information().is_emulated) {
    // Its memory is the host's: guards see all that it does.
    std::vector<std::byte*> homes;
    for (const Placed& placed : tensors_) homes.push_back(placed.bytes.data());
    const std::unique_ptr<Invocation> placed = TRY(moved(Place::device(ground_->device->information().index), homes));
    TRY(run_here(*placed, variant, workers, ground_->queue.get()));
  } else {
    TRY(run_on_copies(variant, workers));
  }
  for (std::size_t index = 0; index < tensors_.size(); ++index) {
    if (!changed_outside(tensors_[index], before[index])) continue;
    return Error::of(ErrorCode::corrupt, "expected writes to outputs only, found changed bytes outside of them, in or ",
                     "beside ", names_in(tensors_[index]));
  }
  return {};
}

Result<void> GuardedCall::run_here(const Invocation& invocation, int variant, Workers& workers, Queue* queue) {
  const std::size_t scratch_bytes = invocation.scratch_bytes(variant, workers.count());
  const Placed scratch =
      TRY(place(scratch_bytes, 0, placement_ == Placement::before ? Placement::before : Placement::kept));
  // Whatever an earlier kernel left here must not matter.
  std::fill(scratch.surroundings.begin(), scratch.surroundings.end(), scratch_filling);

  std::optional<Trespass> trespass;
  {
    Watchdog* const watchdog = ground_->watchdog.get();
    const GuardWatch watch(ground_->memory,
                           watchdog == nullptr ? StrayAccess::ends_program : StrayAccess::stops_thread);
    std::optional<Watchdog::Run> watched;
    if (watchdog != nullptr) {
      const std::string_view name = operation_->variants[static_cast<std::size_t>(variant)].name;
      watched.emplace(*watchdog, watch, operation_->name, name, where_);
    }
    Context context{workers, scratch.bytes, queue};
    invocation.run(variant, context);
    if (queue != nullptr) TRY(queue->wait());
    trespass = watch.trespass();
  }
  if (trespass.has_value()) return trespassed(*trespass, scratch, workers.count());

  auto is_changed = [](std::byte byte) { return byte != scratch_filling; };
  if (std::any_of(scratch.surroundings.data(), scratch.bytes.data(), is_changed) ||
      std::any_of(scratch.bytes.data() + scratch.bytes.size(),
                  scratch.surroundings.data() + scratch.surroundings.size(), is_changed)) {
    return Error::of(ErrorCode::corrupt, "expected writes to ", scratch.bytes.size(),
                     " bytes of scratch, found changed bytes outside of them");
  }
  return {};
}

Result<void> GuardedCall::run_on_copies(int variant, Workers& workers) {
  DeviceTrial trial(*ground_->device, *ground_->queue);
  std::vector<std::byte*> homes;
  std::vector<std::string> names;
  for (const Placed& placed : tensors_) {
    homes.push_back(trial.data(TRY(trial.copy_in(placed.bytes))));
    names.push_back(names_in(placed));
  }
  const std::unique_ptr<Invocation> placed = TRY(moved(Place::device(ground_->device->information().index), homes));
  const std::size_t scratch_bytes = placed->scratch_bytes(variant, workers.count());
  std::byte* const scratch = trial.data(TRY(trial.take_scratch(scratch_bytes)));
  names.emplace_back("the scratch");
  Context context{workers, {scratch, scratch_bytes}, ground_->queue.get()};
  placed->run(variant, context);
  return trial.bring_back(names);
}

Result<void> GuardedCall::run_on_accelerator() {
  DeviceTrial trial(*ground_->device, *ground_->queue);
  std::vector<std::byte*> homes;
  std::vector<std::string> names;
  for (const Placed& placed : tensors_) {
    homes.push_back(trial.data(TRY(trial.copy_in(placed.bytes))));
    names.push_back(names_in(placed));
  }
  const std::unique_ptr<Invocation> shared = TRY(moved(Place::host, homes));
  TRY(ground_->calls->put(*operation_, *shared));
  return trial.bring_back(names);
}

}  // namespace ingot
