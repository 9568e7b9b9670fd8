// Choosing tokens, and texts that a model goes on with.
#include <algorithm>

#include "bindings/c/boundary.h"
#include "engine/generate_until.h"
#include "engine/sampling_advice.h"
#include "engine/session_guards.h"

using namespace ingot;

namespace {

ingot_sampling as_c(const SamplerOptions& options) {
  return {sizeof(ingot_sampling), options.temperature, options.top_k,     options.top_p,          options.min_p,
          options.repetition,     options.presence,    options.frequency, options.penalty_window, options.seed};
}

Result<SamplerOptions> advised(const Model& model) {
  SamplerOptions options;
  follow(TRY(read_sampling_advice(model.metadata())), options);
  return options;
}

Result<SamplerOptions> sampler_options(const Model& model, const ingot_sampling* given) {
  if (given == nullptr) return advised(model);
  const ingot_sampling asked = TRY(c::read_options<ingot_sampling>(given, INGOT_SAMPLING));
  return SamplerOptions{.temperature = asked.temperature,
                        .top_k = asked.top_k,
                        .top_p = asked.top_p,
                        .min_p = asked.min_p,
                        .repetition = asked.repetition_penalty,
                        .presence = asked.presence_penalty,
                        .frequency = asked.frequency_penalty,
                        .penalty_window = asked.penalty_window,
                        .seed = asked.seed};
}

// What was asked of a generation, looked at.
struct Asked {
  ingot_generation_options options;
  std::vector<std::string> stops;
};

Result<Asked> read_asked(const ingot_generation_options* given) {
  Asked asked{TRY(c::read_options<ingot_generation_options>(given, INGOT_GENERATION_OPTIONS)), {}};
  constexpr std::int64_t most = std::int64_t{1} << 30;
  constexpr std::size_t most_stops = 1024;
  const ingot_generation_options& options = asked.options;
  if (options.most_tokens < 1 || options.most_tokens > most) {
    return Error::of(ErrorCode::out_of_range, "expected 1 to 2^30 tokens, found ", options.most_tokens);
  }
  if (options.stop_count > most_stops) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", most_stops, " stops, found ", options.stop_count);
  }
  if (options.stops == nullptr && options.stop_count > 0) {
    return Error::of(ErrorCode::invalid_argument, "expected ", options.stop_count, " stops, found null");
  }
  for (const char* stop : std::span(options.stops, options.stop_count)) {
    asked.stops.emplace_back(TRY(c::text_at(stop, "a stop")));
  }
  return asked;
}

// `given`: what the caller set before the call, and keeps.
ingot_generation as_c(const StoppedGeneration& generated, const ingot_generation& given) {
  const GenerationReport& report = generated.report;
  const auto end = [&] {
    if (generated.stop) return INGOT_END_STOP;
    switch (report.reason) {
      case StopReason::end_of_generation: return INGOT_END_MODEL;
      case StopReason::token_limit: return INGOT_END_TOKENS;
      case StopReason::context_full: return INGOT_END_CONTEXT;
      case StopReason::caller: break;
    }
    return INGOT_END_CALLBACK;
  };
  return {given.size,
          end(),
          generated.stop ? static_cast<std::int32_t>(*generated.stop) : -1,
          report.prompt_tokens,
          static_cast<std::int64_t>(report.tokens.size()),
          report.prefill_seconds,
          report.decode_seconds,
          given.token_ids,
          given.token_capacity};
}

Result<void> generate_in(Session& session, std::int32_t sequence, std::span<const std::int32_t> prompt,
                         const ingot_generation_options* options, ingot_generation* report, ingot_text** text) {
  const std::size_t report_size = report == nullptr ? 0 : report->size;  // as it is before a callback sees it
  ingot_generation given = TRY(c::read_options<ingot_generation>(report, INGOT_GENERATION));
  if (given.token_ids == nullptr && given.token_capacity > 0) {
    return Error::of(ErrorCode::invalid_argument, "expected a place for ", given.token_capacity, " tokens, found null");
  }
  const Asked asked = TRY(read_asked(options));
  const SamplerOptions chosen = TRY(sampler_options(session.model(), asked.options.sampling));
  Sampler sampler = TRY(Sampler::create(session.table(), chosen));
  const Tokenizer& tokenizer = *TRY(session.model().tokenizer());
  const auto tell = [&](const std::string& piece) {
    const ingot_text_callback on_text = asked.options.on_text;
    return on_text == nullptr || on_text(asked.options.user, piece.c_str(), piece.size()) == 0;
  };
  const StoppedGeneration generated =
      TRY(generate_until(session, tokenizer, sampler, sequence, prompt, asked.options.most_tokens, asked.stops, tell));
  c::give_text(text, generated.report.text);
  if (report == nullptr) return {};
  given.size = report_size;
  const ingot_generation told = as_c(generated, given);
  std::memcpy(report, &told, told.size);
  const std::vector<TokenId>& ids = generated.report.tokens;
  std::copy_n(ids.begin(), std::min(ids.size(), given.token_capacity), given.token_ids);
  return {};
}

}  // namespace

