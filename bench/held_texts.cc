// What it costs to hold texts to a schema, and what tokens that it forces save: bench_held_texts [MODEL.gguf [THREADS
// [NAME]]] Turns of free and of held texts, so that whatever else the machine does falls on both; the same number of
// tokens each.
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/service.h"
#include "model/grammar/constraints.h"
#include "profile/statistics.h"

namespace {

using namespace ingot;

constexpr std::int64_t tokens = 48;
constexpr int turns = 5;

// Longer than any text here.
constexpr const char* records = R"({"type": "array", "minItems": 1000, "items": {"type": "object", "properties":
  {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 150}, "tags": {"type": "array",
  "items": {"type": "string", "maxLength": 20}}}, "required": ["name", "age", "tags"], "additionalProperties": false}})";
constexpr const char* fixed_keys = R"({"type": "array", "minItems": 1000, "items": {"type": "object", "properties":
  {"first_name_of_the_customer": {"type": "string", "maxLength": 10}, "number_of_orders_this_year": {"type": "integer",
  "minimum": 0, "maximum": 99}, "has_agreed_to_be_contacted": {"type": "boolean"}, "preferred_language_of_letters":
  {"enum": ["English", "French", "German"]}}, "required": ["first_name_of_the_customer", "number_of_orders_this_year",
  "has_agreed_to_be_contacted", "preferred_language_of_letters"], "additionalProperties": false}})";

struct Silent : GenerationListener {
  void on_token(const ChosenToken&) override {}
  void on_end(const GenerationEnding& ending) override {
    if (ending.end == GenerationEnd::token_limit) return;
    std::fprintf(stderr, "ended early: %s\n", std::string(name_of(ending.end)).c_str());
  }
};

struct Seconds {
  double wall = 0;
  double processor = 0;  // of all threads
};

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Bench {
  Session& session;
  const Tokenizer& tokenizer;
  grammar::Constraints constraints{tokenizer};

  TextRequest request(std::uint64_t seed, const std::shared_ptr<const grammar::Constraint>& constraint) const {
    TextRequest asked;
    asked.prompt =
        tokenizer.encode("Customers number " + std::to_string(seed) + " and on, as a list in JSON:\n").value();
    asked.most_tokens = tokens;
    asked.ignores_end = true;
    asked.sampling = {.temperature = 0.8, .top_p = 0.95, .seed = seed};
    asked.salt = seed;
    asked.constraint = constraint;
    return asked;
  }

  Seconds run(int streams, const std::shared_ptr<const grammar::Constraint>& constraint,
              const ServiceOptions& options) {
    Bell bell;
    const auto service = Service::create(session, tokenizer, bell, options).value();
    for (int stream = 0; stream < streams; ++stream) {
      const auto submitted =
          service->submit(request(static_cast<std::uint64_t>(stream), constraint), std::make_shared<Silent>());
      if (!submitted.ok()) std::fprintf(stderr, "%s\n", std::string(submitted.error().text()).c_str());
    }
    const auto begin = std::chrono::steady_clock::now();
    const double processor = processor_seconds();
    while (service->step() || service->awaits_masks()) {
      if (service->awaits_masks()) bell.wait();
    }
    counts_ = service->counts();
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
            processor_seconds() - processor};
  }

  void compare(const char* name, int streams, const grammar::GrammarSource& source, const ServiceOptions& options) {
    const auto constraint = constraints.of(source).value();
    std::vector<double> wall, processor, free_rate, held_rate;
    for (int turn = -1; turn < turns; ++turn) {
      const Seconds free = run(streams, nullptr, options);
      const Seconds held = run(streams, constraint, options);
      if (turn < 0) continue;  // plans and masks are there
      wall.push_back(free.wall / held.wall);
      processor.push_back(free.processor / held.processor);
      free_rate.push_back(streams * tokens / free.wall);
      held_rate.push_back(streams * tokens / held.wall);
    }
    const Summary walls = summarise(wall);
    std::printf(
        "%-34s %d streams: free %6.1f tokens/s, held %6.1f; x%.3f in time (%.3f to %.3f), x%.3f of processors; "
        "forced %lld of %lld, passes %lld\n",
        name, streams, summarise(free_rate).median, summarise(held_rate).median, walls.median,
        *std::ranges::min_element(wall), *std::ranges::max_element(wall), summarise(processor).median,
        static_cast<long long>(counts_.forced_tokens), static_cast<long long>(counts_.generated_tokens),
        static_cast<long long>(counts_.decoding_passes));
  }

  ServiceCounts counts_ = {};  // of the last run
};

}  // namespace

int main(int argument_count, char** arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto model = argument_count > 1 ? Model::open(arguments[1]) : Model::open_default();
  if (!model.ok()) {
    std::fprintf(stderr, "%s\nusage: bench_held_texts [MODEL.gguf [THREADS [NAME]]]\n",
                 std::string(model.error().text()).c_str());
    return 2;
  }
  const int threads = argument_count > 2 ? std::atoi(arguments[2]) : 2;
  const auto session = Session::create(model.value(), {.threads = threads, .context = 256, .sequences = 8});
  Bench bench{*session.value(), *model.value()->tokenizer().value()};
  const std::string_view only = argument_count > 3 ? arguments[3] : "";
  const auto compare = [&](const char* name, int streams, const char* schema, bool forces) {
    if (!only.empty() && only != name) return;
    const grammar::JsonSchemaOptions json{.most_white_space = schema == fixed_keys ? 0u : 64u};
    bench.compare(name, streams, {.text = schema, .json = json}, {.forces_tokens = forces});
  };
  for (const int streams : {8, 1}) {
    compare("records, all chosen", streams, records, false);
    compare("records", streams, records, true);
    compare("fixed keys, all chosen", streams, fixed_keys, false);
    compare("fixed keys", streams, fixed_keys, true);
  }
  return 0;
}
