#include "engine/device_model.h"

#include <gtest/gtest.h>

#include "engine/device_memory.h"
#include "machine/gpu/emulated/device.h"

namespace ingot {
namespace {

std::shared_ptr<EmulatedDevice> device_with(std::size_t bytes) {
  return std::shared_ptr<EmulatedDevice>(EmulatedDevice::create({.memory_bytes = bytes}).value());
}
constexpr std::size_t plenty = std::size_t{1} << 30;

std::size_t used_bytes(Device& device) {
  const DeviceMemoryState state = device.memory_state().value();
  return state.total_bytes - state.free_bytes;
}

std::shared_ptr<const Model> tales() { return Model::open_default().value(); }

SessionOptions short_session() { return {.context = 256, .chunk = 32}; }

constexpr std::int32_t few_tokens[] = {1, 2, 3};

TEST(DeviceModel, AnUploadThatIsEndedGivesItsMemoryBack) {
  const std::shared_ptr<EmulatedDevice> device = device_with(plenty);
  int calls = 0;
  const auto uploaded = DeviceModel::upload(tales(), device,
                                            [&](std::uint64_t done, std::uint64_t bytes) {
                                              EXPECT_LE(done, bytes);
                                              ++calls;
                                              return false;
                                            },
                                            {});
  ASSERT_FALSE(uploaded.ok());
  EXPECT_NE(uploaded.error().text().find("found that it was ended after"), std::string_view::npos);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(used_bytes(*device), 0U);
}

TEST(DeviceMemory, ASessionTakesNoMoreThanItNeeds) {
  const std::shared_ptr<EmulatedDevice> device = device_with(plenty);
  const std::shared_ptr<const Model> model = tales();
  SessionOptions options = short_session();
  const DeviceNeeds needs = Session::needs_on(device->information(), model, options).value();
  EXPECT_EQ(used_bytes(*device), 0U);
  options.device = DeviceModel::upload(model, device).value();
  EXPECT_EQ(used_bytes(*device), needs.weights);
  const std::unique_ptr<Session> session = Session::create(model, options).value();
  ASSERT_TRUE(session->plan_for({.runs = {1}, .outputs = 1}).ok());
  ASSERT_TRUE(session->plan_for({.runs = {32}, .outputs = 1}).ok());
  // A little beside: what passes are told.
  EXPECT_LE(used_bytes(*device), needs.total() + (std::size_t{1} << 20));
}

TEST(DeviceMemory, TooLittleIsToldByPartsAndWithWhatWouldFit) {
  const std::shared_ptr<const Model> model = tales();
  const DeviceNeeds needs = Session::needs_on(device_with(plenty)->information(), model, short_session()).value();
  ASSERT_TRUE(require_device_memory(*device_with(needs.total()), needs).ok());
  const auto text_with = [&](std::size_t bytes) {
    const Result<void> required = require_device_memory(*device_with(bytes), needs);
    return required.ok() ? std::string() : std::string(required.error().text());
  };
  const std::string half = text_with(needs.total() - needs.cache / 2);
  EXPECT_NE(half.find(std::to_string(needs.weights) + " for weights, " + std::to_string(needs.cache) +
                      " for a cache of 256 tokens and " + std::to_string(needs.passes) + " for passes"),
            std::string::npos)
      << half;
  EXPECT_NE(half.find("give a --context of at most 128"), std::string::npos) << half;
  EXPECT_NE(text_with(needs.weights).find("or take smaller weights"), std::string::npos);
}

TEST(DeviceSession, AFaultEndsItAndNobodyElse) {
  const std::shared_ptr<EmulatedDevice> device = device_with(plenty);
  const std::shared_ptr<const Model> model = tales();
  SessionOptions options = short_session();
  const std::unique_ptr<Session> on_host = Session::create(model, options).value();
  options.device = DeviceModel::upload(model, device).value();
  const std::unique_ptr<Session> on_device = Session::create(model, options).value();
  const TokenRun run = {.sequence = 0, .tokens = few_tokens};
  for (Session* session : {on_host.get(), on_device.get()}) ASSERT_TRUE(session->sequences().add().ok());
  device->keep_failure(Error::of(ErrorCode::input_output, "a fault"));
  for (int time = 0; time < 2; ++time) {
    const auto failed = on_device->forward(run);
    ASSERT_FALSE(failed.ok());
    EXPECT_NE(failed.error().text().find("a fault"), std::string_view::npos);
  }
  EXPECT_TRUE(on_host->forward(run).ok());
}

}  // namespace
}  // namespace ingot
