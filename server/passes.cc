#include "server/passes.h"

namespace ingot {

void Passes::run() {
  while (!is_stopped_) {
    bool has_computed = run_tasks();
    for (const Model& model : models_) has_computed |= model.step();
    if (!has_computed) wait();
  }
  cancel_models();
}

void Passes::cancel_models() {
  for (const Model& model : models_) model.cancel_all();
}

void Passes::wait() {
  std::optional<std::chrono::steady_clock::time_point> first;
  for (const Model& model : models_) {
    const auto deadline = model.earliest_deadline();
    if (deadline && (!first || *deadline < *first)) first = deadline;
  }
  bell_.wait(first);
}

void Passes::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  bell_.ring();
}

void Passes::cancel_all() {
  post([this] { cancel_models(); });
}

void Passes::stop() {
  is_stopped_ = true;
  bell_.ring();
}

bool Passes::run_tasks() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const std::function<void()>& task : tasks) task();
  return !tasks.empty();
}

}  // namespace ingot
