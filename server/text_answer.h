// TextAnswer: one request for texts on its way: its choices in the model's service, and the client on the other side.
// What the service tells becomes pieces of a stream or one answer; a client that leaves cancels, one that reads slowly
// pauses.
#pragma once

#include <memory>
#include <vector>

#include "server/helpers.h"
#include "server/hosted_model.h"
#include "server/protocol/generation_answer.h"
#include "server/visit.h"

namespace ingot {

// Begins them.
class TextAnswers {
 public:
  using Form = std::unique_ptr<protocol::GenerationAnswer>;

  // They must outlive all answers.
  explicit TextAnswers(Helpers& helpers) : helpers_(helpers) {}

  // Hands the choices of all prompts to the model; everything after that comes by itself. Where the model takes none of
  // them, the error is returned and nothing was answered: it takes all or none. The model must outlive the answer.
  protocol::Outcome<void> begin(const std::shared_ptr<Visit>& visit, HostedModel& model, Form form,
                                std::vector<TextRequest> prompts, bool is_streamed);
  // A client who waits for the first token of a stream is told that it was heard after a while: `delay` runs the task
  // then, on any thread.
  using Delay = std::function<void(std::function<void()> task)>;
  void set_delay(Delay delay) { delay_ = std::move(delay); }

 private:
  Helpers& helpers_;
  Delay delay_;
};

// Seconds after which a request that was refused should be tried again, by how long requests took so far.
int retry_after_seconds(HostedModel& model);

}  // namespace ingot
