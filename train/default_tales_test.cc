// What the built-in model has learnt: that its tales are tales, its own, and about what was asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "engine/sampler.h"
#include "engine/session.h"
#include "train/record/preset.h"
#include "train/tales/tale_checker.h"
#include "train/tales/tale_writer.h"
#include "train/training_data.h"

namespace ingot {
namespace {

#if defined(INGOT_SANITIZED)
constexpr int samples = 20;  // sanitizers look for other faults; few samples say little about quality
constexpr double slack = 0.15;
#else
constexpr int samples = 200;
constexpr double slack = 0;
#endif

// Continues every prompt at temperature 0.8, all of them at once: one tale a prompt.
std::vector<std::string> told(std::span<const std::string> prompts) {
  const std::shared_ptr<const Model> model = Model::open_default().value();
  const Tokenizer& tokenizer = *model->tokenizer().value();
  constexpr int together = 20;
  const std::unique_ptr<Session> session =
      Session::create(model, {.threads = 2, .context = 256, .sequences = together}).value();
  std::vector<std::string> tales;
  for (std::size_t begin = 0; begin < prompts.size(); begin += together) {
    struct Teller {
      int sequence;
      Sampler sampler;
      std::vector<TokenId> tokens;  // prompt and tale
      std::size_t seen = 0;         // by the model
      bool is_done = false;
    };
    std::vector<Teller> tellers;
    for (std::size_t index = begin; index < std::min(begin + together, prompts.size()); ++index) {
      Sampler sampler = Sampler::create(session->table(), {.temperature = 0.8, .seed = index + 1}).value();
      tellers.push_back(
          {session->sequences().add().value(), std::move(sampler), tokenizer.encode(prompts[index]).value()});
    }
    while (true) {
      std::vector<TokenRun> runs;
      std::vector<Teller*> running;
      for (Teller& teller : tellers) {
        if (teller.is_done) continue;
        runs.push_back({.sequence = teller.sequence, .tokens = std::span(teller.tokens).subspan(teller.seen)});
        running.push_back(&teller);
      }
      if (runs.empty()) break;
      const View<const float> logits = session->forward(runs).value();
      for (std::size_t index = 0; index < running.size(); ++index) {
        Teller& teller = *running[index];
        teller.seen = teller.tokens.size();
        const auto vocabulary = static_cast<std::size_t>(logits.size(1));
        Context context = session->context_for_kernels();
        const TokenId token = teller.sampler.choose({logits.data() + index * vocabulary, vocabulary}, context).value();
        teller.is_done = tokenizer.is_end_of_generation(token) || teller.tokens.size() == 255;
        if (!tokenizer.is_end_of_generation(token)) teller.tokens.push_back(token);
      }
    }
    for (Teller& teller : tellers) {
      tales.push_back(tokenizer.decode(teller.tokens));
      session->sequences().remove(teller.sequence);
    }
  }
  return tales;
}

// Every run of this many words, as a hash.
std::unordered_set<std::uint64_t> runs_of_twelve(std::string_view tale) {
  std::vector<std::uint64_t> words = {0xcbf29ce484222325u};
  for (const char character : tale) {
    if (character == ' ') {
      words.push_back(0xcbf29ce484222325u);
    } else {
      words.back() = (words.back() ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
    }
  }
  std::unordered_set<std::uint64_t> runs;
  for (std::size_t first = 0; first + 12 <= words.size(); ++first) {
    std::uint64_t hash = 0;
    for (std::size_t index = first; index < first + 12; ++index) hash = RandomNumbers(hash ^ words[index]).next();
    runs.insert(hash);
  }
  return runs;
}

TEST(DefaultTales, KeepTheirFactsAndAreTheirOwn) {
  const std::vector<std::string> tales = told(std::vector<std::string>(samples));
  int good = 0;
  for (const std::string& tale : tales) {
    const Result<TaleFacts> facts = check_tale(tale);
    good += facts.ok();
    if (!facts.ok()) std::printf("%s\n", std::string(facts.error().text()).c_str());
  }
  EXPECT_GE(good, samples * (0.95 - slack));

  const TrainingConfiguration configuration = preset_configuration("tales").value();
  ASSERT_EQ(configuration.data.size(), 1u);
  const std::string_view count_text = std::string_view(configuration.data[0]).substr(tales_prefix.size());
  int count = 0;
  std::from_chars(count_text.data(), count_text.data() + count_text.size(), count);
  ASSERT_GT(count, 1000);
  std::unordered_set<std::uint64_t> learnt;
  TaleWriter writer(static_cast<std::uint64_t>(configuration.seed), HeldOut::exclude);
  for (int index = 0; index < count; ++index) learnt.merge(runs_of_twelve(writer.next()));
  int own = 0;
  for (const std::string& tale : tales) {
    own += std::ranges::none_of(runs_of_twelve(tale), [&](std::uint64_t run) { return learnt.contains(run); });
  }
  EXPECT_GE(own, samples * (0.9 - slack));
  std::printf("%d of %d tales are good, %d of them share no 12 words with the training text\n", good, samples, own);
}

TEST(DefaultTales, FollowPromptsThatTrainingNeverSaw) {
  TaleWriter writer(5, HeldOut::only);
  std::vector<std::string> openings;
  for (int index = 0; index < samples / 2; ++index) openings.push_back(writer.next_opening());
  const std::vector<std::string> tales = told(openings);
  int followed = 0;
  for (std::size_t index = 0; index < tales.size(); ++index) {
    ASSERT_TRUE(tales[index].starts_with(openings[index])) << tales[index];
    // A good tale keeps hero, object and home, and the opening has named them.
    const Result<TaleFacts> facts = check_tale(tales[index]);
    followed += facts.ok() && is_held_out(facts.value().hero, facts.value().object, facts.value().home);
  }
  EXPECT_GE(followed, samples / 2 * (0.9 - slack));
  std::printf("%d of %d prompts are followed\n", followed, samples / 2);
}

}  // namespace
}  // namespace ingot
