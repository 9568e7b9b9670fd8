// How fast does a GPT of a given shape learn, and in which operations is the time spent?
//
//   bench_training_step LAYERS WIDTH HEADS VOCABULARY BATCH LENGTH THREADS STEPS [--operations]
//
// Prints one JSON object: the seconds of each step (the first, which also checks every call, is left out), the tensors'
// bytes at their peak, the loss at the end. bench/training_vs_pytorch runs it beside PyTorch.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/random.h"
#include "train/fresh_model.h"
#include "train/trainer.h"

namespace {

using namespace ingot;
using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

Result<void> run(const std::int64_t (&numbers)[8], bool lists_operations) {
  TrainingConfiguration wanted;
  wanted.architecture = "gpt2";
  wanted.layers = numbers[0];
  wanted.width = numbers[1];
  wanted.heads = numbers[2];
  wanted.vocabulary = numbers[3];
  wanted.context = numbers[5];
  wanted.batch = numbers[4];
  const TrainingConfiguration configuration = TRY(completed(wanted));
  const ModelSource source = TRY(make_fresh_model(configuration));
  const std::unique_ptr<Template> form = TRY(create_template(source));
  const auto trainer = TRY(Trainer::create(
      *form, source.weights,
      {.batch = configuration.batch, .length = configuration.length, .threads = static_cast<int>(numbers[6])}));

  std::map<std::string, double> by_operation;
  Clock::time_point last;
  if (lists_operations) {
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
  if (!lists_operations) return {};
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
  const bool lists_operations = count == 10 && std::strcmp(arguments[9], "--operations") == 0;
  if (count != 9 && !lists_operations) {
    std::fprintf(stderr, "expected LAYERS WIDTH HEADS VOCABULARY BATCH LENGTH THREADS STEPS [--operations]\n");
    return 2;
  }
  std::int64_t numbers[8];
  for (int index = 0; index < 8; ++index) numbers[index] = std::atoll(arguments[index + 1]);
  const Result<void> result = run(numbers, lists_operations);
  if (result.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(result.error().text()).c_str());
  return 1;
}
