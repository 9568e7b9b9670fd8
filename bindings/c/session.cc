// Sessions: sequences, passes and embeddings.
#include "bindings/c/boundary.h"
#include "engine/embedding.h"
#include "engine/sequence_file.h"
#include "machine/limits.h"

using namespace ingot;

namespace {

Result<DType> cache_type(std::int32_t cache) {
  switch (cache) {
    case INGOT_CACHE_F16: return DType::f16;
    case INGOT_CACHE_F32: return DType::f32;
    case INGOT_CACHE_Q8_0: return DType::q8_0;
    default: return Error::of(ErrorCode::invalid_argument, "expected an ingot_cache from 0 to 2, found ", cache);
  }
}

Result<std::vector<std::shared_ptr<const Adapter>>> adapters_at(const Model& model, const char* const* paths,
                                                                std::size_t count) {
  constexpr std::size_t most_adapters = 1024;
  if (count > most_adapters) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", most_adapters, " adapters, found ", count);
  }
  if (paths == nullptr && count > 0) {
    return Error::of(ErrorCode::invalid_argument, "expected ", count, " adapters, found null");
  }
  std::vector<std::shared_ptr<const Adapter>> adapters;
  for (const char* path : std::span(paths, count)) {
    const std::string name(TRY(c::text_at(path, "an adapter's path")));
    adapters.push_back(TRY(Adapter::open(name, model)));
  }
  return adapters;
}

Result<SessionOptions> session_options(const Model& model, const ingot_session_options* given) {
  const ingot_session_options asked = TRY(c::read_options<ingot_session_options>(given, INGOT_SESSION_OPTIONS));
  constexpr std::int32_t most_threads = 1024, most_sequences = 4096;
  if (asked.threads < 0 || asked.threads > most_threads) {
    return Error::of(ErrorCode::out_of_range, "expected 0 to ", most_threads, " threads, found ", asked.threads);
  }
  if (asked.sequences < 1 || asked.sequences > most_sequences) {
    return Error::of(ErrorCode::out_of_range, "expected 1 to ", most_sequences, " sequences, found ", asked.sequences);
  }
  SessionOptions options;
  options.threads = asked.threads == 0 ? usable_cpu_count() : asked.threads;
  options.sequences = asked.sequences;
  options.context = asked.context;
  options.cache = TRY(cache_type(asked.cache));
  options.deterministic = asked.deterministic != 0;
  options.adapters = TRY(adapters_at(model, asked.adapters, asked.adapter_count));
  return options;
}

}  // namespace

ingot_status ingot_session_open(const ingot_model* model, const ingot_session_options* options, ingot_session** session,
                                ingot_error* error) {
  c::clear(session);
  return c::guarded(error, [&] {
    const std::shared_ptr<const Model> opened = c::find(model);
    if (opened == nullptr) return c::tell_bad_handle(error, c::Kind::model);
    return c::tell(error, [&]() -> Result<void> {
      TRY(c::require_place(session, "the session"));
      const SessionOptions asked = TRY(session_options(*opened, options));
      *session = c::give_out<ingot_session>(std::make_shared<c::SharedSession>(TRY(Session::create(opened, asked))));
      return {};
    }());
  });
}

ingot_status ingot_session_close(ingot_session* session) { return c::close(session); }

ingot_status ingot_session_context(ingot_session* session, int64_t* context, ingot_error* error) {
  c::clear(context);
  return c::answer_with(session, error, [&](const c::SharedSession& shared) -> Result<void> {
    TRY(c::require_place(context, "the context"));
    *context = shared.session->context();
    return {};
  });
}

ingot_status ingot_sequence_add(ingot_session* session, int32_t* sequence, ingot_error* error) {
  c::clear(sequence);
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    TRY(c::require_place(sequence, "the sequence"));
    *sequence = TRY(alone.sequences().add());
    return {};
  });
}

ingot_status ingot_sequence_fork(ingot_session* session, int32_t sequence, int32_t* copy, ingot_error* error) {
  c::clear(copy);
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    TRY(c::require_place(copy, "the copy"));
    TRY(c::require_sequence(alone, sequence));
    *copy = TRY(alone.sequences().fork(sequence));
    return {};
  });
}

