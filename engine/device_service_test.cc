// A service on a device, which is emulated here: passes begin before anybody is told what the one before them chose.
#include <gtest/gtest.h>

#include "engine/service_fixture.h"

namespace ingot {
namespace {

class DeviceServiceTest : public ServiceTest {
 protected:
  SessionOptions options(int sequences, std::int64_t pages) const override {
    SessionOptions asked = ServiceTest::options(sequences, pages);
    asked.device = there_;
    return asked;
  }
  // With an end that nobody foresees.
  TextRequest stopped(std::string_view prompt, std::int64_t tokens, std::string stop) const {
    TextRequest asked = request(prompt, tokens);
    asked.stops = {std::move(stop)};
    return asked;
  }

  std::shared_ptr<const DeviceModel> there_ =
      DeviceModel::upload(model_, std::move(open_device("emulated")).value()).value();
};

TEST_F(DeviceServiceTest, PassesAheadTellEachWhatItIsToldAlone) {
  std::vector<TextRequest> requests;
  for (std::size_t i = 0; i < 4; ++i) {
    requests.push_back(request(openings[i], 12 + 10 * static_cast<std::int64_t>(i)));
    if (i == 1) requests.back().sampling = {.temperature = 0.8, .top_k = 40, .top_p = 0.95, .seed = 9};
  }
  std::vector<std::string> expected;
  for (const TextRequest& asked : requests) expected.push_back(alone(asked));
  requests.push_back(stopped(openings[2], 24, expected[2].substr(expected[2].size() / 2, 3)));
  expected.push_back(alone(requests.back()));
  EXPECT_LT(expected.back().size(), expected[2].size());
  // All at once, in turns, and with so few pages that some have to go and come again.
  for (const auto& [sequences, pages] : std::vector<std::pair<int, std::int64_t>>{{5, 0}, {2, 0}, {5, 12}}) {
    serve(sequences, pages);
    std::vector<HeardListener> listeners;
    for (const TextRequest& asked : requests) {
      submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
      if (pages == 0) service_->step();
    }
    run_all();
    EXPECT_EQ(session_->passes_under_way(), 0);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(listeners[i]->text, expected[i]) << "request " << i << " of " << sequences << " at once";
    }
    EXPECT_EQ(pages > 0, service_->counts().preemptions > 0);
  }
}

TEST_F(DeviceServiceTest, OfTokensThatNobodyAskedForThereIsOnePassAtMost) {
  serve(2);
  const HeardListener counted = std::make_shared<Heard>();
  submit(request(openings[0], 6), counted);
  run_all();
  EXPECT_EQ(counted->counts.generated, 6);
  EXPECT_EQ(service_->counts().decoding_rows, 5);  // the first token is the prompt's
  const std::string word = counted->text.substr(0, 2);
  const HeardListener unforeseen = std::make_shared<Heard>();
  submit(stopped(openings[0], 6, word), unforeseen);
  run_all();
  EXPECT_EQ(unforeseen->ended, GenerationEnd::stop);
  EXPECT_LE(service_->counts().decoding_rows, 5 + unforeseen->counts.generated + 1);
}

TEST_F(DeviceServiceTest, WhoeverGoesWhileAPassIsUnderWayLeavesTheOthersAlone) {
  const TextRequest asked = request(openings[1], 12);
  const std::string expected = alone(asked);
  serve(2);
  const HeardListener stays = std::make_shared<Heard>(), goes = std::make_shared<Heard>();
  submit(asked, stays);
  const std::int64_t number = submit(request(openings[3], 30), goes);
  for (int pass = 0; pass < 3; ++pass) service_->step();
  EXPECT_EQ(session_->passes_under_way(), 1);
  service_->cancel(number);
  run_all();
  EXPECT_EQ(goes->ended, GenerationEnd::cancelled);
  EXPECT_EQ(stays->text, expected);
}

TEST_F(DeviceServiceTest, WhoeverPausesGetsNoTokenMoreThanIsUnderWay) {
  serve(2);
  const HeardListener heard = std::make_shared<Heard>();
  const std::int64_t number = submit(request(openings[1], 12), heard);
  for (int pass = 0; pass < 3; ++pass) service_->step();
  const auto told = std::ssize(heard->tokens);
  service_->pause(number);
  while (service_->step()) continue;
  EXPECT_LE(std::ssize(heard->tokens), told + 1);
  service_->resume(number);
  run_all();
  EXPECT_EQ(heard->counts.generated, 12);
}

TEST_F(DeviceServiceTest, LeavesNoPassBehind) {
  const TextRequest asked = request(openings[0], 12);
  const std::string expected = alone(asked);
  serve(2);
  const HeardListener cancelled = std::make_shared<Heard>(), heard = std::make_shared<Heard>();
  submit(asked, cancelled);
  for (int pass = 0; pass < 3; ++pass) service_->step();
  EXPECT_EQ(session_->passes_under_way(), 1);
  service_ = Service::create(*session_, tokenizer(), bell_).value();
  EXPECT_EQ(cancelled->ended, GenerationEnd::cancelled);
  submit(asked, heard);
  run_all();
  EXPECT_EQ(heard->text, expected);
}

}  // namespace
}  // namespace ingot
