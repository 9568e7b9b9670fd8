// The C interface, called in any order with right, closed, foreign and invented handles, and with any sizes. What it
// must not do is crash, or write where it was not told to.
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>

#include "bindings/c/ingot.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;

namespace {

constexpr std::size_t room = 64;

void expect(bool holds) {
  if (!holds) std::abort();
}

// What a careless program has in its variables.
struct Program {
  std::array<ingot_model*, 2> models = {};
  std::array<ingot_session*, 2> sessions = {};
  std::array<ingot_sampler*, 2> samplers = {};
  std::array<ingot_text*, 2> texts = {};
  const float* rows = nullptr;
  std::size_t columns = 0;
};

template <class Handle>
Handle* any(ByteSource& source, const std::array<Handle*, 2>& own, const void* foreign) {
  switch (source.take_between(0, 11)) {
    case 0: return nullptr;
    case 1: return static_cast<Handle*>(const_cast<void*>(foreign));
    case 2: return std::bit_cast<Handle*>(source.take<std::uintptr_t>());
    default: return own[static_cast<std::size_t>(source.take_between(0, 1))];
  }
}

std::size_t any_size(ByteSource& source, std::size_t most) {
  constexpr std::array absurd = {std::numeric_limits<std::size_t>::max(), std::size_t{1} << 31, std::size_t{1} << 63};
  const auto wild = static_cast<std::size_t>(source.take_between(0, 20));
  return wild < absurd.size() ? absurd[wild] : static_cast<std::size_t>(source.take<std::uint8_t>()) % (most + 1);
}

std::int32_t any_token(ByteSource& source) {
  return source.take_between(0, 9) == 0 ? source.take<std::int32_t>() : source.take<std::uint8_t>();
}

void open_session(ByteSource& source, Program& program, std::size_t place, const ingot_model* model) {
  static constexpr std::array<const char*, 2> adapters = {"/nowhere", nullptr};
  ingot_session_options options = INGOT_SESSION_OPTIONS;
  options.threads = 1;
  options.context = room;
  options.sequences = 2;
  switch (source.take_between(0, 9)) {
    case 0: options.threads = source.take<std::int32_t>(); break;
    case 1: options.sequences = -source.take<std::uint8_t>(); break;
    case 2: options.context = -1 - std::int64_t{source.take<std::uint32_t>()}; break;
    case 3: options.cache = source.take<std::int8_t>(); break;
    case 4: options.size = source.take<std::uint8_t>(); break;
    case 5: options.adapter_count = any_size(source, 2); break;
    case 6:
      options.adapters = adapters.data();
      options.adapter_count = adapters.size();
      break;
    default: break;
  }
  // More threads than there are processors are allowed, and would take their time.
  if (options.threads > 2 && options.threads <= 1024) options.threads = 2;
  // A shorter size leaves the defaults of what lies behind it, which is a large cache.
  if (options.size < sizeof(options)) options.size %= sizeof(std::size_t);
  ingot_session_close(program.sessions[place]);
  ingot_session_open(model, &options, &program.sessions[place], nullptr);
}

// What is saved; gone when the program ends.
struct SavedFile {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("c_interface_fuzz." + std::to_string(getpid()))).string();
  ~SavedFile() { std::filesystem::remove(path); }
};

const char* any_path(ByteSource& source) {
  static const SavedFile file;
  switch (source.take_between(0, 5)) {
    case 0: return nullptr;
    case 1: return "/nowhere/at/all";
    case 2: return "";
    default: return file.path.c_str();
  }
}

std::int32_t refuse_later(void* left, const char*, std::size_t) { return --*static_cast<int*>(left) <= 0; }

