// How fast does a GPT of a given shape learn, in which operations is the time spent, and what fills the memory?
//
//   bench_training_step LAYERS WIDTH HEADS VOCABULARY BATCH LENGTH THREADS STEPS
//                       [--architecture NAME] [--recompute nothing|cheap|layers] [--operations] [--memory]
//
// Prints one JSON object: the seconds of each step (the first, which also checks every call, is left out), the tensors'
// bytes at their peak, the loss at the end. bench/training_vs_pytorch runs it beside PyTorch. What --operations and
// --memory list goes to the standard error.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/random.h"
#include "train/circuit/gradient_sums.h"
#include "train/fresh_model.h"
#include "train/trainer.h"

namespace {

using namespace ingot;
using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

struct Question {
  std::int64_t numbers[8];
  std::string architecture = "gpt2";
  Recompute recompute = Recompute::cheap;
  bool lists_operations = false;
  bool lists_memory = false;
};

std::string_view kind_of(const CircuitTensor& tensor, std::string_view scores) {
  const std::string_view name = tensor.name;
  if (tensor.storage == Storage::gradient) return "gradients of weights";
  if (name == scores || name == gradient_name(scores)) return "logits and their derivative";
  if (name.starts_with("d(")) return "derivatives of activations";
  if (name.ends_with(".again")) return "activations computed again";
  return tensor.storage == Storage::activation ? "activations kept or in use" : "inputs and outputs";
}

// What is alive at the step where the arena's tensors hold the most.
void list_memory(const Trainer& trainer) {
  const Plan& plan = trainer.plan();
  const Circuit& circuit = plan.circuit();
  const std::vector<BufferLife>& buffers = plan.liveness().buffers;
  const auto alive_at = [&](std::size_t buffer, int step) {
    return buffers[buffer].first <= step && step <= buffers[buffer].last;
  };
  const auto sum_at = [&](int step) {
    std::int64_t sum = 0;
    for (std::size_t index = 0; index < buffers.size(); ++index) sum += alive_at(index, step) * buffers[index].bytes;
    return sum;
  };
  int peak = 0;
  for (int step = 1; step < static_cast<int>(circuit.steps.size()); ++step) {
    if (sum_at(step) > sum_at(peak)) peak = step;
  }
  std::map<std::string_view, double> kinds;
  std::vector<bool> is_counted(buffers.size(), false);
  const auto scores =
      std::ranges::find(circuit.steps, "loss.cross_entropy", [](const Step& step) { return step.operation->name; });
  const std::string& scores_name = circuit.tensors[static_cast<std::size_t>(scores->find("logits")->tensor)].name;
  for (std::size_t tensor = 0; tensor < circuit.tensors.size(); ++tensor) {
    const int buffer = plan.liveness().buffer_of[tensor];
    if (buffer < 0 || !alive_at(static_cast<std::size_t>(buffer), peak)) continue;
    if (is_counted[static_cast<std::size_t>(buffer)]) continue;  // shared in place: under the first name
    is_counted[static_cast<std::size_t>(buffer)] = true;
    const auto bytes = static_cast<double>(buffers[static_cast<std::size_t>(buffer)].bytes);
    kinds[kind_of(circuit.tensors[tensor], scores_name)] += bytes;
  }
  const auto line = [](std::string_view name, double bytes) {
    std::fprintf(stderr, "%9.2f MiB  %.*s\n", bytes / (1 << 20), static_cast<int>(name.size()), name.data());
  };
  line("weights", static_cast<double>(trainer.parameters().bytes()));
  line("what the optimizer remembers", static_cast<double>(trainer.optimizer().bytes()));
  line("scratch", static_cast<double>(plan.scratch_bytes()));
  line("arena", static_cast<double>(plan.arena_bytes()));
  line("  at its fullest", static_cast<double>(plan.live_bytes()));
  for (const auto& [kind, bytes] : kinds) line("    " + std::string(kind), bytes);
  const Step& step = circuit.steps[static_cast<std::size_t>(peak)];
  std::fprintf(stderr, "fullest at step %d of %zu, %s (%s)\n", peak, circuit.steps.size(), step.name.c_str(),
               std::string(step.operation->name).c_str());
}

Result<void> run(const Question& question) {
  const auto& numbers = question.numbers;
  TrainingConfiguration wanted;
  wanted.architecture = question.architecture;
  wanted.layers = numbers[0];
  wanted.width = numbers[1];
  wanted.heads = numbers[2];
  wanted.vocabulary = numbers[3];
  wanted.context = numbers[5];
  wanted.batch = numbers[4];
  const TrainingConfiguration configuration = TRY(completed(wanted));
  const ModelSource source = TRY(make_fresh_model(configuration));
  const std::unique_ptr<Template> form = TRY(create_template(source));
  const auto trainer = TRY(Trainer::create(*form, source.weights,
                                           {.batch = configuration.batch,
                                            .length = configuration.length,
                                            .recompute = question.recompute,
                                            .threads = static_cast<int>(numbers[6])}));
  if (question.lists_memory) list_memory(*trainer);

  std::map<std::string, double> by_operation;
  Clock::time_point last;
  if (question.lists_operations) {
    trainer->observe([&](std::size_t step) {
      const Clock::time_point now = Clock::now();
      by_operation[std::string(trainer->plan().circuit().steps[step].operation->name) + " " +
                   std::string(trainer->plan().variant_name(step))] += seconds_between(last, now);
      last = now;
    });
  }
  RandomNumbers random(1);
  const auto tokens = static_cast<std::size_t>(trainer->tokens_per_pass());
  std::vector<std::int32_t> inputs(tokens), targets(tokens);
  std::vector<double> seconds;
  double loss = 0;
  double updating = 0;
  for (std::int64_t step = 0; step <= numbers[7]; ++step) {
    for (std::size_t index = 0; index < tokens; ++index) {
      inputs[index] = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(configuration.vocabulary)));
      targets[index] = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(configuration.vocabulary)));
    }
    if (step == 1) by_operation.clear();
    const Clock::time_point begin = last = Clock::now();
    loss = TRY(trainer->step(inputs, targets, step + 1, 1e-4)).loss;
    const Clock::time_point end = Clock::now();
    if (step > 0) {
      seconds.push_back(seconds_between(begin, end));
      updating += seconds_between(last, end);
    }
  }
  std::printf("{\"seconds\": [");
  for (std::size_t index = 0; index < seconds.size(); ++index) {
    std::printf("%s%.6f", index == 0 ? "" : ", ", seconds[index]);
  }
  std::printf("], \"parameters\": %lld, \"peak_bytes\": %zu, \"loss\": %.5f}\n",
              static_cast<long long>(trainer->parameters().count()), trainer->peak_bytes(), loss);
  if (!question.lists_operations) return {};
  by_operation["the update"] = updating;
  std::vector<std::pair<double, std::string>> sorted;
  double sum = 0;
  for (const auto& [name, time] : by_operation) {
    sorted.emplace_back(time, name);
    sum += time;
  }
  std::ranges::sort(sorted, std::greater());
  for (const auto& [time, name] : sorted) std::fprintf(stderr, "%6.2f%%  %s\n", 100 * time / sum, name.c_str());
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  Question question;
  bool is_understood = count >= 9;
  for (int index = 1; index < count && is_understood; ++index) {
    const std::string_view word = arguments[index];
    const std::string_view next = index + 1 < count ? arguments[index + 1] : "";
    if (index < 9) {
      question.numbers[index - 1] = std::atoll(arguments[index]);
    } else if (word == "--operations") {
      question.lists_operations = true;
    } else if (word == "--memory") {
      question.lists_memory = true;
    } else if (word == "--architecture") {
      question.architecture = next;
      ++index;
    } else if (word == "--recompute") {
      const auto found = std::ranges::find(recompute_names, next);
      is_understood = found != recompute_names.end();
      question.recompute = static_cast<Recompute>(found - recompute_names.begin());
      ++index;
    } else {
      is_understood = false;
    }
  }
  if (!is_understood) {
    std::fprintf(stderr,
                 "expected LAYERS WIDTH HEADS VOCABULARY BATCH LENGTH THREADS STEPS [--architecture NAME] "
                 "[--recompute nothing|cheap|layers] [--operations] [--memory]\n");
    return 2;
  }
  const Result<void> result = run(question);
  if (result.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(result.error().text()).c_str());
  return 1;
}
