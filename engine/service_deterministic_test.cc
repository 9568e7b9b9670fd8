// Serving deterministically: whoever else is served, in whatever passes, whether pages are found, missing or taken
// away, a request is told what it is told alone, to the bit: tokens, text and probabilities.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/random.h"
#include "convert/quantizer.h"
#include "engine/golden_model.h"
#include "engine/random_model.h"
#include "engine/service_fixture.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

// Ten models are served.
#if defined(INGOT_SANITIZED)
constexpr std::size_t requests_of_a_model = 20;  // sanitizers look for other faults
#else
constexpr std::size_t requests_of_a_model = 50;
#endif

constexpr std::uint64_t longest_prompt = 30;
constexpr std::uint64_t longest_answer = 30;
constexpr std::int64_t short_page = 4;  // answers grow by several
constexpr std::int64_t few_pages = 20;  // for one such text and a little more

// All that was told of one token.
using TokenBits = std::vector<std::uint32_t>;

TokenBits bits_of(std::int32_t token, const TokenScore& score) {
  TokenBits bits = {static_cast<std::uint32_t>(token), std::bit_cast<std::uint32_t>(score.log_probability)};
  for (const TokenProbability& likely : score.most_likely) {
    bits.push_back(static_cast<std::uint32_t>(likely.token));
    bits.push_back(std::bit_cast<std::uint32_t>(likely.log_probability));
  }
  return bits;
}

// In the order in which it was told.
std::vector<TokenBits> bits_of(const Heard& heard) {
  std::vector<TokenBits> bits;
  for (std::size_t i = 0; i < heard.prompt.size(); ++i) {
    bits.push_back(bits_of(heard.prompt[i], heard.prompt_scores[i]));
  }
  for (std::size_t i = 0; i < heard.tokens.size(); ++i) bits.push_back(bits_of(heard.tokens[i], heard.scores[i]));
  if (heard.last) bits.push_back(bits_of(*heard.last, heard.last_score));
  return bits;
}

// Each model has requests and mixes of its own.
std::uint64_t seed_of(std::string_view name) {
  std::uint64_t seed = 0;
  for (const char letter : name) seed = RandomNumbers(seed ^ static_cast<unsigned char>(letter)).next();
  return seed;
}

class ServiceDeterministicTest : public ServiceTest, public testing::WithParamInterface<std::string> {
 protected:
  // Of the model that the program carries, a golden one, or of random numbers of a type.
  void SetUp() override {
    if (GetParam() == "tales") return;
    const Result<const TypeMix*> mix = find_type_mix(GetParam());
    if (!mix.ok()) {
      model_ = Model::open(golden_folder(GetParam())).value();
      return;
    }
    const std::string plain = folder_.file("plain.gguf"), quantized = folder_.file("quantized.gguf");
    const RandomModel random(plain);
    const Result<Quantizer> quantizer = Quantizer::open(plain, {.mix = mix.value()});
    ASSERT_TRUE(quantizer.ok()) << quantizer.error().text();
    ASSERT_TRUE(quantizer.value().write(quantized, {}).ok());
    model_ = Model::open(quantized).value();
  }

  SessionOptions options(int sequences, std::int64_t pages) const override {
    return {.threads = threads_,
            .context = 64,
            .sequences = sequences,
            .pages = pages,
            .page_length = short_page,
            .checkpoint_distance = 4 * short_page,
            .chunk = chunk_,
            .deterministic = true};
  }

  std::vector<std::int32_t> random_text(std::uint64_t length) {
    const auto vocabulary = static_cast<std::uint64_t>(model_->facts().vocabulary);
    std::vector<std::int32_t> text;
    while (text.size() < length) text.push_back(static_cast<std::int32_t>(random_.below(vocabulary)));
    return text;
  }

  TextRequest random_request(const std::vector<std::int32_t>& text_of_many) {
    TextRequest asked;
    asked.prompt = random_text(1 + random_.below(longest_prompt));
    if (random_.below(2) == 0) {
      const auto shared = static_cast<std::ptrdiff_t>(random_.below(asked.prompt.size() + 1));
      std::copy_n(text_of_many.begin(), shared, asked.prompt.begin());
    }
    asked.wants_prompt_probabilities = random_.below(4) == 0;
    asked.most_tokens = static_cast<std::int64_t>(random_.below(longest_answer + 1));
    if (!asked.wants_prompt_probabilities) asked.most_tokens = std::max<std::int64_t>(1, asked.most_tokens);
    asked.ignores_end = random_.below(4) > 0;
    if (random_.below(2) == 0) {
      asked.sampling = {.temperature = 0.5 + random_.uniform(),
                        .top_k = static_cast<std::int64_t>(random_.below(3) * 20),
                        .top_p = 0.8 + 0.2 * random_.uniform(),
                        .repetition = 1 + 0.2 * random_.uniform(),
                        .seed = random_.next()};
    }
    if (random_.below(4) == 0) asked.stop_tokens = random_text(1);
    if (random_.below(4) == 0) asked.biases = {{random_text(1).front(), 2}};
    if (random_.below(4) > 0) asked.most_likely = 5;
    asked.asker = static_cast<std::int64_t>(random_.below(3));
    return asked;
  }

