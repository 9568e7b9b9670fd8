// The typed way to call an operation: check, choose, run.
#pragma once

#include "kernels/contract/call_queue.h"
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

// The call as all operations' are seen.
template <KernelContract Op>
Result<std::unique_ptr<Invocation>> invocation_of(const typename Op::Arguments& arguments) {
  std::unique_ptr<Invocation> invocation = describe_operation<Op>().empty();
  int index = 0;
  Result<void> set;
  const auto put = [&](const auto& field) {
    const auto& value = arguments.*field.member;
    if constexpr (!std::remove_cvref_t<decltype(field)>::is_tensor) {
      invocation->set_attribute(index, attribute_value(value));
    } else if (is_present(value) && set.ok()) {
      const ConstAnyView view(value);
      // What is only read stays so: the field's role says it.
      set = invocation->set_tensor(index, AnyView(const_cast<std::byte*>(view.data()), view.dtype(), view.shape(),
                                                  view.byte_strides(), view.place()));
    }
    ++index;
  };
  std::apply([&](const auto&... field) { (put(field), ...); }, Op::Arguments::fields());
  TRY(set);
  return invocation;
}

// Precondition of the context: scratch as large as the chosen variant asks for (see scratch_bytes below).
template <KernelContract Op>
Result<void> run(const KernelTable& table, const typename Op::Arguments& arguments, Context& context) {
  TRY(check_arguments<Op>(arguments));
  const Place place = place_of<Op>(arguments);
  const bool is_of_device = table.is_of_device() || context.calls != nullptr;
  if (place.is_host() == is_of_device) {
    return violated(Op::name, "C0", "expected tensors on ", is_of_device ? "a device" : "the host",
                    ", where the table's variants run, found them on ", place);
  }
  if (context.calls != nullptr) {
    return context.calls->put(describe_operation<Op>(), *TRY(invocation_of<Op>(arguments)));
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
