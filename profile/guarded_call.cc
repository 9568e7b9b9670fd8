#include "profile/guarded_call.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace ingot {
namespace {

constexpr std::size_t surrounding_bytes = 64;
constexpr std::size_t kept_alignment = 64;  // what kernels may treat apart: lines, and the widest vectors
constexpr std::byte tensor_surroundings{0x96};
constexpr std::byte scratch_filling{0xc3};

bool overlap(const Footprint& first, const Footprint& second) {
  return first.begin < second.end && second.begin < first.end;
}

}  // namespace

GuardedCall::GuardedCall(ProvingGround& ground, const Operation& operation, const Invocation& original,
                         Placement placement, std::string where)
    : ground_(&ground),
      operation_(&operation),
      invocation_(original.clone()),
      placement_(placement),
      where_(std::move(where)) {}

Result<GuardedCall> GuardedCall::make(ProvingGround& ground, const Operation& operation, const Invocation& original,
                                      Placement placement, std::string where) {
  GuardedCall call(ground, operation, original, placement, std::move(where));
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
  std::vector<Footprint> footprints = {{}};  // one for all that are empty
  for (std::size_t index = 0; index < operation_->fields.size(); ++index) {
    if (!operation_->fields[index].is_tensor) continue;
    const Footprint footprint = footprint_of(original.tensor(static_cast<int>(index)));
    if (footprint.size() > 0) footprints.push_back(footprint);
  }
  std::sort(footprints.begin(), footprints.end(),
            [](const Footprint& first, const Footprint& second) { return first.begin < second.begin; });
  std::vector<Footprint> joined;  // those that share bytes are one
  for (const Footprint& footprint : footprints) {
    if (joined.empty() || !overlap(joined.back(), footprint)) {
      joined.push_back(footprint);
    } else {
      joined.back().end = std::max(joined.back().end, footprint.end);
    }
  }
  for (const Footprint& footprint : joined) {
    Placed placed = TRY(place(footprint.size(), footprint.begin % kept_alignment, placement_));
    placed.original = footprint;
    std::fill(placed.surroundings.begin(), placed.surroundings.end(), tensor_surroundings);
    tensors_.push_back(std::move(placed));
  }
  for (std::size_t index = 0; index < operation_->fields.size(); ++index) {
    if (!operation_->fields[index].is_tensor) continue;
    const ConstAnyView view = original.tensor(static_cast<int>(index));
    if (view.data() != nullptr) TRY(invocation_->set_tensor(static_cast<int>(index), copied(view)));
  }
  return {};
}

AnyView GuardedCall::copied(const ConstAnyView& view) const {
  const Footprint footprint = footprint_of(view);
  const auto home = std::find_if(tensors_.begin(), tensors_.end(), [&](const Placed& placed) {
    return footprint.size() == 0 ? placed.bytes.empty() : overlap(footprint, placed.original);
  });
  std::byte* data = home->bytes.data();
  if (footprint.size() > 0) {
    std::byte* const begin = data + (footprint.begin - home->original.begin);
    const std::size_t origin = reinterpret_cast<std::uintptr_t>(view.data()) - footprint.begin;
    std::memcpy(begin, view.data() - origin, footprint.size());
    data = begin + origin;
  }
  return AnyView(data, view.dtype(), view.shape(), view.byte_strides(), view.place());
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

Result<void> GuardedCall::run(int variant, Workers& workers) {
  const std::size_t scratch_bytes = invocation_->scratch_bytes(variant, workers.count());
  const Placed scratch =
      TRY(place(scratch_bytes, 0, placement_ == Placement::before ? Placement::before : Placement::kept));
  // Whatever an earlier kernel left here must not matter.
  std::fill(scratch.surroundings.begin(), scratch.surroundings.end(), scratch_filling);
  std::vector<std::vector<std::byte>> before;
  for (const Placed& placed : tensors_) before.emplace_back(placed.surroundings.begin(), placed.surroundings.end());

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
    Context context{workers, scratch.bytes};
    invocation_->run(variant, context);
    trespass = watch.trespass();
  }
  if (trespass.has_value()) return trespassed(*trespass, scratch, workers.count());

  for (std::size_t index = 0; index < tensors_.size(); ++index) {
    if (!changed_outside(tensors_[index], before[index])) continue;
    return Error::of(ErrorCode::corrupt, "expected writes to outputs only, found changed bytes outside of them, in or ",
                     "beside ", names_in(tensors_[index]));
  }
  auto is_changed = [](std::byte byte) { return byte != scratch_filling; };
  if (std::any_of(scratch.surroundings.data(), scratch.bytes.data(), is_changed) ||
      std::any_of(scratch.bytes.data() + scratch.bytes.size(),
                  scratch.surroundings.data() + scratch.surroundings.size(), is_changed)) {
    return Error::of(ErrorCode::corrupt, "expected writes to ", scratch.bytes.size(),
                     " bytes of scratch, found changed bytes outside of them");
  }
  return {};
}

}  // namespace ingot
