// A session with what belongs to it, for objects of Python's that share it and that end in any order, on any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/python/one_thread.h"
#include "engine/model.h"
#include "engine/session.h"
#include "machine/of_this_process.h"
#include "model/grammar/constraints.h"

namespace ingot::python {

// One that fits the model, which it knows: it fits no other.
struct FittedAdapter {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Adapter> adapter;
};

struct SessionArguments {
  int threads = 0;  // 0: as many as this process may use
  std::int64_t context = 0;
  int sequences = 1;
  std::string cache = "f16";
  bool is_deterministic = false;
  std::vector<FittedAdapter> adapters = {};
};

class OpenSession {
 public:
  OpenSession(std::shared_ptr<const Model> model, const SessionArguments& arguments);

  // What computes on the session, or changes what it holds, does so during a turn.
  OneThread::Turn take_turn();
  // A sequence that nobody wants any more: removed when the next turn begins, for one may be under way.
  void give_back(int sequence);

  const Model& model() const { return *model_; }
  Session& session() { return *session_; }
  // That the tokenizer is there was seen when the first was asked for.
  const Tokenizer& tokenizer() const { return *or_throw(model_->tokenizer()); }
  grammar::Constraints& constraints();

 private:
  std::shared_ptr<const Model> model_;
  OneThread rule_;
  OfThisProcess<Session> session_;
  std::mutex mutex_;  // of what follows
  std::vector<int> given_back_;
  std::unique_ptr<grammar::Constraints> constraints_;
};

}  // namespace ingot::python
