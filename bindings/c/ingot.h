/*
 * Ingot for programs in C, and for whatever calls C.
 *
 *   ingot_model* model;
 *   ingot_session* session;
 *   ingot_error error;
 *   if (ingot_model_open("model.gguf", &model, &error) != INGOT_OK) puts(error.text);
 *
 * Rules that hold for every function:
 *
 * Handles (ingot_model*, ingot_session*, ingot_sampler*, ingot_text*) name what the library keeps; they are no
 *   addresses, and must not be looked into. A null, wrong or closed one is INGOT_BAD_HANDLE, never a crash. Whoever
 *   opens closes, by the function that says so; what another handle still needs lives on until that is closed, too.
 *   Closing null does nothing.
 * Failure is told by the status that is returned, and by words in *error where `error` is not null. Those say what was
 *   expected, what was found, and mostly what to do. What a failed function would have written is 0 or null; structs
 *   with a `size` are as they were.
 * Threads: a model and a text may be used by any number of threads at once. A session, with its samplers, is used by
 *   one thread at a time: a call that comes while another is under way, a callback's own among them, is INGOT_BUSY and
 *   does nothing. Sessions know nothing of each other. A process that was forked has none of the threads that compute:
 *   there, sessions of before are INGOT_INVALID_ARGUMENT, but for being closed.
 * Texts that go in are bytes with their length, or end with a zero where a parameter has no length; they are read
 *   during the call alone. Texts that come out are UTF-8 and end with a zero.
 * Options have a first field `size`, by which a newer library knows what an older program knew: begin with the
 *   INGOT_..._OPTIONS of the same name. It is a multiple of 8. Null stands for these defaults.
 * Callbacks run on the thread of the call, and must return: no longjmp, no exception of C++.
 */
#ifndef INGOT_H
#define INGOT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define INGOT_API __attribute__((visibility("default")))
#else
#define INGOT_API
#endif

/* Of this header. It grows by one when a program that was written for it has to be changed: then libingot.so has
 * another name. Additions do not count. */
#define INGOT_C_VERSION 1

/* The INGOT_C_VERSION of the library that runs. Any thread, at any time. */
INGOT_API int32_t ingot_c_version(void);
/* What Ingot it is, "0.1.0"; lives as long as the program. */
INGOT_API const char* ingot_version(void);

/* --- failure ------------------------------------------------------------------------------------------------------ */

typedef enum ingot_status {
  INGOT_OK = 0,
  INGOT_INVALID_ARGUMENT = 1,
  INGOT_OUT_OF_RANGE = 2, /* an index, a size, or a buffer that is too small */
  INGOT_OVERFLOW = 3,
  INGOT_UNSUPPORTED = 4, /* understood, and not available here */
  INGOT_NOT_FOUND = 5,
  INGOT_OUT_OF_MEMORY = 6,
  INGOT_INPUT_OUTPUT = 7,
  INGOT_CORRUPT = 8, /* data contradicts itself */
  INGOT_DENIED = 9,
  INGOT_BUSY = 10,       /* another call on the same session is under way */
  INGOT_BAD_HANDLE = 11, /* null, closed, or a handle of another kind */
  INGOT_INTERNAL = 12    /* a fault of the library: please tell */
} ingot_status;

#define INGOT_ERROR_TEXT 512

/* Yours: put one on the stack. Every function that takes one writes it, on success an empty text. */
typedef struct ingot_error {
  int32_t status;
  char text[INGOT_ERROR_TEXT];
} ingot_error;

/* --- texts that come out ------------------------------------------------------------------------------------------ */

typedef struct ingot_text ingot_text;

/* The bytes, with a zero behind them, until the text is freed; "" for a bad handle. */
INGOT_API const char* ingot_text_data(const ingot_text* text);
/* How many, without that zero. */
INGOT_API size_t ingot_text_size(const ingot_text* text);
INGOT_API ingot_status ingot_text_free(ingot_text* text);

/* --- models ------------------------------------------------------------------------------------------------------- */

typedef struct ingot_model ingot_model;

/* Maps a .gguf file (of a split one any piece), a .safetensors file beside its config.json, or a folder with either.
 * Null or "built-in:tales": the small model that the library carries. Close it by ingot_model_close(); sessions on it
 * keep it. */
INGOT_API ingot_status ingot_model_open(const char* path, ingot_model** model, ingot_error* error);

/* How vectors of tokens become a text's. */
typedef enum ingot_pooling {
  INGOT_POOLING_OF_THE_FILE = -1, /* of a model that predicts tokens the last one's, where the file says nothing */
  INGOT_POOLING_NONE = 0,         /* they do not */
  INGOT_POOLING_MEAN = 1,
  INGOT_POOLING_FIRST = 2,
  INGOT_POOLING_LAST = 3
} ingot_pooling;

