// The tiny models of tests/goldens, for tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/session.h"

// The build says where the sources lie; without it this header compiles all the same.
#ifndef INGOT_SOURCE_DIR
#define INGOT_SOURCE_DIR "."
#endif

namespace ingot {

inline std::filesystem::path golden_folder(const std::string& name) {
  return std::filesystem::path(INGOT_SOURCE_DIR) / "tests" / "goldens" / name;
}

inline std::unique_ptr<Session> golden_session(const std::string& name, SessionOptions options = {}) {
  options.cache = DType::f32;
  Result<std::shared_ptr<const Model>> model = Model::open(golden_folder(name));
  if (!model.ok()) {
    ADD_FAILURE() << model.error().text();
    return nullptr;
  }
  Result<std::unique_ptr<Session>> session = Session::create(model.value(), options);
  if (session.ok()) return std::move(session).value();
  ADD_FAILURE() << session.error().text();
  return nullptr;
}

}  // namespace ingot
