// Fields: C++20 has no reflection, so an operation lists the members of its Arguments once. Poisoning, mutation,
// gradients, printing and binding are then written over the list instead of per operation.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "tensor/any_view.h"

namespace ingot {

enum class Role : std::uint8_t {
  input,      // read
  weight,     // read; a parameter of the model
  output,     // written, every element
  state,      // read and written: a cache, an optimizer's moments
  saved,      // written by a forward operation for its backward one (rstd, log-sum-exp)
  attribute,  // a number, a flag or an enumerator
};

std::string_view name_of(Role role);

constexpr bool is_written(Role role) { return role == Role::output || role == Role::state || role == Role::saved; }

enum class Presence : std::uint8_t { required, optional };

// An optional tensor that was left out is a default-constructed view.
template <class TensorView>
constexpr bool is_present(const TensorView& view) {
  return view.data() != nullptr || view.rank() > 0;
}

template <class Type>
struct IsTensor : std::false_type {};
template <class Element>
struct IsTensor<View<Element>> : std::true_type {};
template <class Byte>
struct IsTensor<BasicAnyView<Byte>> : std::true_type {};

template <class Arguments, class Member>
struct Field {
  static constexpr bool is_tensor = IsTensor<Member>::value;
  using member_type = Member;
  Member Arguments::* member;
  std::string_view name;
  Role role;
  Presence presence;
};

template <class Arguments, class Member>
constexpr auto input(Member Arguments::* member, std::string_view name) {
  return Field<Arguments, Member>{member, name, Role::input, Presence::required};
}
template <class Arguments, class Member>
constexpr auto optional_input(Member Arguments::* member, std::string_view name) {
  return Field<Arguments, Member>{member, name, Role::input, Presence::optional};
}
template <class Arguments, class Member>
constexpr auto weight(Member Arguments::* member, std::string_view name) {
  return Field<Arguments, Member>{member, name, Role::weight, Presence::required};
}
template <class Arguments, class Member>
constexpr auto optional_weight(Member Arguments::* member, std::string_view name) {
  return Field<Arguments, Member>{member, name, Role::weight, Presence::optional};
}
template <class Arguments, class Member>
constexpr auto output(Member Arguments::* member, std::string_view name) {
  return Field<Arguments, Member>{member, name, Role::output, Presence::required};
}
template <class Arguments, class Member>
constexpr auto optional_output(Member Arguments::* member, std::string_view name) {
  return Field<Arguments, Member>{member, name, Role::output, Presence::optional};
}
template <class Arguments, class Member>
constexpr auto state(Member Arguments::* member, std::string_view name) {
  return Field<Arguments, Member>{member, name, Role::state, Presence::required};
}
template <class Arguments, class Member>
constexpr auto optional_state(Member Arguments::* member, std::string_view name) {
  return Field<Arguments, Member>{member, name, Role::state, Presence::optional};
}
// Saved values are always optional: inference does not ask for them.
template <class Arguments, class Member>
constexpr auto saved(Member Arguments::* member, std::string_view name) {
  return Field<Arguments, Member>{member, name, Role::saved, Presence::optional};
}
template <class Arguments, class Member>
constexpr auto attribute(Member Arguments::* member, std::string_view name) {
  static_assert(std::is_arithmetic_v<Member> || std::is_enum_v<Member>, "an attribute is a number, a flag or an enum");
  return Field<Arguments, Member>{member, name, Role::attribute, Presence::required};
}

template <class... Fields>
constexpr auto field_list(Fields... fields) {
  return std::make_tuple(fields...);
}

}  // namespace ingot
