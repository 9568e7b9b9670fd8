// A service of the model that the program carries, or of another, for tests.
#pragma once

#include <gtest/gtest.h>

#include <atomic>

#include "engine/service.h"

namespace ingot {

// What a request was told.
struct Heard : GenerationListener {
  std::vector<std::int32_t> prompt;
  std::vector<TokenScore> prompt_scores;
  std::vector<std::int64_t> progress;  // of the prompt, as it was told
  std::vector<std::int32_t> tokens;
  std::vector<TokenScore> scores;
  std::vector<std::size_t> offsets;
  std::vector<double> generation_times;  // as they were told with the tokens
  std::string text;
  std::optional<GenerationEnd> ended;
  GenerationCounts counts;
  GenerationTimes times;
  std::string stop;
  std::string reason;
  std::optional<std::int32_t> last;  // the token that ended it
  TokenScore last_score;
  std::size_t last_offset = 0;

  void on_prompt(std::span<const ChosenToken> told) override {
    EXPECT_TRUE(prompt.empty() && tokens.empty() && !ended);
    for (const ChosenToken& token : told) {
      prompt.push_back(token.token);
      prompt_scores.push_back({token.log_probability, {token.most_likely.begin(), token.most_likely.end()}});
      EXPECT_EQ(token.text, "");
    }
  }
  void on_progress(const PromptProgress& told) override {
    EXPECT_TRUE(tokens.empty() && !ended);
    progress.push_back(told.processed);
    EXPECT_LE(told.counts.cached, told.processed);
    EXPECT_LE(told.processed, told.counts.prompt);
  }
  void on_token(const ChosenToken& chosen) override {
    EXPECT_FALSE(ended);
    tokens.push_back(chosen.token);
    scores.push_back({chosen.log_probability, {chosen.most_likely.begin(), chosen.most_likely.end()}});
    offsets.push_back(chosen.offset);
    text += chosen.text;
    EXPECT_EQ(chosen.counts.generated, std::ssize(tokens));
    generation_times.push_back(chosen.times.generation);
  }
  void on_end(const GenerationEnding& ending) override {
    EXPECT_FALSE(ended);
    text += ending.text;
    ended = ending.end;
    counts = ending.counts;
    times = ending.times;
    stop = ending.stop;
    if (ending.error != nullptr) reason = ending.error->text();
    if (!ending.last) return;
    last = ending.last->token;
    last_offset = ending.last->offset;
    last_score = {ending.last->log_probability, {ending.last->most_likely.begin(), ending.last->most_likely.end()}};
  }
};

using HeardListener = std::shared_ptr<Heard>;

inline constexpr std::int64_t small_page = 8;

// The model that the program carries, served deterministically: whoever else is served, the words are the same.
class ServiceTest : public testing::Test {
 protected:
  void serve(int sequences, std::int64_t pages = 0, ServiceOptions service = {}) {
    service_.reset();
    session_ = new_session(sequences, pages);
    all_pages_ = session_->sequences().whole().free_pages();
    service_ = Service::create(*session_, tokenizer(), bell_, std::move(service)).value();
  }

  std::unique_ptr<Session> new_session(int sequences, std::int64_t pages = 0) const {
    return Session::create(model_, options(sequences, pages)).value();
  }

  virtual SessionOptions options(int sequences, std::int64_t pages) const {
    return {.threads = 2,
            .cache = DType::f32,
            .context = 256,
            .sequences = sequences,
            .pages = pages,
            .page_length = small_page,
            .chunk = 64,
            .deterministic = true};
  }

  const Tokenizer& tokenizer() const { return *words_->tokenizer().value(); }

  TextRequest request(std::string_view prompt, std::int64_t tokens) const {
    return {.prompt = tokenizer().encode(prompt).value(), .most_tokens = tokens};
  }

  std::int64_t submit(TextRequest request, const HeardListener& listener) {
    const Result<std::int64_t> number = service_->submit(std::move(request), listener);
    EXPECT_TRUE(number.ok()) << number.error().text();
    return number.ok() ? number.value() : -1;
  }

  void run_all() {
    for (int pass = 0; service_->step() || service_->awaits_masks(); ++pass) {
      if (service_->awaits_masks()) bell_.wait();
      ASSERT_LT(pass, 10'000);
    }
    EXPECT_EQ(session_->sequences().whole().free_pages(), all_pages_);
  }

  // What it says when nobody else is there.
  std::string alone(const TextRequest& asked) {
    const HeardListener listener = std::make_shared<Heard>();
    serve(1);
    submit(asked, listener);
    run_all();
    return listener->text;
  }

  std::shared_ptr<const Model> words_ = Model::open_default().value();
  std::shared_ptr<const Model> model_ = words_;
  std::unique_ptr<Session> session_;
  Bell bell_;
  std::unique_ptr<Service> service_;
  std::int64_t all_pages_ = 0;
};

// The thread of passes, while others bring work, and until nothing is left of it.
template <class AnyService>
void run_while_open(AnyService& service, Bell& bell, const std::atomic<int>& open) {
  while (true) {
    const bool was_open = open > 0;
    if (service.step()) continue;
    if (!was_open) break;
    bell.wait();
  }
}

inline constexpr std::string_view openings[] = {
    "\nOnce there was a thoughtful cook named Ralf.",
    "\nOnce there was a brave baker named Mia. Mia lived",
    "\nOnce there was",
    "\nOne clear day",
    "\nOnce there was a thoughtful cook named Ralf. Ralf lived in a",
};

}  // namespace ingot
