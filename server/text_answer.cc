#include "server/text_answer.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace ingot {

class TextAnswer : public std::enable_shared_from_this<TextAnswer> {
 public:
  TextAnswer(std::shared_ptr<Visit> visit, HostedModel& model, Helpers& helpers, TextAnswers::Form form,
             bool is_streamed)
      : visit_(std::move(visit)), model_(model), helpers_(helpers), is_streamed_(is_streamed), form_(std::move(form)) {}

  Result<void> submit(std::vector<TextRequest> prompts);
  // The client heard nothing for a while: a stream's head says that his request was taken.
  void begin_early();
  void on_pace(http::Pace pace);

 private:
  // Tells this of one choice.
  class Listener : public GenerationListener {
   public:
    Listener(std::shared_ptr<TextAnswer> answer, std::int64_t choice) : answer_(std::move(answer)), choice_(choice) {}
    void on_prompt(std::span<const ChosenToken> prompt) override {
      answer_->send([&](protocol::GenerationAnswer& form) { return form.on_prompt(choice_, prompt); });
    }
    void on_progress(const PromptProgress& progress) override {
      answer_->send([&](protocol::GenerationAnswer& form) { return form.on_progress(choice_, progress); });
    }
    void on_token(const ChosenToken& chosen) override {
      answer_->count_token(last_token_);
      answer_->send([&](protocol::GenerationAnswer& form) { return form.on_token(choice_, chosen); });
    }
    void on_end(const GenerationEnding& ending) override {
      answer_->count_end(ending);
      answer_->send([&](protocol::GenerationAnswer& form) { return form.on_end(choice_, ending); });
    }

   private:
    std::shared_ptr<TextAnswer> answer_;
    std::int64_t choice_;
    std::optional<Visit::Clock::time_point> last_token_;
  };

  // Sends what the form makes of the news, and the end where it is complete.
  template <class News>
  void send(const News& news);
  void finish();
  // On a helper's thread: a million probabilities take a while to be spelled.
  void spell() { visit_->answer_json(form_->whole()); }
  void count_token(std::optional<Visit::Clock::time_point>& last);
  void count_end(const GenerationEnding& ending);
  void for_each_number(void (Service::*call)(std::int64_t));

  std::shared_ptr<Visit> visit_;
  HostedModel& model_;
  Helpers& helpers_;
  const bool is_streamed_;

  std::mutex mutex_;  // of all that follows; where it is over, the form and the visit are the helper's
  TextAnswers::Form form_;
  std::optional<std::int64_t> first_number_;  // the service's, of the first choice; the others' follow it
  std::int64_t ended_ = 0;                    // choices
  bool is_over_ = false;                      // it was answered, or nobody waits for an answer any more
  bool is_gone_ = false;                      // that
};

Result<void> TextAnswer::submit(std::vector<TextRequest> prompts) {
  const std::lock_guard lock(mutex_);  // what the first of them is told waits until all have their numbers
  const std::int64_t choices = form_->choice_count() / std::ssize(prompts);
  std::vector<TextChoices> asked;
  std::int64_t index = 0;
  for (TextRequest& prompt : prompts) {
    TextChoices& each = asked.emplace_back(TextChoices{std::move(prompt), {}});
    for (std::int64_t choice = 0; choice < choices; ++choice) {
      each.listeners.push_back(std::make_shared<Listener>(shared_from_this(), index++));
    }
  }
  first_number_ = TRY(model_.texts()->submit(std::move(asked)));
  return {};
}

void TextAnswer::for_each_number(void (Service::*call)(std::int64_t)) {
  std::int64_t first = 0, end = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!first_number_) return;
    first = *first_number_;
    end = first + form_->choice_count();
  }
  for (std::int64_t number = first; number < end; ++number) (model_.texts()->*call)(number);
}

void TextAnswer::begin_early() {
  const std::lock_guard lock(mutex_);
  if (!is_over_ && is_streamed_ && !visit_->has_begun()) visit_->begin_events();
}

