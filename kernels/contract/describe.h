// Makes the type-erased descriptor of an operation. Included only by the source that holds the operation's table, which
// ends with: template const Operation& ingot::describe_operation<RmsNorm>();
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/contract/operation.h"
#include "kernels/contract/run.h"

namespace ingot {
namespace describe_detail {

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

template <class Member>
Result<void> assign_view(Member& member, const AnyView& view) {
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
AttributeValue to_attribute(Member value) {
  if constexpr (std::is_same_v<Member, bool>)
    return value;
  else if constexpr (std::is_floating_point_v<Member>)
    return static_cast<double>(value);
  else
    return static_cast<std::int64_t>(value);
}

template <class Member>
Member from_attribute(const AttributeValue& value) {
  return std::visit([](auto number) { return static_cast<Member>(number); }, value);
}

template <KernelContract Op>
class TypedInvocation final : public Invocation {
 public:
  using Arguments = typename Op::Arguments;
  explicit TypedInvocation(const Arguments& arguments) : arguments_(arguments) {}

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
        const auto& member = arguments_.*which.member;
        if (is_present(member)) view = ConstAnyView(member);
      }
    });
    return view;
  }
  Result<void> set_tensor(int field, const AnyView& view) override {
    Result<void> result;
    visit_field<Arguments>(field, [&](const auto& which) {
      if constexpr (std::remove_cvref_t<decltype(which)>::is_tensor) {
        Result<void> assigned = assign_view(arguments_.*which.member, view);
        if (!assigned.ok()) result = assigned.error().within(Op::name, " field ", which.name);
      }
    });
    return result;
  }
  AttributeValue attribute(int field) const override {
    AttributeValue value = false;
    visit_field<Arguments>(field, [&](const auto& which) {
      if constexpr (!std::remove_cvref_t<decltype(which)>::is_tensor) value = to_attribute(arguments_.*which.member);
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

template <KernelContract Op>
const CaseList<Op>& case_list() {
  static const CaseList<Op> list = [] {
    CaseList<Op> made;
    Op::cases(made);
    return made;
  }();
  return list;
}

}  // namespace describe_detail

template <class Op>
const Operation& describe_operation() {
  static_assert(KernelContract<Op>);
  using Arguments = typename Op::Arguments;
  static const Operation operation = [] {
    Operation made;
    made.name = Op::name;
    made.equation = Op::equation;
    std::apply(
        [&](const auto&... field) {
          (made.fields.push_back(
               {field.name, field.role, field.presence, std::remove_cvref_t<decltype(field)>::is_tensor}),
           ...);
        },
        Arguments::fields());
    for (const auto& row : Op::variants()) made.variants.push_back({row.name, row.needs, row.run != nullptr});
    if constexpr (requires { Op::in_place; }) made.in_place.assign(Op::in_place.begin(), Op::in_place.end());
    for (std::string_view backward : Backward(Op::backward).operations) {
      if (!backward.empty()) made.backward.push_back(backward);
    }
    made.no_backward = Backward(Op::backward).reason;
    for (const auto& one : describe_detail::case_list<Op>().cases()) made.cases.push_back(one.information);
    made.excluded_regimes = describe_detail::case_list<Op>().excluded();
    made.empty = []() -> std::unique_ptr<Invocation> {
      return std::make_unique<describe_detail::TypedInvocation<Op>>(Arguments{});
    };
    made.build = [](int case_index, CaseBuilder& builder) -> std::unique_ptr<Invocation> {
      const auto& one = describe_detail::case_list<Op>().cases()[static_cast<std::size_t>(case_index)];
      return std::make_unique<describe_detail::TypedInvocation<Op>>(one.build(builder));
    };
    return made;
  }();
  return operation;
}

}  // namespace ingot