/* The same for ingot_embed() alone, for which a model that predicts tokens makes vectors then, too. `pooling`: an
 * ingot_pooling. */
INGOT_API ingot_status ingot_model_open_to_embed(const char* path, int32_t pooling, ingot_model** model,
                                                 ingot_error* error);
INGOT_API ingot_status ingot_model_close(ingot_model* model);

/* Name, architecture, vocabulary, layers, width, context, makes_embeddings, chat_template and more, as a JSON object.
 * Free *json by ingot_text_free(). */
INGOT_API ingot_status ingot_model_facts(const ingot_model* model, ingot_text** json, ingot_error* error);

enum {
  INGOT_PLAIN = 1,  /* do not put the model's own special tokens around the text */
  INGOT_SPECIAL = 2 /* going in: "<|im_end|>" is the token of that name; coming out: special tokens are spelled */
};

/* Writes the tokens of a text to `tokens`, which has room for `capacity`, and how many they are to *count: if there are
 * more than that, nothing is written and the status is INGOT_OUT_OF_RANGE, so that a call with a capacity of 0 (then
 * `tokens` may be null) asks for the size. `flags` are of the above, or 0. */
INGOT_API ingot_status ingot_tokenize(const ingot_model* model, const char* text, size_t size, uint32_t flags,
                                      int32_t* tokens, size_t capacity, size_t* count, ingot_error* error);
/* The text of tokens; bytes that are no UTF-8 are U+FFFD. Free *text. Numbers that are no tokens are
 * INGOT_OUT_OF_RANGE. */
INGOT_API ingot_status ingot_detokenize(const ingot_model* model, const int32_t* tokens, size_t count, uint32_t flags,
                                        ingot_text** text, ingot_error* error);

typedef struct ingot_message {
  const char* role; /* "system", "user", "assistant" */
  const char* content;
} ingot_message;

/* The tokens of a chat that the model is to answer, as its own template writes them: what messages spell is text and
 * never a special token. `tokens`, `capacity`, `count` as of ingot_tokenize(). INGOT_NOT_FOUND: it has no template. */
INGOT_API ingot_status ingot_chat_tokens(const ingot_model* model, const ingot_message* messages, size_t message_count,
                                         int32_t* tokens, size_t capacity, size_t* count, ingot_error* error);
/* The same as text, to look at: tokens made of it would let messages spell special ones. Free *text. */
INGOT_API ingot_status ingot_chat_text(const ingot_model* model, const ingot_message* messages, size_t message_count,
                                       ingot_text** text, ingot_error* error);

/* --- sessions ----------------------------------------------------------------------------------------------------- */

typedef struct ingot_session ingot_session;

typedef enum ingot_cache { INGOT_CACHE_F16 = 0, INGOT_CACHE_F32 = 1, INGOT_CACHE_Q8_0 = 2 } ingot_cache;

typedef struct ingot_session_options {
  size_t size;
  int32_t threads;             /* 0: as many as CPUs that this process may use; at most 1024 */
  int32_t sequences;           /* that may live at once, forks among them; at most 4096 */
  int64_t context;             /* most tokens of a sequence; 0: the model's, at most 4096 */
  int32_t cache;               /* an ingot_cache: how keys and values are kept */
  int32_t deterministic;       /* not 0: what a sequence yields never depends on what else is computed with it */
  const char* const* adapters; /* LoRA adapters of the model: .gguf files and folders as peft saves them */
  size_t adapter_count;        /* at most 1024; they count nothing until ingot_sequence_use_adapters() says so */
} ingot_session_options;

#define INGOT_SESSION_OPTIONS {sizeof(ingot_session_options), 0, 4, 0, INGOT_CACHE_F16, 0, NULL, 0}

/* Memory and threads to compute with. Close it by ingot_session_close(); samplers of it keep it, and a call that is
 * under way ends first. */
INGOT_API ingot_status ingot_session_open(const ingot_model* model, const ingot_session_options* options,
                                          ingot_session** session, ingot_error* error);
INGOT_API ingot_status ingot_session_close(ingot_session* session);
/* Most tokens that one of its sequences may have. */
INGOT_API ingot_status ingot_session_context(ingot_session* session, int64_t* context, ingot_error* error);