void TextAnswer::on_pace(http::Pace pace) {
  if (pace == http::Pace::full) return for_each_number(&Service::pause);
  if (pace == http::Pace::drains) return for_each_number(&Service::resume);
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    is_over_ = is_gone_ = true;
    if (ended_ == form_->choice_count()) return visit_->abandon();
  }
  for_each_number(&Service::cancel);
}

template <class News>
void TextAnswer::send(const News& news) {
  bool has_failed = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    const std::string_view piece = news(*form_);
    has_failed = form_->error().has_value();
    // An error before anything else has a status of its own.
    if (is_streamed_ && !piece.empty() && (visit_->has_begun() || !has_failed)) {
      if (!visit_->has_begun()) visit_->begin_events();
      visit_->write(piece);
    }
    if (form_->is_complete()) finish();
  }
  // The error of one choice is the error of all.
  if (has_failed) for_each_number(&Service::cancel);
}

void TextAnswer::finish() {
  is_over_ = true;
  if (visit_->has_begun()) return visit_->end_events();
  if (form_->error()) return visit_->refuse(*form_->error());
  helpers_.run([self = shared_from_this()] { self->spell(); });
}

void TextAnswer::count_token(std::optional<Visit::Clock::time_point>& last) {
  const Visit::Clock::time_point now = Visit::Clock::now();
  RequestMetrics& metrics = model_.metrics();
  if (last) {
    metrics.inter_token_latency.observe(std::chrono::duration<double>(now - *last).count());
  } else {
    metrics.time_to_first_token.observe(visit_->seconds());
    const std::lock_guard lock(mutex_);
    if (visit_->logged().first_token_seconds == 0) visit_->logged().first_token_seconds = visit_->seconds();
  }
  last = now;
}

void TextAnswer::count_end(const GenerationEnding& ending) {
  model_.metrics().count_end(ending.end, ending.counts, ending.times);
  model_.metrics().whole.observe(visit_->seconds());
  const std::lock_guard lock(mutex_);
  LoggedRequest& logged = visit_->logged();
  logged.prompt_tokens += ending.counts.prompt;
  logged.cached_tokens += ending.counts.cached;
  logged.generated_tokens += ending.counts.generated;
  logged.end = name_of(ending.end);
  if (++ended_ == form_->choice_count() && is_gone_) visit_->abandon();
}

protocol::Outcome<void> TextAnswers::begin(const std::shared_ptr<Visit>& visit, HostedModel& model, Form form,
                                           std::vector<TextRequest> prompts, bool is_streamed) {
  visit->logged().model = model.id();
  const auto answer = std::make_shared<TextAnswer>(visit, model, helpers_, std::move(form), is_streamed);
  if (const Result<void> submitted = answer->submit(std::move(prompts)); !submitted.ok()) {
    if (submitted.error().code() == ErrorCode::would_block) ++model.metrics().refused;
    return protocol::engine_error(submitted.error(), retry_after_seconds(model));
  }
  visit->on_pace([weak = std::weak_ptr(answer)](http::Pace pace) {
    if (const std::shared_ptr<TextAnswer> alive = weak.lock()) alive->on_pace(pace);
  });
  if (is_streamed && delay_) {
    delay_([weak = std::weak_ptr(answer)] {
      if (const std::shared_ptr<TextAnswer> alive = weak.lock()) alive->begin_early();
    });
  }
  return {};
}

int retry_after_seconds(HostedModel& model) {
  const Histogram& whole = model.metrics().whole;
  std::int64_t ended = 0;
  for (std::size_t bucket = 0; bucket <= whole.bounds().size(); ++bucket) ended += whole.count(bucket);
  const ServiceCounts counts = model.figures().service;
  // Those that run end at this rate; the last of those that wait is admitted when as many have.
  const double seconds = ended > 0 ? whole.sum() / static_cast<double>(ended) : 1;
  const auto at_once = static_cast<double>(std::max<std::int64_t>(counts.running, 1));
  const double wait = seconds * static_cast<double>(counts.waiting + 1) / at_once;
  return static_cast<int>(std::clamp(std::ceil(wait), 1.0, 3600.0));
}

}  // namespace ingot
