// The tiny models of tests/goldens, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
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

// Of all that another implementation answered for.
inline std::vector<std::string> golden_names() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder(""))) {
    if (std::filesystem::exists(entry.path() / "golden.safetensors")) found.push_back(entry.path().filename());
  }
  std::sort(found.begin(), found.end());
  return found;
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
