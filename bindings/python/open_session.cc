#include "bindings/python/open_session.h"

#include "machine/limits.h"
#include "model/files/quoted.h"

namespace ingot::python {
namespace {

DType cache_named(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::f16, DType::q8_0}) {
    if (name == name_of(dtype)) return dtype;
  }
  throw Failure{Error::of(ErrorCode::invalid_argument, "expected cache as f32, f16 or q8_0, found '", name, "'")};
}

SessionOptions options_of(const std::shared_ptr<const Model>& model, const SessionArguments& arguments) {
  require_between("threads", arguments.threads, 0, most_threads);
  require_between("context", arguments.context, 0, std::int64_t{1} << 30);
  require_between("sequences", arguments.sequences, 1, 4096);
  SessionOptions options;
  options.threads = arguments.threads > 0 ? arguments.threads : usable_cpu_count();
  options.context = arguments.context;
  options.sequences = arguments.sequences;
  options.cache = cache_named(arguments.cache);
  options.deterministic = arguments.is_deterministic;
  for (const FittedAdapter& fitted : arguments.adapters) {
    if (fitted.model != model) {
      throw Failure{Error::of(ErrorCode::invalid_argument, "expected adapters of this model, found another's")};
    }
    options.adapters.push_back(fitted.adapter);
  }
  return options;
}

std::unique_ptr<Session> open(const std::shared_ptr<const Model>& model, const SessionArguments& arguments) {
  Result<std::unique_ptr<Session>> created = Session::create(model, options_of(model, arguments));
  if (!created.ok()) throw Failure{created.error().within(Quoted{model->name()})};
  return std::move(created).value();
}

}  // namespace

OpenSession::OpenSession(std::shared_ptr<const Model> model, const SessionArguments& arguments)
    : model_(std::move(model)), session_(open(model_, arguments)) {}

OneThread::Turn OpenSession::take_turn() {
  OneThread::Turn turn = rule_.take("a session");
  const std::lock_guard lock(mutex_);
  for (const int sequence : given_back_) session_->sequences().remove(sequence);
  given_back_.clear();
  return turn;
}

void OpenSession::give_back(int sequence) {
  const std::lock_guard lock(mutex_);
  given_back_.push_back(sequence);
}

grammar::Constraints& OpenSession::constraints() {
  const std::lock_guard lock(mutex_);
  if (!constraints_) constraints_ = std::make_unique<grammar::Constraints>(tokenizer());
  return *constraints_;
}

}  // namespace ingot::python