/* Sequences are numbers from 0 on. The number of one that was removed is given out again. */
INGOT_API ingot_status ingot_sequence_add(ingot_session* session, int32_t* sequence, ingot_error* error);
/* A copy that goes its own way; what both have in common is held once. */
INGOT_API ingot_status ingot_sequence_fork(ingot_session* session, int32_t sequence, int32_t* copy, ingot_error* error);
INGOT_API ingot_status ingot_sequence_length(ingot_session* session, int32_t sequence, int64_t* length,
                                             ingot_error* error);
/* Forgets what lies behind `length`. Models with windows or states cannot be turned back far: INGOT_UNSUPPORTED says to
 * where; 0 always works. */
INGOT_API ingot_status ingot_sequence_truncate(ingot_session* session, int32_t sequence, int64_t length,
                                               ingot_error* error);
INGOT_API ingot_status ingot_sequence_remove(ingot_session* session, int32_t sequence, ingot_error* error);
/* How much each of the session's adapters counts in the sequence from now on, from -1000 to 1000, in their order; those
 * behind the last scale count nothing. Another set than it has empties the sequence. A new one has none, a fork those
 * of its origin. */
INGOT_API ingot_status ingot_sequence_use_adapters(ingot_session* session, int32_t sequence, const float* scales,
                                                   size_t count, ingot_error* error);

/* Writes a sequence to a file, from which any session of the same model and the same cache goes on without computing it
 * again. `tokens`: those that it holds, in their order; behind them may stand such as were chosen and are not computed
 * yet. The file has a checksum; it appears whole or not at all, in the place of one that is there. */
INGOT_API ingot_status ingot_sequence_save(ingot_session* session, int32_t sequence, const int32_t* tokens,
                                           size_t count, const char* path, ingot_error* error);
/* Reads such a file into an empty sequence. Its tokens are written to `tokens`, as by ingot_tokenize(); of these the
 * sequence holds the first ingot_sequence_length(), and the others come first in what is computed next. The context and
 * one more have room for what ingot_generate() leaves. INGOT_CORRUPT: the file has changed. INGOT_INVALID_ARGUMENT: it
 * is of another model or another cache, or the sequence is not empty. On failure the sequence is empty. */
INGOT_API ingot_status ingot_sequence_load(ingot_session* session, int32_t sequence, const char* path, int32_t* tokens,
                                           size_t capacity, size_t* count, ingot_error* error);

/* Appends tokens to the sequence and computes, of the last or (all != 0) of all of them, a row of `columns` logits.
 * *rows points to the library's own memory, without a copy: it is good until the next forward, generate or embed of
 * this session, or until that is closed. A model that makes embeddings gives vectors in their place. */
INGOT_API ingot_status ingot_forward(ingot_session* session, int32_t sequence, const int32_t* tokens, size_t count,
                                     int32_t all, const float** rows, size_t* row_count, size_t* columns,
                                     ingot_error* error);

/* --- choosing tokens ---------------------------------------------------------------------------------------------- */

typedef struct ingot_sampling {
  size_t size;
  double temperature;        /* 0: the most likely token */
  int64_t top_k;             /* 0: off */
  double top_p;              /* 1: off */
  double min_p;              /* 0: off */
  double repetition_penalty; /* 1: off */
  double presence_penalty;   /* 0: off */
  double frequency_penalty;  /* 0: off */
  int64_t penalty_window;    /* how many of the last tokens penalties look at */
  uint64_t seed;             /* the same seed draws the same tokens */
} ingot_sampling;

#define INGOT_SAMPLING {sizeof(ingot_sampling), 0, 0, 1, 0, 1, 0, 0, 64, 0}

/* What the model's file advises, with the defaults where it says nothing. `sampling->size` must be set. */
INGOT_API ingot_status ingot_sampling_advised(const ingot_model* model, ingot_sampling* sampling, ingot_error* error);

typedef struct ingot_sampler ingot_sampler;

/* Null options: what the model's file advises. Close it by ingot_sampler_close(). */
INGOT_API ingot_status ingot_sampler_open(ingot_session* session, const ingot_sampling* options,
                                          ingot_sampler** sampler, ingot_error* error);
INGOT_API ingot_status ingot_sampler_close(ingot_sampler* sampler);
/* Tokens that penalties should see: a prompt. */
INGOT_API ingot_status ingot_sampler_remember(ingot_sampler* sampler, const int32_t* tokens, size_t count,
                                              ingot_error* error);
/* The token chosen from one row of logits, as many as the vocabulary has; penalties will see it. */
INGOT_API ingot_status ingot_sample(ingot_sampler* sampler, const float* logits, size_t count, int32_t* token,
                                    ingot_error* error);
/* *ends: 1 where the model ends its text by this token, else 0. */
INGOT_API ingot_status ingot_token_ends(const ingot_model* model, int32_t token, int32_t* ends, ingot_error* error);

