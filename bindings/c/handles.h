// Handles: what the C interface gives out in the place of addresses. A handle is a number that is given out once and
// looked up at each call, so a null, closed, foreign or invented one is found out before anything is touched; whoever
// is inside a call keeps what it uses until it returns, also where another thread closes it.
//
// The one table of the library that is not passed (docs/decisions/040-a-library.md): C has nowhere to pass it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "bindings/c/ingot.h"
#include "bindings/c/session_user.h"
#include "engine/model.h"

namespace ingot::c {

enum class Kind : std::uint8_t { model = 1, session, sampler, text };

// What stands behind a handle, for each type of handle.
template <class Handle>
struct Behind;
template <>
struct Behind<ingot_model> {
  using Object = const Model;
  static constexpr Kind kind = Kind::model;
};
template <>
struct Behind<ingot_session> {
  using Object = SharedSession;
  static constexpr Kind kind = Kind::session;
};
template <>
struct Behind<ingot_sampler> {
  using Object = SharedSampler;
  static constexpr Kind kind = Kind::sampler;
};
template <>
struct Behind<ingot_text> {
  using Object = const std::string;
  static constexpr Kind kind = Kind::text;
};

namespace table {
void* add(Kind kind, std::shared_ptr<void> object);
std::shared_ptr<void> find(Kind kind, const void* handle);
std::shared_ptr<void> remove(Kind kind, const void* handle);
}  // namespace table

template <class Handle>
using ObjectOf = typename Behind<Handle>::Object;

template <class Handle>
Handle* give_out(std::shared_ptr<ObjectOf<Handle>> object) {
  auto plain = std::const_pointer_cast<std::remove_const_t<ObjectOf<Handle>>>(std::move(object));
  return static_cast<Handle*>(table::add(Behind<Handle>::kind, std::move(plain)));
}

// Null where the handle is none.
template <class Handle>
std::shared_ptr<ObjectOf<Handle>> find(const Handle* handle) {
  return std::static_pointer_cast<ObjectOf<Handle>>(table::find(Behind<Handle>::kind, handle));
}

template <class Handle>
std::shared_ptr<ObjectOf<Handle>> take_back(const Handle* handle) {
  return std::static_pointer_cast<ObjectOf<Handle>>(table::remove(Behind<Handle>::kind, handle));
}

}  // namespace ingot::c
