// Texts that go through one session together, for tests that neighbours never show: what a sequence yields is the same
// to the bit alone and among others, however its tokens are divided into passes, whether its pages were computed for it
// or found, and computed again after it was dropped.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/random.h"
#include "engine/session.h"

namespace ingot::mixed_texts {

using Tokens = std::vector<std::int32_t>;
using Rows = std::vector<std::vector<float>>;  // logits behind each token

// As long as texts are, where a model has so many positions. Sanitizers look for other faults.
#if defined(INGOT_SANITIZED)
inline constexpr std::int64_t longest_text = 40;
#else
inline constexpr std::int64_t longest_text = 80;
#endif
inline std::int64_t context_of(const Model& model) { return std::min(model.facts().context, longest_text); }
inline constexpr std::int64_t page = 8;

struct MixOptions {
  int threads = 1;
  std::int64_t chunk = 64;
  std::int64_t pages = 0;
  bool finds_pages = false;
  DType cache = DType::f16;
  std::shared_ptr<const DeviceModel> device = nullptr;
};

// A GPU's rows never look at their neighbours; those of a CPU, whoever's it is, do where that is faster.
inline bool is_so_of_itself(const DeviceModel* device) {
  return device != nullptr && device->host_layers() == 0 && !device->device().information().takes_calls;
}

inline std::unique_ptr<Session> session_of(const std::shared_ptr<const Model>& model, int sequences,
                                           const MixOptions& mix) {
  Result<std::unique_ptr<Session>> session =
      Session::create(model, {.threads = mix.threads,
                              .cache = mix.cache,
                              .context = context_of(*model),
                              .sequences = sequences,
                              .pages = mix.pages,
                              .page_length = page,
                              .chunk = mix.chunk,
                              .deterministic = !is_so_of_itself(mix.device.get()),
                              .device = mix.device});
  EXPECT_TRUE(session.ok()) << session.error().text();
  return session.ok() ? std::move(session).value() : nullptr;
}

inline std::vector<float> row_of(const View<const float>& logits, std::int64_t row) {
  return {logits.data() + row * logits.size(1), logits.data() + (row + 1) * logits.size(1)};
}

// All logits of a text that nobody else is computed with.
inline Rows alone(const std::shared_ptr<const Model>& model, const Tokens& text, const MixOptions& mix) {
  const std::unique_ptr<Session> session = session_of(model, 1, mix);
  const int sequence = session->sequences().add().value();
  const View<const float> logits = session->forward({sequence, text, Wanted::all}).value();
  Rows rows;
  for (std::int64_t row = 0; row < logits.size(0); ++row) rows.push_back(row_of(logits, row));
  return rows;
}

// Texts through one session in passes of random runs, in random order; some are dropped on the way and begin again.
class Mix {
 public:
  Mix(Session& session, const std::vector<Tokens>& texts, const std::vector<Rows>& expected, const MixOptions& options,
      std::uint64_t seed)
      : session_(session),
        texts_(texts),
        expected_(expected),
        options_(options),
        random_(seed),
        sequence_(texts.size(), -1) {}

  void run() {
    for (int pass = 0; pass < 4000 && !testing::Test::HasFailure(); ++pass) {
      std::vector<std::size_t> order;
      for (std::size_t text = 0; text < texts_.size(); ++text) {
        if (!is_done(text) && random_.below(3) > 0) order.push_back(text);
      }
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
      if (std::ranges::all_of(indices(), [&](std::size_t text) { return is_done(text); })) return;
      if (!order.empty()) compute(order);
    }
    if (!testing::Test::HasFailure()) ADD_FAILURE() << "expected all texts to end, found that some did not";
  }