/* --- generation --------------------------------------------------------------------------------------------------- */

/* Is given each piece of text as it comes: `size` bytes, whole UTF-8, and a zero behind them; may be empty. 0 goes on,
 * all else ends the generation. `user` is what was given with the callback. */
typedef int32_t (*ingot_text_callback)(void* user, const char* text, size_t size);

typedef struct ingot_generation_options {
  size_t size;
  int64_t most_tokens;
  const ingot_sampling* sampling; /* null: what the model's file advises */
  const char* const* stops;       /* UTF-8: texts that end it, and are not part of it */
  size_t stop_count;
  ingot_text_callback on_text; /* null: nobody listens */
  void* user;
} ingot_generation_options;

#define INGOT_GENERATION_OPTIONS {sizeof(ingot_generation_options), 256, NULL, NULL, 0, NULL, NULL}

typedef enum ingot_end {
  INGOT_END_MODEL = 0,    /* the model said so */
  INGOT_END_TOKENS = 1,   /* most_tokens */
  INGOT_END_CONTEXT = 2,  /* the sequence is full */
  INGOT_END_CALLBACK = 3, /* on_text said so */
  INGOT_END_STOP = 4      /* one of the stops came */
} ingot_end;

typedef struct ingot_generation {
  size_t size;  /* set it before the call: see INGOT_GENERATION */
  int32_t end;  /* an ingot_end */
  int32_t stop; /* which of the stops, from 0 on; -1: none */
  int64_t prompt_tokens;
  int64_t tokens;
  double prompt_seconds; /* until the first token was chosen */
  double seconds;        /* from then on */
  int32_t* token_ids;    /* set it before the call: yours, where the tokens are written to; null: nowhere */
  size_t token_capacity; /* how many it has room for; no more are written. most_tokens are enough */
} ingot_generation;

#define INGOT_GENERATION {sizeof(ingot_generation), 0, -1, 0, 0, 0, 0, NULL, 0}

/* Continues the sequence by `tokens` and by what the model says to that. The sequence holds all of it afterwards where
 * the model ended it (INGOT_END_MODEL); else all but the last token, which nothing has been computed of, and which
 * comes first in what follows. `report` and `text` may be null; free *text. */
INGOT_API ingot_status ingot_generate(ingot_session* session, int32_t sequence, const int32_t* tokens, size_t count,
                                      const ingot_generation_options* options, ingot_generation* report,
                                      ingot_text** text, ingot_error* error);
/* The same for a text (ending with a zero) in a sequence of its own, which is removed again. */
INGOT_API ingot_status ingot_generate_text(ingot_session* session, const char* prompt,
                                           const ingot_generation_options* options, ingot_generation* report,
                                           ingot_text** text, ingot_error* error);

/* --- embeddings --------------------------------------------------------------------------------------------------- */

/* Vectors of length one, of a model that makes them: one for all tokens, or one each where it does not pool them.
 * Writes *row_count times *columns numbers to `vectors`, which has room for `capacity`; where that is too small they
 * are only told, and the status is INGOT_OUT_OF_RANGE. */
INGOT_API ingot_status ingot_embed(ingot_session* session, const int32_t* tokens, size_t count, float* vectors,
                                   size_t capacity, size_t* row_count, size_t* columns, ingot_error* error);

/* --- compute kernels ---------------------------------------------------------------------------------------------- */

/* The contracts of a family ("norm") or one ("norm.rms_norm"), all where `name` is null: equations and variants, which
 * of them are available and which is typically selected here, as JSON. Any thread. Free *json. */
INGOT_API ingot_status ingot_contracts(const char* name, ingot_text** json, ingot_error* error);

typedef struct ingot_verify_options {
  size_t size;
  const char* variant; /* null: all */
  uint64_t seed;
  int32_t reduced;  /* not 0: fewer combinations */
  int32_t reserved; /* 0 */
} ingot_verify_options;

#define INGOT_VERIFY_OPTIONS {sizeof(ingot_verify_options), NULL, 1, 0, 0}

/* Proves variants against their references, as `ingot verify --json` does. *failed: how many failed. A variant that
 * touches memory beside its own is found by signals: while this runs, SIGSEGV and SIGBUS have a handler of the
 * library's, and a second call is INGOT_BUSY. Free *json; `failed` and `json` may be null. */
INGOT_API ingot_status ingot_verify(const char* name, const ingot_verify_options* options, int64_t* failed,
                                    ingot_text** json, ingot_error* error);

#ifdef __cplusplus
}
#endif

#endif
