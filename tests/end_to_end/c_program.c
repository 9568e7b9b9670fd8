/* A program in C11 that does all that ingot.h offers, and much that it refuses. Prints the text that it generated.
 * Its argument is a file that it may write. */
#include <ingot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                                    \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "line %d: expected %s, found otherwise: %s\n", __LINE__, #condition, error.text);      \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

enum { MOST = 16, ROOM = 256 };

static ingot_error error;

typedef struct {
  ingot_session* session;
  char text[1024];
  int pieces;
  int stop_behind; /* 0: never */
} Listener;

static int32_t listen(void* user, const char* text, size_t size) {
  Listener* listener = (Listener*)user;
  int32_t sequence;
  EXPECT(text[size] == 0);
  EXPECT(strlen(listener->text) + size < sizeof(listener->text));
  strcat(listener->text, text);
  EXPECT(ingot_sequence_add(listener->session, &sequence, NULL) == INGOT_BUSY);
  return ++listener->pieces == listener->stop_behind;
}

static size_t most_likely(const float* logits, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; ++i) best = logits[i] > logits[best] ? i : best;
  return best;
}

static const char* const prompt = "\nOnce there was a thoughtful cook";

/* What the model says, by one call. */
static void generate(ingot_session* session, char* said) {
  ingot_generation_options options = INGOT_GENERATION_OPTIONS;
  ingot_generation report = INGOT_GENERATION;
  ingot_text* text;
  Listener listener = {session, "", 0, 0};
  options.most_tokens = MOST;
  options.on_text = listen;
  options.user = &listener;
  EXPECT(ingot_generate_text(session, prompt, &options, &report, &text, &error) == INGOT_OK);
  EXPECT(report.end == INGOT_END_TOKENS && report.tokens == MOST && report.stop == -1);
  EXPECT(strlen(ingot_text_data(text)) == ingot_text_size(text));
  EXPECT(strcmp(ingot_text_data(text), listener.text) == 0);
  strcpy(said, listener.text);
  EXPECT(ingot_text_free(text) == INGOT_OK);
  EXPECT(ingot_text_free(text) == INGOT_BAD_HANDLE);
  EXPECT(ingot_text_size(text) == 0 && ingot_text_data(text)[0] == 0);

  listener = (Listener){session, "", 0, 2};
  EXPECT(ingot_generate_text(session, prompt, &options, &report, NULL, &error) == INGOT_OK);
  EXPECT(report.end == INGOT_END_CALLBACK && report.tokens == 2);

  /* As a program has it that was compiled before there were token_ids. */
  report.size = offsetof(ingot_generation, token_ids);
  report.token_ids = (int32_t*)16;
  report.token_capacity = MOST;
  listener = (Listener){session, "", 0, 2};
  EXPECT(ingot_generate_text(session, prompt, &options, &report, NULL, &error) == INGOT_OK && report.tokens == 2);
  report = (ingot_generation)INGOT_GENERATION;

  /* The last five bytes of what was said end it, and are not told. */
  const char* const stops[] = {"never said", said + strlen(said) - 5};
  listener = (Listener){session, "", 0, 0};
  options.stops = stops;
  options.stop_count = 2;
  EXPECT(ingot_generate_text(session, prompt, &options, &report, NULL, &error) == INGOT_OK);
  EXPECT(report.end == INGOT_END_STOP && report.stop == 1);
  EXPECT(strncmp(listener.text, said, strlen(listener.text)) == 0 && strstr(listener.text, stops[1]) == NULL);
}