void call(ByteSource& source, Program& program) {
  ingot_error error;
  std::array<std::int32_t, room> tokens;
  for (std::size_t i = 0; i < 4; ++i) tokens[i] = any_token(source);
  const auto place = static_cast<std::size_t>(source.take_between(0, 1));
  ingot_model* const model = any(source, program.models, program.sessions[place]);
  ingot_session* const session = any(source, program.sessions, program.samplers[place]);
  ingot_sampler* const sampler = any(source, program.samplers, program.models[place]);
  ingot_text* const text = any(source, program.texts, program.models[place]);
  const std::int32_t sequence = source.take_between(0, 9) == 0 ? source.take<std::int32_t>() : place == 0 ? 0 : 1;
  std::int32_t number = 0;
  std::int64_t length = 0;
  std::size_t count = 0;
  std::size_t columns = 0;
  switch (source.take_between(0, 22)) {
    case 0: ingot_model_close(source.take_between(0, 3) == 0 ? model : nullptr); break;
    case 1:
      if (program.models[place] != nullptr) break;
      if (place == 0) ingot_model_open(nullptr, &program.models[place], &error);
      if (place == 1) ingot_model_open_to_embed(nullptr, source.take_between(-3, 5), &program.models[place], &error);
      break;
    case 2: open_session(source, program, place, model); break;
    case 3: ingot_session_close(session); break;
    case 4:
      ingot_sampler_close(program.samplers[place]);  // which keeps its session
      ingot_sampler_open(session, nullptr, &program.samplers[place], &error);
      break;
    case 5: ingot_sampler_close(sampler); break;
    case 6: ingot_tokenize(model, "some text", any_size(source, 9), 0, tokens.data(), room, &count, &error); break;
    case 7: ingot_detokenize(model, tokens.data(), any_size(source, 4), 0, &program.texts[place], &error); break;
    case 8: ingot_text_free(text); break;
    case 9: expect(ingot_text_data(text)[ingot_text_size(text)] == 0); break;
    case 10: ingot_sequence_add(session, &number, &error); break;
    case 11: ingot_sequence_fork(session, sequence, &number, &error); break;
    case 12: ingot_sequence_truncate(session, sequence, source.take<std::int8_t>(), &error); break;
    case 13: ingot_sequence_length(session, sequence, &length, &error); break;
    case 14: ingot_sequence_remove(session, sequence, &error); break;
    case 15:
    case 16:
      if (ingot_forward(session, sequence, tokens.data(), any_size(source, 4), place == 0, &program.rows, &count,
                        &program.columns, &error) == INGOT_OK) {
        expect(program.rows[count * program.columns - 1] < 1e30f);
        if (ingot_sample(sampler, program.rows, program.columns, &number, &error) == INGOT_OK) expect(number >= 0);
      }
      break;
    case 17: ingot_sample(sampler, nullptr, any_size(source, 4), &number, &error); break;
    case 18: ingot_embed(session, tokens.data(), any_size(source, 4), nullptr, 0, &count, &columns, &error); break;
    case 19:
      ingot_sequence_save(session, sequence, tokens.data(), any_size(source, 4), any_path(source), &error);
      break;
    case 20:
      if (ingot_sequence_load(session, sequence, any_path(source), tokens.data(), any_size(source, room), &count,
                              &error) == INGOT_OK) {
        expect(count <= room && ingot_sequence_length(session, sequence, &length, &error) == INGOT_OK);
        expect(length <= static_cast<std::int64_t>(count));
      }
      break;
    case 21: {
      const float scales[] = {0.5f, 1e9f};
      ingot_sequence_use_adapters(session, sequence, place == 0 ? scales : nullptr, any_size(source, 2), &error);
      break;
    }
    default: {
      int left = 3;
      ingot_generation report = INGOT_GENERATION;
      report.token_ids = tokens.data() + 4;
      report.token_capacity = static_cast<std::size_t>(source.take_between(0, 5));
      if (source.take_between(0, 7) == 0) report.size = source.take<std::uint8_t>();
      ingot_generation_options options = INGOT_GENERATION_OPTIONS;
      options.most_tokens = source.take_between(-1, 4);
      options.on_text = refuse_later;
      options.user = &left;
      options.stop_count = source.take_between(0, 7) == 0 ? any_size(source, 0) : 0;
      ingot_generate(session, sequence, tokens.data(), any_size(source, 4), &options, &report, &program.texts[place],
                     &error);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Program program;  // what one input leaves is what the next one finds
  ByteSource source(data, size);
  if (program.models[0] == nullptr || ingot_model_facts(program.models[0], nullptr, nullptr) == INGOT_BAD_HANDLE) {
    expect(ingot_model_open(nullptr, program.models.data(), nullptr) == INGOT_OK);
  }
  while (!source.empty()) call(source, program);
  return 0;
}