  // Some begin alike, and some differ in what is drawn alone, as the choices of one answer do.
  std::vector<TextRequest> random_requests() {
    const std::vector<std::int32_t> text_of_many = random_text(longest_prompt);
    std::vector<TextRequest> requests;
    while (requests.size() < requests_of_a_model) {
      TextRequest asked = random_request(text_of_many);
      for (std::uint64_t choices = 1 + random_.below(3); choices > 0; --choices, ++asked.sampling.seed) {
        if (requests.size() < requests_of_a_model) requests.push_back(asked);
      }
    }
    return requests;
  }

  HeardListener heard_alone(const TextRequest& asked) {
    threads_ = 1;
    chunk_ = 64;
    serve(1);
    const HeardListener listener = std::make_shared<Heard>();
    submit(asked, listener);
    run_all();
    return listener;
  }

  // They come at random; some are paused, and some are cancelled and know it then.
  void run_mixed(const std::vector<TextRequest>& requests, std::vector<HeardListener>& listeners,
                 std::vector<bool>& are_cancelled) {
    std::vector<std::int64_t> numbers;
    const auto any = [&] { return static_cast<std::size_t>(random_.below(numbers.size())); };
    const auto has_ended = [](const HeardListener& listener) { return listener->ended.has_value(); };
    for (int pass = 0; numbers.size() < requests.size() || !std::ranges::all_of(listeners, has_ended); ++pass) {
      ASSERT_LT(pass, 10'000);
      for (std::uint64_t come = random_.below(4); come > 0 && numbers.size() < requests.size(); --come) {
        numbers.push_back(submit(requests[numbers.size()], listeners.emplace_back(std::make_shared<Heard>())));
      }
      if (numbers.empty()) continue;
      if (random_.below(6) == 0) service_->pause(numbers[any()]);
      if (random_.below(3) == 0) service_->resume(numbers[any()]);
      if (random_.below(20) == 0) {
        const std::size_t index = any();
        service_->cancel(numbers[index]);
        if (!listeners[index]->ended) are_cancelled[index] = true;
      }
      if (service_->step()) continue;
      for (const std::int64_t number : numbers) service_->resume(number);
    }
  }

  // What one who is cancelled was told until then is the beginning of what it would have been told.
  static void expect_as_alone(const Heard& heard, const Heard& alone, bool is_cancelled) {
    const std::vector<TokenBits> found = bits_of(heard);
    std::vector<TokenBits> expected = bits_of(alone);
    if (is_cancelled) {
      EXPECT_EQ(heard.ended, GenerationEnd::cancelled);
      ASSERT_LE(found.size(), expected.size());
      expected.resize(found.size());
    } else {
      EXPECT_EQ(heard.ended, alone.ended) << heard.reason;
      EXPECT_EQ(heard.text, alone.text);
    }
    EXPECT_EQ(found, expected);
  }

  TemporaryFolder folder_;
  RandomNumbers random_{seed_of(GetParam())};
  int threads_ = 1;
  std::int64_t chunk_ = 64;
};

TEST_P(ServiceDeterministicTest, TellsAmongOthersWhatItTellsAlone) {
  std::vector<TextRequest> requests = random_requests();
  std::vector<HeardListener> alone;
  for (const TextRequest& asked : requests) alone.push_back(heard_alone(asked));
  std::int64_t tokens_found = 0;
  std::int64_t preemptions[2] = {};  // without what others know, and with it
  constexpr int mixes = 6;           // each number of threads with and without what others know
  for (int mix = 0; mix < mixes && !HasFailure(); ++mix) {
    threads_ = 1 + mix % 3;
    const bool finds_pages = mix % 2 == 0, has_few_pages = mix < 4;
    constexpr std::int64_t chunks[] = {17, 33, 64};
    constexpr double seconds[] = {1e-6, 1e-3, 0.2};
    chunk_ = chunks[random_.below(std::size(chunks))];
    serve(has_few_pages ? 6 : 12, has_few_pages ? few_pages : 0,
          {.pass_seconds = seconds[random_.below(std::size(seconds))], .queue_in_caches = 1000});
    for (std::size_t i = 0; i < requests.size(); ++i) requests[i].salt = finds_pages ? 0 : i;
    std::vector<HeardListener> listeners;
    std::vector<bool> are_cancelled(requests.size(), false);
    run_mixed(requests, listeners, are_cancelled);
    if (HasFatalFailure()) return;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      SCOPED_TRACE("request " + std::to_string(i) + " of mix " + std::to_string(mix));
      expect_as_alone(*listeners[i], *alone[i], are_cancelled[i]);
    }
    run_all();  // all pages are free again
    const ServiceCounts counts = service_->counts();
    EXPECT_TRUE(finds_pages || counts.cached_tokens == 0);
    tokens_found += counts.cached_tokens;
    preemptions[finds_pages] += counts.preemptions;
  }
  if (HasFailure()) return;  // the other mixes were left out
  EXPECT_GT(tokens_found, 0);
  for (const std::int64_t count : preemptions) EXPECT_GT(count, 0);
}

// Weights of every kind of product, windows with and without layers that see all, states, experts.
INSTANTIATE_TEST_SUITE_P(Of, ServiceDeterministicTest,
                         testing::Values("tales", "Q4_0", "Q4_K_M", "Q8_0", "F16", "BF16", "mistral", "gemma2",
                                         "mamba2", "qwen3_next"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ingot
