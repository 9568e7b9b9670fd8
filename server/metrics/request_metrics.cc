#include "server/metrics/request_metrics.h"

#include <algorithm>
#include <filesystem>

#include "machine/parse.h"
#include "machine/system_files.h"
#include "server/metrics/metrics_text.h"

namespace ingot {
namespace {

// vLLM's words, and one that it has no need of.
std::string_view finished_reason(GenerationEnd end) {
  switch (end) {
    case GenerationEnd::none: break;
    case GenerationEnd::model:
    case GenerationEnd::stop: return "stop";
    case GenerationEnd::token_limit: return "length";
    case GenerationEnd::deadline: return "deadline";
    case GenerationEnd::cancelled: return "abort";
    case GenerationEnd::failed: return "error";
  }
  return "";
}

// One name at a time, over all models: the form wants its samples together.
class Writer {
 public:
  explicit Writer(const std::vector<ModelFigures>& models) : models_(models) {}

  using Number = double (*)(const ModelFigures&);
  void gauge(std::string_view name, std::string_view help, Number number) {
    text_.begin_gauge(name, help);
    samples(number);
  }
  void counter(std::string_view name, std::string_view help, Number number) {
    text_.begin_counter(name, help);
    samples(number);
  }
  void histogram(std::string_view name, std::string_view help, Histogram RequestMetrics::* member) {
    text_.begin_histogram(name, help);
    for (const ModelFigures& model : models_) {
      const std::array labels = {MetricLabel{"model_name", model.name}};
      text_.sample(labels, model.requests->*member);
    }
  }
  void ends() {
    text_.begin_counter("ingot_request_success_total", "Requests that ended, by how.");
    for (const ModelFigures& model : models_) {
      const auto count = [&](GenerationEnd end) {
        return static_cast<double>(model.requests->ended[static_cast<std::size_t>(end)].load());
      };
      for (const GenerationEnd end : {GenerationEnd::stop, GenerationEnd::token_limit, GenerationEnd::deadline,
                                      GenerationEnd::cancelled, GenerationEnd::failed}) {
        const std::array labels = {MetricLabel{"model_name", model.name},
                                   MetricLabel{"finished_reason", finished_reason(end)}};
        // Both are said to be "stop".
        text_.sample(labels, count(end) + (end == GenerationEnd::stop ? count(GenerationEnd::model) : 0));
      }
    }
  }
  void passes() {
    text_.begin_counter("ingot_passes_total", "Passes through the model, by what they computed.");
    for (const ModelFigures& model : models_) {
      const auto sample = [&](std::string_view kind, std::int64_t passes) {
        const std::array labels = {MetricLabel{"model_name", model.name}, MetricLabel{"kind", kind}};
        text_.sample(labels, static_cast<double>(passes));
      };
      sample("decoding", model.service.decoding_passes);
      sample("prompts", model.service.prompt_passes);
      sample("mixed", model.service.mixed_passes);
    }
  }
  void count_gauge(std::string_view name, std::string_view help, std::int64_t value) {
    text_.begin_gauge(name, help);
    text_.sample({}, static_cast<double>(value));
  }
  // None where the system does not say.
  void memory_gauge(std::string_view name, std::string_view help, std::optional<Bytes> bytes) {
    if (!bytes) return;
    text_.begin_gauge(name, help);
    text_.sample({}, static_cast<double>(bytes->count()));
  }
  void connection_counter(std::string_view name, std::string_view help, std::int64_t value) {
    text_.begin_counter(name, help);
    text_.sample({}, static_cast<double>(value));
  }
  void refusals(const http::ServerCounts& counts) {
    text_.begin_counter("ingot_http_refusals_total", "Requests that HTTP itself refused, by status.");
    for (std::size_t index = 0; index < counts.refused.size(); ++index) {
      const std::string status = std::to_string(http::refusal_statuses[index]);
      const std::array labels = {MetricLabel{"status", status}};
      text_.sample(labels, static_cast<double>(counts.refused[index]));
    }
  }
  const std::string& text() const { return text_.text(); }

 private:
  void samples(Number number) {
    for (const ModelFigures& model : models_) {
      const std::array labels = {MetricLabel{"model_name", model.name}};
      text_.sample(labels, number(model));
    }
  }