ingot_status ingot_sequence_length(ingot_session* session, int32_t sequence, int64_t* length, ingot_error* error) {
  c::clear(length);
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    TRY(c::require_place(length, "the length"));
    TRY(c::require_sequence(alone, sequence));
    *length = alone.sequences().length(sequence);
    return {};
  });
}

ingot_status ingot_sequence_truncate(ingot_session* session, int32_t sequence, int64_t length, ingot_error* error) {
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    TRY(c::require_sequence(alone, sequence));
    return alone.sequences().truncate(sequence, length);
  });
}

ingot_status ingot_sequence_remove(ingot_session* session, int32_t sequence, ingot_error* error) {
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    TRY(c::require_sequence(alone, sequence));
    alone.sequences().remove(sequence);
    return {};
  });
}

ingot_status ingot_sequence_use_adapters(ingot_session* session, int32_t sequence, const float* scales, size_t count,
                                         ingot_error* error) {
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    TRY(c::require_sequence(alone, sequence));
    const std::size_t adapters = alone.options().adapters.size();
    if (count > adapters) {
      return Error::of(ErrorCode::out_of_range, "expected scales of at most ", adapters, " adapters, found ", count);
    }
    if (count > 0) TRY(c::require_place(scales, "the scales"));
    return alone.use_adapters(sequence, std::span(scales, count));
  });
}

ingot_status ingot_sequence_save(ingot_session* session, int32_t sequence, const int32_t* tokens, size_t count,
                                 const char* path, ingot_error* error) {
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    TRY(c::require_sequence(alone, sequence));
    const std::span<const std::int32_t> ids = TRY(c::tokens_at(tokens, count));
    return write_sequence(alone, sequence, ids, std::string(TRY(c::text_at(path, "a path"))));
  });
}

ingot_status ingot_sequence_load(ingot_session* session, int32_t sequence, const char* path, int32_t* tokens,
                                 size_t capacity, size_t* count, ingot_error* error) {
  c::clear(count);
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    TRY(c::require_place(count, "the number of tokens"));
    TRY(c::require_sequence(alone, sequence));
    const std::string file(TRY(c::text_at(path, "a path")));
    const std::vector<std::int32_t> ids = TRY(read_sequence(alone, sequence, file));
    const Result<void> written = c::write_out<std::int32_t>(ids, tokens, capacity, count);
    if (!written.ok()) TRY(alone.sequences().truncate(sequence, 0));
    return written;
  });
}

ingot_status ingot_forward(ingot_session* session, int32_t sequence, const int32_t* tokens, size_t count, int32_t all,
                           const float** rows, size_t* row_count, size_t* columns, ingot_error* error) {
  c::clear(rows, row_count, columns);
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    TRY(c::require_place(rows, "the rows"));
    const TokenRun run{sequence, TRY(c::tokens_at(tokens, count)), all != 0 ? Wanted::all : Wanted::last};
    const View<const float> outputs = TRY(alone.forward(run));
    *rows = outputs.data();
    if (row_count != nullptr) *row_count = static_cast<std::size_t>(outputs.size(0));
    if (columns != nullptr) *columns = static_cast<std::size_t>(outputs.size(1));
    return {};
  });
}

ingot_status ingot_embed(ingot_session* session, const int32_t* tokens, size_t count, float* vectors, size_t capacity,
                         size_t* row_count, size_t* columns, ingot_error* error) {
  c::clear(row_count, columns);
  return c::answer_alone(session, error, [&](Session& alone) -> Result<void> {
    TRY(c::require_place(row_count, "the number of vectors"));
    TRY(c::require_place(columns, "their length"));
    const std::span<const std::int32_t> ids = TRY(c::tokens_at(tokens, count));
    const auto embeddings = TRY(embeddings_of(alone, ids));
    std::vector<float> all;
    for (const std::vector<float>& embedding : embeddings) all.insert(all.end(), embedding.begin(), embedding.end());
    *row_count = embeddings.size();
    *columns = embeddings.empty() ? 0 : embeddings.front().size();
    std::size_t written = 0;
    return c::write_out<float>(all, vectors, capacity, &written);
  });
}
