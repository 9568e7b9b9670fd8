// What is asked by a JSON body: texts, embeddings, tokens. On a helper's thread.
#pragma once

#include "model/chat/dictionary.h"
#include "server/helpers.h"
#include "server/hosted_model.h"
#include "server/routes.h"
#include "server/text_answer.h"
#include "server/visit.h"

namespace ingot {

struct BodyRequest {
  std::shared_ptr<Visit> visit;
  const chat::Dictionary& body;
  HostedModel& model;
  std::optional<std::size_t> adapter;  // that the model's name asks for
  Helpers& helpers;
  // What takes a while and is compiled, on a thread for that, without the body; an error where too much waits.
  std::function<protocol::Outcome<void>(std::function<protocol::Outcome<void>()> work)> compile_later;
  std::optional<double> deadline_seconds = {};

  // By which the request asked for the model, or the model's own where it did not.
  std::string model_name() const;
  std::optional<Visit::Clock::time_point> deadline() const;
};

// Answers it, now or later; where an error is returned, nothing was answered.
protocol::Outcome<void> answer_request(const BodyRequest& request, Endpoint endpoint, TextAnswers& texts);

}  // namespace ingot