ingot_status ingot_sampling_advised(const ingot_model* model, ingot_sampling* sampling, ingot_error* error) {
  return c::answer_with(model, error, [&](const Model& opened) -> Result<void> {
    TRY(c::require_place(sampling, "the advice"));
    const std::size_t size = sampling->size;
    TRY(c::check_options_size(size, sizeof(ingot_sampling)));
    ingot_sampling advice = as_c(TRY(advised(opened)));
    advice.size = size;
    std::memcpy(sampling, &advice, size);
    return {};
  });
}

ingot_status ingot_sampler_open(ingot_session* session, const ingot_sampling* options, ingot_sampler** sampler,
                                ingot_error* error) {
  c::clear(sampler);
  return c::guarded(error, [&] {
    const std::shared_ptr<c::SharedSession> shared = c::find(session);
    if (shared == nullptr) return c::tell_bad_handle(error, c::Kind::session);
    return c::tell(error, [&]() -> Result<void> {
      TRY(c::require_place(sampler, "the sampler"));
      const SamplerOptions chosen = TRY(sampler_options(shared->session->model(), options));
      c::SharedSampler opened{shared, TRY(Sampler::create(shared->session->table(), chosen))};
      *sampler = c::give_out<ingot_sampler>(std::make_shared<c::SharedSampler>(std::move(opened)));
      return {};
    }());
  });
}

ingot_status ingot_sampler_close(ingot_sampler* sampler) { return c::close(sampler); }

ingot_status ingot_sampler_remember(ingot_sampler* sampler, const int32_t* tokens, size_t count, ingot_error* error) {
  return c::answer_with(sampler, error, [&](c::SharedSampler& shared) -> Result<void> {
    const c::SessionUser user(*shared.owner);
    TRY(user.require_alone());
    const std::span<const std::int32_t> ids = TRY(c::tokens_at(tokens, count));
    const std::int64_t vocabulary = shared.owner->session->model().facts().vocabulary;
    for (const std::int32_t id : ids) {
      if (id >= 0 && id < vocabulary) continue;
      return Error::of(ErrorCode::out_of_range, "expected tokens from 0 to ", vocabulary - 1, ", found ", id);
    }
    shared.sampler.remember(ids);
    return {};
  });
}

ingot_status ingot_sample(ingot_sampler* sampler, const float* logits, size_t count, int32_t* token,
                          ingot_error* error) {
  c::clear(token);
  return c::answer_with(sampler, error, [&](c::SharedSampler& shared) -> Result<void> {
    const c::SessionUser user(*shared.owner);
    TRY(user.require_alone());
    Session& session = *shared.owner->session;
    TRY(c::require_place(token, "the token"));
    const auto vocabulary = static_cast<std::size_t>(session.model().facts().vocabulary);
    if (logits == nullptr || count != vocabulary) {
      return Error::of(ErrorCode::invalid_argument, "expected ", vocabulary, " logits, found ",
                       logits == nullptr ? 0 : count);
    }
    Context context = session.context_for_kernels();
    *token = TRY(shared.sampler.choose(std::span(logits, count), context));
    return {};
  });
}

ingot_status ingot_generate(ingot_session* session, int32_t sequence, const int32_t* tokens, size_t count,
                            const ingot_generation_options* options, ingot_generation* report, ingot_text** text,
                            ingot_error* error) {
  c::clear(text);
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    TRY(c::require_sequence(alone, sequence));
    return generate_in(alone, sequence, TRY(c::tokens_at(tokens, count)), options, report, text);
  });
}

ingot_status ingot_generate_text(ingot_session* session, const char* prompt, const ingot_generation_options* options,
                                 ingot_generation* report, ingot_text** text, ingot_error* error) {
  c::clear(text);
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    const std::string_view asked = TRY(c::text_at(prompt, "a prompt"));
    const Tokenizer& tokenizer = *TRY(alone.model().tokenizer());
    const std::vector<TokenId> tokens = TRY(tokenizer.encode(asked));
    OwnSequences own(alone);
    const int sequence = TRY(own.add());
    return generate_in(alone, sequence, tokens, options, report, text);
  });
}
