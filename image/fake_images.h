// Images for tests of booting, and the emulator's words for them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "image/cast.h"
#include "image/emulator.h"
#include "image/fake_files.h"

namespace ingot::image {

inline CastRequest small_request(const TestFolder& folder) {
  CastRequest request;
  request.kernels = {folder.put("kernel", fake_kernel())};
  request.output = folder.path("an,image");
  request.program = "/program";
  EXPECT_TRUE(request.root.put_file("/program", 0755, Content::of_bytes(fake_program())).ok());
  request.machine_memory = 200 << 20;
  request.machine_cpus = 3;
  return request;
}

inline std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\n';
  return text;
}

// What is wrong with the request, where something is.
inline std::string words_of(const BootRequest& request, const EmulatorHost& host = {}) {
  const Result<EmulatorPlan> plan = plan_boot(request);
  if (!plan.ok()) return std::string(plan.error().text());
  return joined(emulator_words(request, plan.value(), host).value());
}

}  // namespace ingot::image
