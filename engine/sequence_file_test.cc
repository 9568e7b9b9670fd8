// A sequence that was written and read again goes on as if it had not been: with the same logits, to the bit.
#include "engine/sequence_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/random.h"
#include "engine/golden_model.h"
#include "engine/session_guards.h"

namespace ingot {
namespace {

class SequenceFileTest : public testing::TestWithParam<std::string> {
 protected:
  // Pages that are soon full, and rings that wrap.
  static constexpr std::int64_t page_length = 4, chunk = 6, context = 64;

  ~SequenceFileTest() override { std::filesystem::remove(path_); }
  static std::unique_ptr<Session> session(const std::string& model, SessionOptions options = {}) {
    options.context = context;
    options.sequences = 2;
    options.page_length = page_length;
    options.chunk = chunk;
    return golden_session(model, options);
  }
  std::vector<std::int32_t> tokens(Session& of, std::int64_t count) {
    std::vector<std::int32_t> drawn;
    for (std::int64_t index = 0; index < count; ++index) {
      drawn.push_back(
          static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(of.model().facts().vocabulary))));
    }
    return drawn;
  }
  static std::vector<float> forward(Session& session, int sequence, std::span<const std::int32_t> tokens) {
    const View<const float> logits = session.forward({sequence, tokens, Wanted::last}).value();
    return {logits.data(), logits.data() + logits.size(1)};
  }
  // One that holds so many tokens.
  int begin(Session& session, std::span<const std::int32_t> tokens) {
    const int sequence = session.sequences().add().value();
    forward(session, sequence, tokens);
    return sequence;
  }
  // Into a sequence of its own, which is removed again.
  Result<std::vector<std::int32_t>> read(Session& session) const {
    OwnSequences own(session);
    const int sequence = TRY(own.add());
    Result<std::vector<std::int32_t>> found = read_sequence(session, sequence, path_);
    EXPECT_TRUE(found.ok() || session.sequences().length(sequence) == 0);
    return found;
  }
  std::string refused(Session& session) const {
    const Result<std::vector<std::int32_t>> found = read(session);
    return found.ok() ? "" : std::string(found.error().text());
  }
  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& content) const { std::ofstream(path_, std::ios::binary) << content; }

  const std::string path_ = testing::TempDir() + "sequence_" + std::to_string(::getpid());
  RandomNumbers random_{42};
};

TEST_P(SequenceFileTest, GoesOnAsIfItHadNotBeenWritten) {
  const auto first = session(GetParam()), second = session(GetParam());
  for (const std::int64_t length : {1, 4, 7, 23, 40}) {
    std::vector<std::int32_t> all = tokens(*first, length + 1);
    const int sequence = begin(*first, std::span(all).first(static_cast<std::size_t>(length)));
    ASSERT_TRUE(write_sequence(*first, sequence, all, path_).ok());
    const int again = second->sequences().add().value();
    const Result<std::vector<std::int32_t>> found = read_sequence(*second, again, path_);
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(found.value(), all);
    EXPECT_EQ(second->sequences().length(again), length);
    EXPECT_FALSE(read_sequence(*second, again, path_).ok());  // it is not empty any more
    for (int step = 0; step < 12; ++step) {
      const std::span<const std::int32_t> next(&all.back(), 1);
      ASSERT_EQ(forward(*first, sequence, next), forward(*second, again, next)) << length << " " << step;
      all = tokens(*first, 1);
    }
    first->sequences().remove(sequence);
    second->sequences().remove(again);
  }
}

TEST_P(SequenceFileTest, IsRefusedWhereAnyByteOfItChanged) {
  const auto mine = session(GetParam());
  const std::vector<std::int32_t> all = tokens(*mine, 9);
  ASSERT_TRUE(write_sequence(*mine, begin(*mine, all), all, path_).ok());
  const std::string whole = content();
  for (int round = 0; round < 200; ++round) {
    std::string changed = whole;
    if (round % 4 == 0) {
      changed.resize(random_.below(whole.size()));
    } else {
      const std::size_t at = random_.below(round % 4 == 1 ? 600 : whole.size());
      changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 + random_.below(255)));
    }
    replace(changed);
    const Result<std::vector<std::int32_t>> found = read(*mine);
    // A white space of the header more or less says the same.
    if (found.ok()) {
      EXPECT_EQ(found.value(), all);
    } else {
      EXPECT_NE(found.error().text().find("sequence_"), std::string_view::npos) << found.error().text();
    }
  }
  replace(whole);
  EXPECT_EQ(refused(*mine), "");  // nothing was left behind by those that were refused
}

INSTANTIATE_TEST_SUITE_P(Models, SequenceFileTest, testing::Values("llama", "gemma2", "mamba2", "qwen3_next"),
                         [](const auto& parameter) { return parameter.param; });

TEST_F(SequenceFileTest, IsOfOneModelAndOneWayToKeepIt) {
  const auto mine = session("llama");
  const std::vector<std::int32_t> all = tokens(*mine, 9);
  const int sequence = begin(*mine, all);
  ASSERT_TRUE(write_sequence(*mine, sequence, all, path_).ok());
  EXPECT_NE(refused(*session("qwen3")).find("a sequence of this model"), std::string::npos);
  SessionOptions options{.context = context, .page_length = 8};
  EXPECT_NE(refused(*golden_session("llama", options)).find("as this session keeps them"), std::string::npos);
  options = {.context = 8, .page_length = page_length};
  EXPECT_NE(refused(*golden_session("llama", options)).find("context"), std::string::npos);
  EXPECT_FALSE(write_sequence(*mine, sequence, std::span(all).first(8), path_).ok());
  std::vector<std::int32_t> foreign = all;
  foreign.back() = static_cast<std::int32_t>(mine->model().facts().vocabulary);
  EXPECT_FALSE(write_sequence(*mine, sequence, foreign, path_).ok());  // nobody could read it
  std::filesystem::remove(path_);
  EXPECT_NE(refused(*mine), "");
}

}  // namespace
}  // namespace ingot