 private:
  std::vector<std::size_t> indices() const {
    std::vector<std::size_t> all(texts_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }
  bool is_done(std::size_t text) const { return done_.contains(text); }

  void compute(const std::vector<std::size_t>& order) {
    std::vector<TokenRun> runs;
    std::vector<std::size_t> of_runs;
    std::int64_t room = options_.chunk;
    for (const std::size_t text : order) {
      if (room == 0 || !start(text)) continue;
      const auto begin = static_cast<std::size_t>(session_.sequences().length(sequence_[text]));
      const auto left = static_cast<std::int64_t>(texts_[text].size() - begin);
      const std::int64_t most = random_.below(2) == 0 ? 1 : std::min(left, room);
      const auto count = 1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(std::min(most, left))));
      if (!session_.sequences().reserve(sequence_[text], count).ok()) {
        drop(text);
        continue;
      }
      runs.push_back({sequence_[text], std::span(texts_[text]).subspan(begin, static_cast<std::size_t>(count)),
                      random_.below(2) == 0 ? Wanted::all : Wanted::last});
      of_runs.push_back(text);
      room -= count;
    }
    if (runs.empty()) return;
    const Result<View<const float>> logits = session_.forward(runs);
    ASSERT_TRUE(logits.ok()) << logits.error().text();
    std::int64_t row = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto end = static_cast<std::size_t>(session_.sequences().length(runs[i].sequence));
      const std::size_t rows = runs[i].wanted == Wanted::all ? runs[i].tokens.size() : 1;
      for (std::size_t at = end - rows; at < end; ++at, ++row) {
        const std::vector<float> found = row_of(logits.value(), row);
        const std::vector<float>& wanted = expected_[of_runs[i]][at];
        ASSERT_EQ(std::memcmp(found.data(), wanted.data(), wanted.size() * sizeof(float)), 0)
            << "text " << of_runs[i] << ", token " << at << " in a pass of " << runs.size() << " runs";
      }
      finish(of_runs[i]);
    }
  }

  bool start(std::size_t text) {
    if (sequence_[text] >= 0) return true;
    const Result<int> added =
        options_.finds_pages && session_.sequences().shares_texts()
            ? session_.sequences().add_beginning(0, std::span(texts_[text]).first(texts_[text].size() - 1))
            : session_.sequences().add();
    if (!added.ok()) return false;
    sequence_[text] = added.value();
    return true;
  }
  // What it has computed stays known, where that is asked for.
  void drop(std::size_t text) {
    publish(text);
    session_.sequences().remove(sequence_[text]);
    sequence_[text] = -1;
  }
  void finish(std::size_t text) {
    const auto length = static_cast<std::size_t>(session_.sequences().length(sequence_[text]));
    const bool is_whole = length == texts_[text].size();
    if (is_whole) done_[text] = true;
    if (is_whole || random_.below(24) == 0) drop(text);
  }
  void publish(std::size_t text) {
    if (!options_.finds_pages || !session_.sequences().shares_texts()) return;
    const auto length = static_cast<std::size_t>(session_.sequences().length(sequence_[text]));
    session_.sequences().publish(sequence_[text], 0, std::span(texts_[text]).first(length));
  }

  Session& session_;
  const std::vector<Tokens>& texts_;
  const std::vector<Rows>& expected_;
  const MixOptions options_;
  RandomNumbers random_;
  std::vector<int> sequence_;
  std::map<std::size_t, bool> done_;
};

inline void expect_mixes(const std::shared_ptr<const Model>& model, int mixes, DType cache,
                         const std::shared_ptr<const DeviceModel>& device = nullptr) {
  constexpr std::size_t count = 6;
  RandomNumbers random(5);
  const auto vocabulary = static_cast<std::uint64_t>(model->facts().vocabulary);
  std::vector<Tokens> texts(count);
  for (std::size_t text = 0; text < count; ++text) {
    // Some begin as others do.
    const std::size_t length = 5 + random.below(static_cast<std::uint64_t>(context_of(*model)) - 4);
    if (text >= 4)
      texts[text].assign(texts[0].begin(),
                         texts[0].begin() + static_cast<std::ptrdiff_t>(std::min(texts[0].size(), length / 2)));
    while (texts[text].size() < length) texts[text].push_back(static_cast<std::int32_t>(random.below(vocabulary)));
  }
  std::vector<Rows> expected;
  for (const Tokens& text : texts)
    expected.push_back(alone(model, text, {.chunk = 100, .cache = cache, .device = device}));
  for (int mix = 0; mix < mixes && !testing::Test::HasFailure(); ++mix) {
    constexpr std::int64_t chunks[] = {16, 33, 64, 128};
    const MixOptions options = {.threads = 1 + mix % 3,
                                .chunk = chunks[mix / 3 % 4],
                                .pages = mix % 2 == 0 ? 0 : 22,
                                .finds_pages = mix % 4 >= 2,
                                .cache = cache,
                                .device = device};
    const std::unique_ptr<Session> session = session_of(model, static_cast<int>(count), options);
    Mix(*session, texts, expected, options, static_cast<std::uint64_t>(mix)).run();
  }
}

}  // namespace ingot::mixed_texts
