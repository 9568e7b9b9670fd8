#include <algorithm>
#include <memory>

#include "cli/gpu_program.h"
#include "cli/session_options.h"
#include "cli/terminal.h"
#include "convert/output_path.h"
#include "engine/explanation_html.h"
#include "engine/explanation_json.h"
#include "profile/device_peaks.h"

namespace ingot::explain_command {
namespace {

constexpr const char* examples =
    "The model as a list of steps: shapes, the least arithmetic and bytes of each, the kernel that runs it, and the\n"
    "least time this machine's measured peaks allow. Layers that are alike are folded; figures are of one of them, "
    "and\n"
    "'share' is of all of them together. With --measure also how long each step takes, and what part of the limit "
    "that\n"
    "is. On a device the steps are timed by its own clock, each right after the one before; what is not accounted for "
    "is "
    "the\n"
    "host's: it gives the work and takes the result.\n"
    "\n"
    "Examples:\n"
    "  ingot explain model.gguf                       a decode step\n"
    "  ingot explain model.gguf --measure --depth 512 the same, timed, after 512 tokens\n"
    "  ingot explain model.gguf --measure --device cuda on the first GPU\n"
    "  ingot explain model.gguf --tokens 256 --measure --html map.html";

struct Options {
  ModelOptions model;
  PassRequest request;
  bool measures = false;
  int repeats = 20;
  std::string html;
  bool json = false;
};

double megabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

void print_figures(const Totals& row, double divisor, double all_seconds, bool is_measured) {
  const double bytes = row.cost.bytes();
  std::printf("%10.3f %10.4f %8.2f %9.2f", row.cost.operations / divisor / 1e6, bytes / divisor / 1e6,
              bytes > 0 ? row.cost.operations / bytes : 0, 1e6 * row.least_seconds / divisor);
  if (is_measured) std::printf(" %9.2f", 1e6 * row.measured_seconds / divisor);
  std::printf(" %6.1f%%", all_seconds > 0 ? 100 * row.seconds() / all_seconds : 0);
  if (is_measured) std::printf(" %5.0f%%", row.roofline_percent());
}

void print_heading(const char* first, const char* second, bool is_measured) {
  char line[200];
  std::snprintf(line, sizeof line, "%-22s %-27s %-16s%10s %10s %8s %9s%s%8s%s", first, second, "", "MFLOP", "MB",
                "FLOP/B", "least us", is_measured ? "   time us" : "", "share", is_measured ? "  roof" : "");
  std::printf("%s\n", coloured(line, Colour::bold).c_str());
}

void print_steps(const Explanation& explanation, double all_seconds) {
  const bool is_measured = explanation.is_measured;
  print_heading("step", "operation", is_measured);
  for (const LayerGroup& group : folded(explanation)) {
    if (!group.name.empty()) {
      const std::string count = group.layers > 1 ? "  (" + std::to_string(group.layers) + " alike)" : "";
      std::printf("%s\n", coloured(group.name + count, Colour::bold).c_str());
    }
    for (std::size_t index = 0; index < group.rows.size(); ++index) {
      const ExplainedStep& step = explanation.steps[group.first_steps[index]];
      std::printf("  %-20s %-27s %-16s", group.rows[index].name.c_str(), step.operation.c_str(), step.variant.c_str());
      print_figures(group.rows[index], static_cast<double>(group.layers), all_seconds, is_measured);
      std::printf("  %s\n", coloured(step.shapes, Colour::dim).c_str());
    }
  }
}

void print_totals(const char* title, const std::vector<Totals>& rows, double all_seconds, bool is_measured) {
  std::printf("\n");
  print_heading(title, "steps", is_measured);
  for (const Totals& row : rows) {
    std::printf("%-40s %9lld %-15s", row.name.c_str(), static_cast<long long>(row.steps), "");
    print_figures(row, 1, all_seconds, is_measured);
    std::printf("\n");
  }
}

// Every operation's variant once, with what stood before it.
void print_reasons(const Explanation& explanation) {
  std::printf("\n%s\n", coloured("why these variants", Colour::bold).c_str());
  std::vector<std::string> seen;
  for (const ExplainedStep& step : explanation.steps) {
    const std::string line = step.operation + " " + step.variant + ": " + step.reason;
    if (std::find(seen.begin(), seen.end(), line) != seen.end()) continue;
    seen.push_back(line);
    std::printf("  %s\n", line.c_str());
  }
}

void print_rewrites(const Explanation& explanation) {
  if (explanation.rewrites.empty()) return;
  std::printf("\n%s\n", coloured("rewrites of what the template says", Colour::bold).c_str());
  for (const AppliedRewrite& rewrite : explanation.rewrites) {
    std::printf("  %-40s %9d\n", std::string(rewrite.name).c_str(), rewrite.count);
  }
}

void print_text(const Options& options, const Explanation& explanation) {
  const bool is_measured = explanation.is_measured;
  const Totals all = totals_of(explanation);
  std::printf("%s  %s, %lld layers of width %lld, vocabulary %lld\n",
              coloured(options.model.path, Colour::bold).c_str(), explanation.facts.architecture.c_str(),
              static_cast<long long>(explanation.facts.layers), static_cast<long long>(explanation.facts.width),
              static_cast<long long>(explanation.facts.vocabulary));
  const std::string threads = std::to_string(explanation.peaks.threads) + " thread(s) of ";
  std::printf("a pass of %lld token(s) after %lld, on %s%s\n", static_cast<long long>(explanation.request.tokens),
              static_cast<long long>(explanation.request.depth), explanation.is_on_device ? "" : threads.c_str(),
              explanation.processor.c_str());
  if (explanation.host_layers > 0) {
    std::printf("the first %lld layers run on the CPU; what crosses from there is copied by the queue\n",
                static_cast<long long>(explanation.host_layers));
  }
  std::printf("\n");
  print_steps(explanation, all.seconds());
  print_totals("family", totals_by_family(explanation), all.seconds(), is_measured);
  print_totals("operation and variant", totals_by_operation(explanation), all.seconds(), is_measured);
  print_totals("", {all}, all.seconds(), is_measured);
  print_reasons(explanation);
  print_rewrites(explanation);
  std::printf("\n%s\n  weights %.2f MB, caches and states %.2f MB, scratch %.2f MB\n",  //
              coloured("memory", Colour::bold).c_str(), megabytes(explanation.weight_bytes),
              megabytes(explanation.sequence_bytes), megabytes(explanation.scratch_bytes));
  std::printf("  activations %.3f MB in one arena; %.3f MB if no buffers shared bytes\n",
              megabytes(explanation.arena_bytes), megabytes(explanation.unshared_bytes));
  if (!is_measured) return;
  const Summary& pass = explanation.timing.pass_seconds;
  std::printf("\n%s\n  a pass takes %.3f ms +- %.1f%%, %.1f tokens/s; %.1f%% of it is accounted for by operations\n",
              coloured("time", Colour::bold).c_str(), 1e3 * pass.median, 100 * pass.spread,
              static_cast<double>(explanation.request.tokens) / pass.median, 100 * explanation.timing.accounted);
  std::printf("  the machine's peaks would allow %.3f ms: %.0f%% of the roofline\n", 1e3 * all.least_seconds,
              100 * all.least_seconds / pass.median);
}

// Of what runs the session's passes.
Result<PassPeaks> peaks_of(Session& session, const Machine& machine) {
  const auto of_host = [&] { return cached_peaks(machine, session.context_for_kernels().workers); };
  if (session.device_side() == nullptr) return PassPeaks(TRY(of_host()));
  const DeviceSide& side = *session.device_side();
  warn_of_times(side.device().information());
  const DevicePeaks of_device = TRY(measure_device_peaks(side.device(), side.queue()));
  PassPeaks peaks(of_device.rates);
  peaks.upload_bytes_per_second = of_device.upload_bytes_per_second;
  if (session.host_layers() > 0) peaks.of_host = TRY(of_host());
  return peaks;
}

Result<void> run(const Options& options) {
  ModelOptions model = options.model;
  model.session.chunk = std::max(model.session.chunk, options.request.tokens);
  if (!options.html.empty()) TRY(require_other_file(options.model.path, options.html));
  const OpenedModel opened = TRY(open_model(model));
  const Machine machine = Machine::detect();
  const PassPeaks peaks = TRY(peaks_of(*opened.session, machine));
  const Explanation explanation =
      TRY(explain(*opened.session, options.request, machine, peaks, options.measures ? options.repeats : 0));
  if (!options.html.empty()) TRY(write_explanation_html(options.html, options.model.path, explanation));
  if (options.json) {
    std::printf("%s\n", explanation_json(explanation).c_str());
    return {};
  }
  print_text(options, explanation);
  if (!options.html.empty()) std::printf("\nmap written to %s\n", options.html.c_str());
  return {};
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("explain", "what a model consists of, and where its time goes");
  command.footer(examples);
  add_model_options(command, options->model);
  add_device_option(command, options->model.device);
  add_split_option(command, options->model.split);
  command.add_option("--tokens", options->request.tokens, "tokens of the pass; 1 is a decode step")
      .check(tokens_from(1))
      .capture_default_str();
  command.add_option("--depth", options->request.depth, "tokens that the sequence holds before")
      .check(tokens_from(0))
      .capture_default_str();
  command.add_flag("--measure", options->measures, "also time every step");
  command.add_option("--repeat", options->repeats, "passes to time").check(between(1, 10000)).capture_default_str();
  command.add_option("--html", options->html, "also write a page with a map of the model");
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = finish_command(run(*options)); });
}

}  // namespace ingot::explain_command
