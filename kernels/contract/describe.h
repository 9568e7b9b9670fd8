// Makes the type-erased descriptor of an operation. Included only by the source that holds the operation's table, which
// ends with: template const Operation& ingot::describe_operation<RmsNorm>();
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/contract/operation.h"
#include "kernels/contract/run.h"

namespace ingot {
namespace describe_detail {

// The fields of Arguments as all operations' are seen.
template <class Arguments>
inline constexpr auto field_table = std::apply(
    [](const auto&... field) {
      return std::array{
          FieldInformation{field.name, field.role, field.presence, std::remove_cvref_t<decltype(field)>::is_tensor}...};
    },
    Arguments::fields());

// Calls visit(field) for the field with a given index.
template <class Arguments, class Visit>
void visit_field(int wanted, Visit&& visit) {
  std::apply(
      [&](const auto&... field) {
        int index = 0;
        (void)((index++ == wanted ? (visit(field), true) : false) || ...);
      },
      Arguments::fields());
}

// Out of line, for two hundred operations have four fields each, and all of them are of a few types.
template <class Member>
[[gnu::noinline]] ConstAnyView read_view(const Member& member) {
  return is_present(member) ? ConstAnyView(member) : ConstAnyView();
}

template <class Member>
[[gnu::noinline]] Result<void> assign_view(Member& member, const AnyView& view) {
  if constexpr (requires { typename Member::element_type; }) {
    using Element = typename Member::element_type;
    if (is_present(view) && view.dtype() != dtype_of<Element>()) {
      return Error::of(ErrorCode::invalid_argument, "expected a view of ", dtype_of<Element>(), ", found ",
                       view.dtype());
    }
    member = is_present(view) ? Member(view.as<std::remove_const_t<Element>>()) : Member();
  } else {
    member = view;
  }
  return {};
}

template <class Member>
[[gnu::noinline]] Member from_attribute(const AttributeValue& value) {
  return std::visit([](auto number) { return static_cast<Member>(number); }, value);
}

template <KernelContract Op>
const CaseList<Op>& case_list() {
  static const CaseList<Op> list = [] {
    CaseList<Op> made;
    Op::cases(made);
    return made;
  }();
  return list;
}

template <KernelContract Op>
class TypedInvocation final : public Invocation {
 public:
  using Arguments = typename Op::Arguments;
  explicit TypedInvocation(const Arguments& arguments) : arguments_(arguments) {}
  static std::unique_ptr<Invocation> of_case(int index, CaseBuilder& builder) {
    auto made = std::make_unique<TypedInvocation>(Arguments{});
    case_list<Op>().make(index, builder, &made->arguments_);
    return made;
  }

  Result<void> check() const override { return check_arguments<Op>(arguments_); }
  Cost cost() const override { return Op::cost(arguments_); }
  Tolerance tolerance() const override { return Op::tolerance(arguments_); }
  bool accepts(int variant) const override {
    const auto& row = Op::variants()[static_cast<std::size_t>(variant)];
    return row.accepts == nullptr || row.accepts(arguments_);
  }
  bool accepts_alone(int variant) const override {
    const auto& row = Op::variants()[static_cast<std::size_t>(variant)];
    return row.accepts_alone == nullptr ? accepts(variant) : row.accepts_alone(arguments_);
  }
  std::size_t scratch_bytes(int variant, int threads) const override {
    const auto& row = Op::variants()[static_cast<std::size_t>(variant)];
    return row.scratch_bytes == nullptr ? 0 : row.scratch_bytes(arguments_, threads);
  }
  void run(int variant, Context& context) const override {
    Op::variants()[static_cast<std::size_t>(variant)].run(arguments_, context);
  }

  ConstAnyView tensor(int field) const override {
    ConstAnyView view;
    visit_field<Arguments>(field, [&](const auto& which) {
      if constexpr (std::remove_cvref_t<decltype(which)>::is_tensor) {
        view = read_view(arguments_.*which.member);
      }
    });
    return view;
  }
  Result<void> set_tensor(int field, const AnyView& view) override {
    Result<void> assigned;
    visit_field<Arguments>(field, [&](const auto& which) {
      if constexpr (std::remove_cvref_t<decltype(which)>::is_tensor) {
        assigned = assign_view(arguments_.*which.member, view);
      }
    });
    if (assigned.ok()) return {};
    return error_of_field(assigned.error(), Op::name, field_table<Arguments>[static_cast<std::size_t>(field)].name);
  }
  AttributeValue attribute(int field) const override {
    AttributeValue value = false;
    visit_field<Arguments>(field, [&](const auto& which) {
      if constexpr (!std::remove_cvref_t<decltype(which)>::is_tensor) value = attribute_value(arguments_.*which.member);
    });
    return value;
  }
  void set_attribute(int field, const AttributeValue& value) override {
    visit_field<Arguments>(field, [&](const auto& which) {
      using FieldType = std::remove_cvref_t<decltype(which)>;
      if constexpr (!FieldType::is_tensor) {
        arguments_.*which.member = from_attribute<typename FieldType::member_type>(value);
      }
    });
  }
  std::unique_ptr<Invocation> clone() const override { return std::make_unique<TypedInvocation>(arguments_); }

 private:
  Arguments arguments_;
};

}  // namespace describe_detail

template <class Op>
const Operation& describe_operation() {
  static_assert(KernelContract<Op>);
  using Arguments = typename Op::Arguments;
  using Typed = describe_detail::TypedInvocation<Op>;
  static const Operation operation = [] {
    std::vector<VariantInformation> variants;
    for (const Variant<Op>& row : Op::variants()) {
      variants.push_back(variant_information(row.name, row.needs, row.run != nullptr, row.device_function));
    }
    std::span<const InPlace> in_place;
    if constexpr (requires { Op::in_place; }) in_place = Op::in_place;
    return make_operation({
        .name = Op::name,
        .equation = Op::equation,
        .fields = describe_detail::field_table<Arguments>,
        .variants = std::move(variants),
        .in_place = in_place,
        .backward = Op::backward,
        .cases = describe_detail::case_list<Op>(),
        .empty = []() -> std::unique_ptr<Invocation> { return std::make_unique<Typed>(Arguments{}); },
        .build = Typed::of_case,
    });
  }();
  return operation;
}

}  // namespace ingot
