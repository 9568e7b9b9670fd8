// Requests with different adapters in one service: each says what it says alone, and none finds what another set
// computed.
#include <gtest/gtest.h>

#include "engine/random_adapter.h"
#include "engine/service_fixture.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

class ServiceAdaptersTest : public ServiceTest {
 protected:
  ServiceAdaptersTest() {
    for (const unsigned seed : {1u, 2u}) {
      const std::string path = folder_.file(std::to_string(seed) + ".gguf");
      const RandomAdapter adapter(*model_, {"attn_q.weight", "attn_v.weight", "ffn_down.weight"}, 3, seed, 3);
      EXPECT_TRUE(adapter.write(path).ok());
      adapters_.push_back(Adapter::open(path, *model_).value());
    }
  }

  SessionOptions options(int sequences, std::int64_t pages) const override {
    SessionOptions options = ServiceTest::options(sequences, pages);
    options.adapters = adapters_;
    return options;
  }

  TextRequest request_with(std::string_view prompt, std::int64_t tokens, AdapterScales adapters) const {
    TextRequest asked = request(prompt, tokens);
    asked.adapters = std::move(adapters);
    return asked;
  }

  TemporaryFolder folder_;
  std::vector<std::shared_ptr<const Adapter>> adapters_;
};

TEST_F(ServiceAdaptersTest, EachSaysWhatItSaysAlone) {
  const std::vector<AdapterScales> sets = {{}, {1}, {0, 1}, {0.5f, -1}};
  std::vector<TextRequest> asked;
  for (const std::string_view opening : openings) {
    for (const AdapterScales& set : sets) asked.push_back(request_with(opening, 20, set));
  }
  std::vector<std::vector<std::int32_t>> alone;
  for (const TextRequest& one : asked) {
    const auto listener = std::make_shared<Heard>();
    serve(1);
    submit(one, listener);
    run_all();
    alone.push_back(listener->tokens);
  }
  EXPECT_NE(alone[0], alone[1]) << "the adapter says something";
  EXPECT_NE(alone[1], alone[2]);
  // With pages for a few of them, some have to give theirs back.
  serve(8, 16);
  std::vector<HeardListener> listeners;
  for (const TextRequest& one : asked) submit(one, listeners.emplace_back(std::make_shared<Heard>()));
  run_all();
  for (std::size_t index = 0; index < asked.size(); ++index) EXPECT_EQ(listeners[index]->tokens, alone[index]) << index;
  EXPECT_GT(service_->counts().preemptions, 0);
}

TEST_F(ServiceAdaptersTest, BeginningsAreSharedWithinASetAlone) {
  serve(2);
  const std::string_view prompt = openings[4];
  const auto cached = [&](AdapterScales set) {
    const auto listener = std::make_shared<Heard>();
    submit(request_with(prompt, 2, std::move(set)), listener);
    run_all();
    return listener->counts.cached;
  };
  EXPECT_EQ(cached({}), 0);
  EXPECT_EQ(cached({1}), 0);
  EXPECT_EQ(cached({0.5f}), 0);
  EXPECT_EQ(cached({0, 1}), 0);
  EXPECT_GT(cached({1}), 0);
  EXPECT_GT(cached({0}), 0) << "no adapter counts";
}

TEST_F(ServiceAdaptersTest, ARequestForAnAdapterThatIsNotThereIsRefused) {
  serve(1);
  const Result<std::int64_t> number = service_->submit(request_with("One", 2, {0, 0, 1}), std::make_shared<Heard>());
  ASSERT_FALSE(number.ok());
  EXPECT_EQ(number.error().code(), ErrorCode::out_of_range);
}

}  // namespace
}  // namespace ingot
