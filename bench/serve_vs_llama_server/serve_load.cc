// How long do clients of a completions server wait for their words, and how many do they get?
//
//   bench_serve_load --url http://127.0.0.1:8080 [--clients N | --rate R] [--requests N] ...
//
// One thread on epoll. Prompts are token ids from a seed, so that every server gets the same; answers are streamed and
// read event by event. Prints JSON; the server's failures are part of it. Exit code 1 where it could not measure, 2 for
// bad usage. bench/serve_vs_llama_server/README.md says more.
#include <cstdio>

#include "bench/serve_vs_llama_server/connection.h"
#include "bench/serve_vs_llama_server/load.h"
#include "bench/serve_vs_llama_server/statistics.h"
#include "bench/words.h"

namespace {

using namespace ingot;

int complain(const Error& error) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(error.text().size()), error.text().data());
  return error.code() == ErrorCode::invalid_argument ? 2 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  std::string url = "http://127.0.0.1:8080";
  load::LoadOptions options;
  load::WorkloadOptions& workload = options.workload;
  for (Words words(count, arguments); words.next();) {
    if (words.take("--url", url) || words.take("--clients", options.clients) || words.take("--rate", workload.rate) ||
        words.take("--requests", workload.requests) || words.take("--prompt-tokens", workload.prompt_tokens) ||
        words.take("--tokens", workload.tokens) || words.take("--shared-prefix", workload.shared_prefix) ||
        words.take("--mixed", workload.is_mixed) || words.take("--temperature", workload.temperature) ||
        words.take("--seed", workload.seed) || words.take("--first-id", workload.first_id) ||
        words.take("--end-id", workload.end_id) || words.take("--seconds", options.most_seconds) ||
        words.take("--intruder-tokens", workload.intruder_tokens) ||
        words.take("--intruder-after", options.intruder_after) || words.take("--probe", options.probe_path) ||
        words.take("--probe-interval", options.probe_interval)) {
      continue;
    }
    return words.complain(
        "--url URL, --clients N, --rate R, --requests N, --prompt-tokens N, --tokens N, --shared-prefix N, --mixed, "
        "--temperature T, --seed N, --first-id N, --end-id N, --seconds S, --intruder-tokens N, --intruder-after N, "
        "--probe PATH or --probe-interval S");
  }
  const auto address = load::address_of(url);
  if (!address.ok()) return complain(address.error());
  options.address = address.value();
  const auto record = load::run_load(options);
  if (!record.ok()) return complain(record.error());
  std::printf("%s\n", load::report_of(record.value()).c_str());
}