  const std::vector<ModelFigures>& models_;
  MetricsText text_;
};

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

void write_services(Writer& writer) {
  using Figures = const ModelFigures&;
  writer.gauge("ingot_num_requests_running", "Requests in the passes.",
               [](Figures of) -> double { return static_cast<double>(of.service.running); });
  writer.gauge("ingot_num_requests_waiting", "Requests that wait for their turn.",
               [](Figures of) -> double { return static_cast<double>(of.service.waiting); });
  writer.gauge("ingot_kv_cache_usage_perc", "Share of the cache's pages that requests hold, 0 to 1.",
               [](Figures of) { return share(of.service.pages_in_use, of.service.pages); });
  writer.gauge("ingot_cache_pages", "Pages of the cache.",
               [](Figures of) -> double { return static_cast<double>(of.service.pages); });
  writer.gauge("ingot_cache_pages_in_use", "Pages that requests hold.",
               [](Figures of) -> double { return static_cast<double>(of.service.pages_in_use); });
  // A model that makes embeddings has no cache to look into.
  writer.counter("ingot_prefix_cache_queries_total", "Prompt tokens that were looked for in the cache.",
                 [](Figures of) { return of.service.pages > 0 ? static_cast<double>(of.service.prompt_tokens) : 0; });
  writer.counter("ingot_prefix_cache_hits_total", "Prompt tokens that were found there.",
                 [](Figures of) -> double { return static_cast<double>(of.service.cached_tokens); });
  writer.counter("ingot_num_preemptions_total", "Requests that gave their pages back to others for a while.",
                 [](Figures of) -> double { return static_cast<double>(of.service.preemptions); });
  writer.counter("ingot_prompt_tokens_total", "Prompt tokens of requests that were admitted.",
                 [](Figures of) -> double { return static_cast<double>(of.service.prompt_tokens); });
  writer.counter("ingot_prompt_tokens_computed_total", "Prompt tokens that passes computed, some of them again.",
                 [](Figures of) -> double { return static_cast<double>(of.service.prompt_rows); });
  writer.counter("ingot_generation_tokens_total", "Tokens that were generated.",
                 [](Figures of) -> double { return static_cast<double>(of.service.generated_tokens); });
  writer.counter("ingot_requests_refused_total", "Requests that were refused because too many waited.",
                 [](Figures of) -> double { return static_cast<double>(of.requests->refused.load()); });
  writer.passes();
  writer.ends();
}

void write_times(Writer& writer) {
  writer.histogram("ingot_time_to_first_token_seconds", "From a request to its first token.",
                   &RequestMetrics::time_to_first_token);
  writer.histogram("ingot_inter_token_latency_seconds", "From a token to the next.",
                   &RequestMetrics::inter_token_latency);
  writer.histogram("ingot_e2e_request_latency_seconds", "From a request to its end.", &RequestMetrics::whole);
  writer.histogram("ingot_request_queue_time_seconds", "Until it was admitted.", &RequestMetrics::waiting);
  writer.histogram("ingot_request_prefill_time_seconds", "From then to its first token.", &RequestMetrics::prompt);
  writer.histogram("ingot_request_decode_time_seconds", "From then to its end.", &RequestMetrics::generation);
  writer.histogram("ingot_request_prompt_tokens", "Tokens of its prompt.", &RequestMetrics::prompt_tokens);
  writer.histogram("ingot_request_generation_tokens", "Tokens of its answer.", &RequestMetrics::generated_tokens);
}

void write_connections(Writer& writer, const http::ServerCounts& counts) {
  writer.count_gauge("ingot_connections", "Connections that are open.", counts.connections);
  writer.connection_counter("ingot_connections_accepted_total", "Connections since the start.", counts.accepted);
  writer.connection_counter("ingot_connections_dropped_total", "Idle ones that had to go for new ones.",
                            counts.dropped);
  writer.connection_counter("ingot_connections_late_total", "Given up: too slow, or idle for too long.", counts.late);
  writer.connection_counter("ingot_connections_tls_failures_total",
                            "Those that did not agree on TLS 1.3; plain HTTP where TLS is expected is one.",
                            counts.tls_failures);
  writer.connection_counter("ingot_connections_turned_away_total", "New ones that came while all others were busy.",
                            counts.turned_away);
  writer.refusals(counts);
  writer.connection_counter("ingot_received_bytes_total", "Bytes from clients.", counts.bytes_in);
  writer.connection_counter("ingot_sent_bytes_total", "Bytes to clients.", counts.bytes_out);
}

// Files that the process has open, but for the one by which they are counted; 0 where the system does not say.
std::int64_t open_files() {
  std::error_code problem;
  std::int64_t count = -1;
  for (std::filesystem::directory_iterator file("/proc/self/fd", problem), end; !problem && file != end;
       file.increment(problem)) {
    ++count;
  }
  return std::max<std::int64_t>(count, 0);
}

// A machine that is a server has nobody else who could tell.
void write_process(Writer& writer) {
  const std::string process = read_text_file("/proc/self/status").value_or("");
  const std::string machine = read_text_file("/proc/meminfo").value_or("");
  writer.memory_gauge("process_resident_memory_bytes", "Memory that the server uses.",
                      find_kibibytes(process, "VmRSS"));
  writer.count_gauge("process_open_fds", "Files that the server has open, connections among them.", open_files());
  writer.memory_gauge("ingot_machine_memory_bytes", "Memory of the machine.", find_kibibytes(machine, "MemTotal"));
  writer.memory_gauge("ingot_machine_memory_free_bytes", "Memory that nobody uses, the system neither.",
                      find_kibibytes(machine, "MemFree"));
}

}  // namespace

void RequestMetrics::count_end(GenerationEnd end, const GenerationCounts& counts, const GenerationTimes& times) {
  ended[static_cast<std::size_t>(end)].fetch_add(1, std::memory_order_relaxed);
  waiting.observe(times.waiting);
  if (counts.generated > 0) prompt.observe(times.prompt);
  if (counts.generated > 1) generation.observe(times.generation);
  prompt_tokens.observe(static_cast<double>(counts.prompt));
  generated_tokens.observe(static_cast<double>(counts.generated));
}

std::string metrics_text(const std::vector<ModelFigures>& models, const http::ServerCounts& connections,
                         std::int64_t lost_log_lines) {
  Writer writer(models);
  write_services(writer);
  write_times(writer);
  write_connections(writer, connections);
  write_process(writer);
  writer.connection_counter("ingot_log_lines_lost_total", "Lines of the log that nobody took in time.", lost_log_lines);
  return writer.text();
}

}  // namespace ingot
