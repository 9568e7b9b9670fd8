// Passes that find no memory.
#include <gtest/gtest.h>

#include <utility>

#include "base/random.h"
#include "engine/golden_model.h"
#include "engine/service_fixture.h"

namespace ingot {
namespace {

class ServiceMemoryTest : public ServiceTest {
 protected:
  // Takes so many pages away, whatever was promised.
  void take_pages(std::int64_t pages) {
    SequenceMemory& sequences = session_->sequences();
    taken_ = sequences.add().value();
    ASSERT_TRUE(sequences.reserve(taken_, pages * small_page).ok());
  }
  void give_pages_back() { session_->sequences().remove(taken_); }

  TextRequest long_request() const {
    TextRequest asked = request(openings[0], 8);
    while (asked.prompt.size() < 70) asked.prompt.push_back(asked.prompt[asked.prompt.size() - 9]);
    asked.ignores_end = true;
    return asked;
  }

  // Has read 16 tokens, and has room for 24 more.
  HeardListener read_a_little(const TextRequest& asked) {
    serve(2, 12, {.pass_seconds = 1000});
    const HeardListener heard = std::make_shared<Heard>();
    submit(asked, heard);
    service_->step();
    EXPECT_EQ(service_->counts().prompt_rows, 16);
    take_pages(7);
    return heard;
  }

  SessionOptions options(int sequences, std::int64_t pages) const override {
    SessionOptions options = ServiceTest::options(sequences, pages);
    options.deterministic = is_deterministic_;
    return options;
  }

  bool is_deterministic_ = false;
  int taken_ = 0;
};

TEST_F(ServiceMemoryTest, APassThatFindsNoMemoryIsTriedAgainWithFewerRows) {
  const TextRequest asked = long_request();
  const std::string expected = alone(asked);
  const HeardListener heard = read_a_little(asked);
  std::vector<std::int64_t> rows;
  for (int pass = 0; pass < 3; ++pass) {
    service_->step();
    rows.push_back(service_->counts().prompt_rows);
  }
  EXPECT_EQ(rows, (std::vector<std::int64_t>{16, 16, 32}));  // of 54 rows, of 27, and of 16
  give_pages_back();
  run_all();
  EXPECT_EQ(heard->ended, GenerationEnd::token_limit) << heard->reason;
  EXPECT_EQ(heard->text, expected);
}

TEST_F(ServiceMemoryTest, WhereTheLeastPassFindsNoMemoryTheYoungestIsTold) {
  const HeardListener heard = read_a_little(long_request());
  for (int pass = 0; !heard->ended; ++pass) {
    service_->step();
    ASSERT_LT(pass, 20);
  }
  EXPECT_EQ(heard->ended, GenerationEnd::failed);
  EXPECT_NE(heard->reason.find("in a pass of 16 rows, which cannot have fewer"), std::string::npos) << heard->reason;
  give_pages_back();
  run_all();
}

// A pass that goes through token by token, and ends half way: what it had computed is computed again.
TEST_F(ServiceMemoryTest, WhoHasComeHalfWayBeginsAgain) {
  model_ = Model::open(golden_folder("mamba")).value();
  is_deterministic_ = true;
  RandomNumbers random(5);
  std::vector<TextRequest> requests(2);
  std::vector<HeardListener> expected, heard;
  for (TextRequest& asked : requests) {
    asked.most_tokens = 6;
    asked.ignores_end = true;
    while (asked.prompt.size() < 20) asked.prompt.push_back(static_cast<std::int32_t>(random.below(100)));
    serve(1);
    submit(asked, expected.emplace_back(std::make_shared<Heard>()));
    run_all();
  }
  serve(3, 12, {.pass_seconds = 1000});
  for (const TextRequest& asked : requests) submit(asked, heard.emplace_back(std::make_shared<Heard>()));
  service_->step();
  ASSERT_EQ(service_->counts().running, 1);
  bool is_armed = true;
  session_->observe([&](std::size_t) {
    if (std::exchange(is_armed, false)) take_pages(session_->sequences().whole().free_pages());
  });
  service_->step();
  session_->observe(nullptr);
  EXPECT_EQ(service_->counts().preemptions, 2);
  give_pages_back();
  run_all();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(heard[i]->ended, GenerationEnd::token_limit) << heard[i]->reason;
    EXPECT_EQ(heard[i]->tokens, expected[i]->tokens);
  }
}

}  // namespace
}  // namespace ingot