/* The same, token by token; on a copy of the sequence as well. */
static void step(const ingot_model* model, ingot_session* session, const char* said) {
  int32_t tokens[ROOM], chosen[MOST], sequence, copy, token, ends;
  size_t count, rows, columns;
  int64_t length;
  const float* logits;
  ingot_sampler* sampler;
  ingot_text* text;
  EXPECT(ingot_tokenize(model, prompt, strlen(prompt), 0, NULL, 0, &count, &error) == INGOT_OUT_OF_RANGE);
  EXPECT(count > 0 && count < ROOM);
  EXPECT(ingot_tokenize(model, prompt, strlen(prompt), 0, tokens, ROOM, &count, &error) == INGOT_OK);
  EXPECT(ingot_sequence_add(session, &sequence, &error) == INGOT_OK);
  EXPECT(ingot_sampler_open(session, NULL, &sampler, &error) == INGOT_OK);
  EXPECT(ingot_sampler_remember(sampler, tokens, count, &error) == INGOT_OK);
  EXPECT(ingot_forward(session, sequence, tokens, count, 0, &logits, &rows, &columns, &error) == INGOT_OK);
  for (int i = 0; i < MOST; ++i) {
    EXPECT(rows == 1);
    EXPECT(ingot_sample(sampler, logits, columns, &token, &error) == INGOT_OK);
    EXPECT((size_t)token == most_likely(logits, columns));
    EXPECT(ingot_token_ends(model, token, &ends, &error) == INGOT_OK && ends == 0);
    chosen[i] = token;
    EXPECT(ingot_forward(session, sequence, &token, 1, 0, &logits, &rows, &columns, &error) == INGOT_OK);
  }
  EXPECT(ingot_detokenize(model, chosen, MOST, INGOT_PLAIN, &text, &error) == INGOT_OK);
  EXPECT(strcmp(ingot_text_data(text), said) == 0);
  EXPECT(ingot_text_free(text) == INGOT_OK);

  EXPECT(ingot_sequence_length(session, sequence, &length, &error) == INGOT_OK && length == (int64_t)count + MOST);
  EXPECT(ingot_sequence_truncate(session, sequence, (int64_t)count, &error) == INGOT_OK);
  EXPECT(ingot_sequence_fork(session, sequence, &copy, &error) == INGOT_OK && copy != sequence);
  EXPECT(ingot_forward(session, sequence, chosen, 1, 0, &logits, &rows, &columns, &error) == INGOT_OK);
  float* const kept = (float*)malloc(columns * sizeof(float));
  EXPECT(kept != NULL);
  memcpy(kept, logits, columns * sizeof(float));
  EXPECT(ingot_forward(session, copy, chosen, 1, 0, &logits, &rows, &columns, &error) == INGOT_OK);
  EXPECT(memcmp(kept, logits, columns * sizeof(float)) == 0);
  free(kept);
  EXPECT(ingot_forward(session, copy, chosen, 3, 1, &logits, &rows, &columns, &error) == INGOT_OK && rows == 3);
  EXPECT(ingot_sequence_remove(session, copy, &error) == INGOT_OK);
  EXPECT(ingot_sequence_remove(session, copy, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_sequence_remove(session, sequence, &error) == INGOT_OK);
  EXPECT(ingot_sampler_close(sampler) == INGOT_OK);
}

/* What was generated goes on in another session, from a file. */
static void save_and_load(const ingot_model* model, ingot_session* session, const char* path) {
  int32_t tokens[ROOM], loaded[ROOM], sequence, again;
  size_t count, loaded_count;
  int64_t length;
  ingot_session* other;
  ingot_text *expected, *text;
  ingot_generation_options options = INGOT_GENERATION_OPTIONS;
  ingot_generation report = INGOT_GENERATION;
  ingot_session_options other_options = INGOT_SESSION_OPTIONS;
  options.most_tokens = MOST;
  EXPECT(ingot_tokenize(model, prompt, strlen(prompt), 0, tokens, ROOM, &count, &error) == INGOT_OK);
  EXPECT(ingot_sequence_add(session, &sequence, &error) == INGOT_OK);
  report.token_capacity = ROOM;
  EXPECT(ingot_generate(session, sequence, tokens, count, &options, &report, NULL, &error) == INGOT_INVALID_ARGUMENT);
  report.token_ids = tokens + count;
  report.token_capacity = ROOM - count;
  EXPECT(ingot_generate(session, sequence, tokens, count, &options, &report, NULL, &error) == INGOT_OK);
  EXPECT(report.token_ids == tokens + count && report.token_capacity == ROOM - count && report.tokens == MOST);
  count += MOST;
  EXPECT(ingot_sequence_length(session, sequence, &length, &error) == INGOT_OK && (size_t)length == count - 1);
  EXPECT(ingot_sequence_save(session, sequence, tokens, count - 2, path, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_sequence_save(session, sequence, tokens, count, NULL, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_sequence_save(session, sequence, tokens, count, "/nowhere/at all", &error) == INGOT_INPUT_OUTPUT);
  EXPECT(ingot_sequence_save(session, sequence + 1, tokens, count, path, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_sequence_save(NULL, sequence, tokens, count, path, &error) == INGOT_BAD_HANDLE);
  EXPECT(ingot_sequence_save(session, sequence, tokens, count, path, &error) == INGOT_OK);
  EXPECT(ingot_generate(session, sequence, &tokens[count - 1], 1, &options, NULL, &expected, &error) == INGOT_OK);
  EXPECT(ingot_sequence_load(session, sequence, path, loaded, ROOM, &loaded_count, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(strstr(error.text, "an empty sequence") != NULL);
  EXPECT(ingot_sequence_remove(session, sequence, &error) == INGOT_OK);

  other_options.context = ROOM;
  EXPECT(ingot_session_open(model, &other_options, &other, &error) == INGOT_OK);
  EXPECT(ingot_sequence_add(other, &again, &error) == INGOT_OK);
  EXPECT(ingot_sequence_load(other, again, path, loaded, 3, &loaded_count, &error) == INGOT_OUT_OF_RANGE);
  EXPECT(loaded_count == count);
  EXPECT(ingot_sequence_length(other, again, &length, &error) == INGOT_OK && length == 0);
  EXPECT(ingot_sequence_load(other, again, "/nowhere/at all", loaded, ROOM, &loaded_count, &error) != INGOT_OK);
  EXPECT(loaded_count == 0);
  EXPECT(ingot_sequence_load(other, again, path, loaded, ROOM, &loaded_count, &error) == INGOT_OK);
  EXPECT(loaded_count == count && memcmp(loaded, tokens, count * sizeof(int32_t)) == 0);
  EXPECT(ingot_sequence_length(other, again, &length, &error) == INGOT_OK && (size_t)length == count - 1);
  EXPECT(ingot_generate(other, again, &loaded[length], 1, &options, NULL, &text, &error) == INGOT_OK);
  EXPECT(strcmp(ingot_text_data(text), ingot_text_data(expected)) == 0);
  EXPECT(ingot_text_free(text) == INGOT_OK && ingot_text_free(expected) == INGOT_OK);
  EXPECT(ingot_session_close(other) == INGOT_OK);

  /* Keys and values that are kept otherwise. */
  other_options.cache = INGOT_CACHE_F32;
  EXPECT(ingot_session_open(model, &other_options, &other, &error) == INGOT_OK);
  EXPECT(ingot_sequence_add(other, &again, &error) == INGOT_OK);
  EXPECT(ingot_sequence_load(other, again, path, loaded, ROOM, &loaded_count, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_session_close(other) == INGOT_OK);
  EXPECT(remove(path) == 0);
}

static void refuse_handles(ingot_model* model, ingot_session* session) {
  int32_t number;
  int64_t length;
  ingot_text* text;
  ingot_model* closed;
  ingot_session* none;
  EXPECT(ingot_model_open("/nowhere/at all", &closed, &error) != INGOT_OK && closed == NULL);
  EXPECT(strstr(error.text, "/nowhere") != NULL);
  EXPECT(ingot_model_open(NULL, NULL, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_model_open(NULL, &closed, &error) == INGOT_OK && error.text[0] == 0);
  EXPECT(ingot_model_close(closed) == INGOT_OK && ingot_model_close(closed) == INGOT_BAD_HANDLE);
  EXPECT(ingot_model_close(NULL) == INGOT_OK);
  void* const wrong[] = {NULL, closed, session, &number, (void*)16, (void*)UINTPTR_MAX};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    EXPECT(ingot_model_facts((const ingot_model*)wrong[i], &text, &error) == INGOT_BAD_HANDLE && text == NULL);
    EXPECT(strncmp(error.text, "expected an open model", 22) == 0);
    EXPECT(ingot_session_open((const ingot_model*)wrong[i], NULL, &none, NULL) == INGOT_BAD_HANDLE && none == NULL);
  }
  EXPECT(ingot_sequence_add((ingot_session*)(void*)model, &number, &error) == INGOT_BAD_HANDLE);
  EXPECT(ingot_sequence_length(session, 1234, &length, &error) == INGOT_INVALID_ARGUMENT);
}

static void refuse_sizes(ingot_model* model, ingot_session* session) {
  int32_t token = 5, sequence;
  size_t count, columns;
  ingot_text* text;
  ingot_session* none;
  ingot_sampler* sampler;
  const float* rows;
  EXPECT(ingot_tokenize(model, "x", SIZE_MAX, 0, &token, 1, &count, &error) == INGOT_OUT_OF_RANGE && count == 0);
  EXPECT(ingot_tokenize(model, NULL, 1, 0, &token, 1, &count, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_tokenize(model, "x", 1, 64, &token, 1, &count, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_detokenize(model, &token, SIZE_MAX, 0, &text, &error) == INGOT_OUT_OF_RANGE);
  EXPECT(ingot_sequence_add(session, &sequence, &error) == INGOT_OK);
  EXPECT(ingot_forward(session, sequence, &token, SIZE_MAX, 0, &rows, NULL, NULL, &error) == INGOT_OUT_OF_RANGE);
  EXPECT(ingot_forward(session, sequence, &token, 0, 0, &rows, NULL, NULL, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_sampler_open(session, NULL, &sampler, &error) == INGOT_OK);
  EXPECT(ingot_sample(sampler, NULL, SIZE_MAX, &token, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_sampler_close(sampler) == INGOT_OK);
  token = -7;
  EXPECT(ingot_detokenize(model, &token, 1, 0, &text, &error) == INGOT_OUT_OF_RANGE && text == NULL);
  EXPECT(ingot_forward(session, sequence, &token, 1, 0, &rows, NULL, NULL, &error) == INGOT_OUT_OF_RANGE);
  EXPECT(rows == NULL);
  token = 5;
  EXPECT(ingot_embed(session, &token, 1, NULL, 0, &count, &columns, &error) == INGOT_UNSUPPORTED);
  EXPECT(ingot_sequence_remove(session, sequence, &error) == INGOT_OK);

  ingot_session_options options = INGOT_SESSION_OPTIONS;
  options.threads = INT32_MAX;
  EXPECT(ingot_session_open(model, &options, &none, &error) == INGOT_OUT_OF_RANGE);
  options = (ingot_session_options)INGOT_SESSION_OPTIONS;
  options.context = INT64_MAX;
  EXPECT(ingot_session_open(model, &options, &none, &error) == INGOT_INVALID_ARGUMENT);
  options = (ingot_session_options)INGOT_SESSION_OPTIONS;
  options.size = 3;
  EXPECT(ingot_session_open(model, &options, &none, &error) == INGOT_INVALID_ARGUMENT && none == NULL);
  /* A field that would be known in part. */
  options.size = offsetof(ingot_session_options, sequences);
  EXPECT(ingot_session_open(model, &options, &none, &error) == INGOT_INVALID_ARGUMENT && none == NULL);
  /* As a program has it that was compiled when options ended behind `sequences`. */
  options.size = offsetof(ingot_session_options, context);
  options.threads = 1;
  options.context = -1;
  EXPECT(ingot_session_open(model, &options, &none, &error) == INGOT_OK);
  EXPECT(ingot_session_close(none) == INGOT_OK);
}

static void embed(void) {
  int32_t tokens[3] = {5, 9, 7};
  float vectors[1024];
  double squares = 0;
  size_t rows, columns, i;
  ingot_model* model;
  ingot_session* session;
  ingot_text* text;
  EXPECT(ingot_model_open_to_embed(NULL, 7, &model, &error) == INGOT_INVALID_ARGUMENT && model == NULL);
  EXPECT(ingot_model_open_to_embed(NULL, INGOT_POOLING_MEAN, NULL, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_model_open_to_embed(NULL, INGOT_POOLING_OF_THE_FILE, &model, &error) == INGOT_OK);
  EXPECT(ingot_session_open(model, NULL, &session, &error) == INGOT_OK);
  EXPECT(ingot_embed(session, tokens, 3, NULL, 0, &rows, &columns, &error) == INGOT_OUT_OF_RANGE);
  EXPECT(rows == 1 && columns > 8 && columns < 1024);
  EXPECT(ingot_embed(session, tokens, 3, vectors, 1024, &rows, &columns, &error) == INGOT_OK);
  for (i = 0; i < columns; ++i) squares += (double)vectors[i] * vectors[i];
  EXPECT(squares > 0.999 && squares < 1.001);
  EXPECT(ingot_generate_text(session, "x", NULL, NULL, &text, &error) == INGOT_UNSUPPORTED && text == NULL);
  EXPECT(ingot_session_close(session) == INGOT_OK && ingot_model_close(model) == INGOT_OK);
  EXPECT(ingot_model_open_to_embed(NULL, INGOT_POOLING_NONE, &model, &error) == INGOT_OK);
  EXPECT(ingot_session_open(model, NULL, &session, &error) == INGOT_OK);
  EXPECT(ingot_embed(session, tokens, 3, vectors, 1024, &rows, &columns, &error) == INGOT_OK && rows == 3);
  EXPECT(ingot_session_close(session) == INGOT_OK && ingot_model_close(model) == INGOT_OK);
}

/* Of the golden model that adapters were recorded beside. */
static float logit_with(ingot_session* session, int32_t sequence, const float* scales, size_t count) {
  const int32_t tokens[3] = {5, 9, 7};
  const float* rows;
  size_t row_count, columns;
  EXPECT(ingot_sequence_use_adapters(session, sequence, scales, count, &error) == INGOT_OK);
  EXPECT(ingot_sequence_truncate(session, sequence, 0, &error) == INGOT_OK);
  EXPECT(ingot_forward(session, sequence, tokens, 3, 0, &rows, &row_count, &columns, &error) == INGOT_OK);
  return rows[columns - 1];
}

static void adapt(const char* goldens) {
  char path[1024], first[1024];
  const char* adapters[2];
  const float scales[3] = {1, 0.5f, 0};
  const float absurd = 1e9f;
  float plain, adapted;
  int32_t sequence;
  ingot_model* model;
  ingot_session* session;
  ingot_session_options options = INGOT_SESSION_OPTIONS;
  snprintf(path, sizeof(path), "%s/llama", goldens);
  snprintf(first, sizeof(first), "%s/adapters/first", goldens);
  adapters[0] = first;
  adapters[1] = "/nowhere/at all";
  EXPECT(ingot_model_open(path, &model, &error) == INGOT_OK);
  options.threads = 1;
  options.adapter_count = 1;
  EXPECT(ingot_session_open(model, &options, &session, &error) == INGOT_INVALID_ARGUMENT && session == NULL);
  options.adapters = adapters;
  options.adapter_count = SIZE_MAX;
  EXPECT(ingot_session_open(model, &options, &session, &error) == INGOT_OUT_OF_RANGE);
  options.adapter_count = 2;
  EXPECT(ingot_session_open(model, &options, &session, &error) == INGOT_NOT_FOUND);
  EXPECT(strstr(error.text, "/nowhere") != NULL);
  options.adapter_count = 1;
  EXPECT(ingot_session_open(model, &options, &session, &error) == INGOT_OK);
  EXPECT(ingot_sequence_add(session, &sequence, &error) == INGOT_OK);
  plain = logit_with(session, sequence, NULL, 0);
  adapted = logit_with(session, sequence, scales, 1);
  EXPECT(adapted - plain > 1e-3f || plain - adapted > 1e-3f);
  EXPECT(logit_with(session, sequence, scales + 2, 1) == plain);
  EXPECT(ingot_sequence_use_adapters(session, sequence, scales, 2, &error) == INGOT_OUT_OF_RANGE);
  EXPECT(ingot_sequence_use_adapters(session, sequence, NULL, 1, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_sequence_use_adapters(session, sequence, &absurd, 1, &error) == INGOT_OUT_OF_RANGE);
  EXPECT(ingot_sequence_use_adapters(session, 77, scales, 1, &error) == INGOT_INVALID_ARGUMENT);
  EXPECT(ingot_session_close(session) == INGOT_OK && ingot_model_close(model) == INGOT_OK);
}

static void prove(void) {
  ingot_text* json;
  int64_t failed = -1;
  ingot_verify_options options = INGOT_VERIFY_OPTIONS;
  EXPECT(ingot_contracts("norm.rms_norm", &json, &error) == INGOT_OK);
  EXPECT(strstr(ingot_text_data(json), "\"equation\"") != NULL);
  EXPECT(ingot_text_free(json) == INGOT_OK);
  EXPECT(ingot_contracts("norm.nonsense", &json, &error) == INGOT_NOT_FOUND && json == NULL);
  options.reduced = 1;
  EXPECT(ingot_verify("norm.rms_norm", &options, &failed, &json, &error) == INGOT_OK && failed == 0);
  EXPECT(strstr(ingot_text_data(json), "\"passed\"") != NULL);
  EXPECT(ingot_text_free(json) == INGOT_OK);
  options.variant = "nonsense";
  EXPECT(ingot_verify("norm.rms_norm", &options, NULL, NULL, &error) == INGOT_NOT_FOUND);
}

int main(int argument_count, char** arguments) {
  ingot_model* model;
  ingot_session* session;
  ingot_text* text;
  ingot_sampling sampling = INGOT_SAMPLING;
  ingot_session_options options = INGOT_SESSION_OPTIONS;
  const ingot_message message = {"user", "Hello"};
  char said[1024];
  int64_t context;
  EXPECT(ingot_c_version() == INGOT_C_VERSION && strlen(ingot_version()) > 0);
  EXPECT(ingot_model_open("built-in:tales", &model, &error) == INGOT_OK);
  EXPECT(ingot_model_facts(model, &text, &error) == INGOT_OK);
  EXPECT(strstr(ingot_text_data(text), "\"vocabulary\"") != NULL);
  EXPECT(ingot_text_free(text) == INGOT_OK);
  EXPECT(ingot_chat_text(model, &message, 1, &text, &error) == INGOT_NOT_FOUND);
  EXPECT(ingot_sampling_advised(model, &sampling, &error) == INGOT_OK && sampling.temperature == 0);
  options.threads = 1;
  options.context = ROOM;
  EXPECT(ingot_session_open(model, &options, &session, &error) == INGOT_OK);
  EXPECT(ingot_session_context(session, &context, &error) == INGOT_OK && context == ROOM);
  refuse_handles(model, session);
  /* The session keeps what it needs of the model. */
  EXPECT(ingot_model_close(model) == INGOT_OK);
  generate(session, said);
  EXPECT(ingot_model_open(NULL, &model, &error) == INGOT_OK);
  step(model, session, said);
  EXPECT(argument_count == 3);
  save_and_load(model, session, arguments[1]);
  refuse_sizes(model, session);
  embed();
  adapt(arguments[2]);
  prove();
  EXPECT(ingot_session_close(session) == INGOT_OK);
  EXPECT(ingot_session_context(session, &context, &error) == INGOT_BAD_HANDLE);
  EXPECT(ingot_model_close(model) == INGOT_OK);
  printf("%s", said);
  return 0;
}
