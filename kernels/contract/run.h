// The typed way to call an operation: check, choose, run.
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/contract/table.h"

namespace ingot {

// C0 (see constraints.h), then the operation's own constraints.
template <KernelContract Op>
Result<void> check_arguments(const typename Op::Arguments& arguments) {
  std::array<BoundTensor, std::tuple_size_v<decltype(Op::Arguments::fields())>> tensors;
  std::size_t count = 0;
  auto bind = [&](const auto& field) {
    if constexpr (std::remove_cvref_t<decltype(field)>::is_tensor) {
      const auto& view = arguments.*field.member;
      tensors[count++] = {field.name, field.role, field.presence,
                          is_present(view) ? ConstAnyView(view) : ConstAnyView()};
    }
  };
  std::apply([&](const auto&... field) { (bind(field), ...); }, Op::Arguments::fields());
  std::span<const InPlace> in_place;
  if constexpr (requires { Op::in_place; }) in_place = Op::in_place;
  TRY(check_tensors(Op::name, std::span(tensors.data(), count), in_place));
  return Op::check(arguments);
}

// Where the tensors lie. Precondition: C0 holds, so all of them lie there.
template <KernelContract Op>
Place place_of(const typename Op::Arguments& arguments) {
  Place place = Place::host;
  auto look = [&](const auto& field) {
    if constexpr (std::remove_cvref_t<decltype(field)>::is_tensor) {
      if (is_present(arguments.*field.member)) place = (arguments.*field.member).place();
    }
  };
  std::apply([&](const auto&... field) { (look(field), ...); }, Op::Arguments::fields());
  return place;
}

// Precondition of the context: scratch as large as the chosen variant asks for (see scratch_bytes below).
template <KernelContract Op>
Result<void> run(const KernelTable& table, const typename Op::Arguments& arguments, Context& context) {
  TRY(check_arguments<Op>(arguments));
  const Place place = place_of<Op>(arguments);
  if (place.is_host() == table.is_of_device()) {
    return violated(Op::name, "C0", "expected tensors on ", table.is_of_device() ? "a device" : "the host",
                    ", where the table's variants run, found them on ", place);
  }
  const auto variants = Op::variants();
  for (int index : table.available(Op::name)) {
    const Variant<Op>& variant = variants[static_cast<std::size_t>(index)];
    if (variant.accepts != nullptr && !variant.accepts(arguments)) continue;
    const std::size_t needed =
        variant.scratch_bytes == nullptr ? 0 : variant.scratch_bytes(arguments, context.workers.count());
    if (context.scratch.size() < needed) {
      return Error::of(ErrorCode::out_of_memory, Op::name, " ", variant.name, ": expected ", needed,
                       " bytes of scratch, found ", context.scratch.size());
    }
    variant.run(arguments, context);
    return {};
  }
  return Error::of(ErrorCode::unsupported, Op::name, ": expected a variant that takes these arguments, found none");
}

}  // namespace ingot
