// Application: what is answered at which path, and to whom. HTTP is below it, models are behind it.
#pragma once

#include <atomic>
#include <vector>

#include "server/api_keys.h"
#include "server/explanation_answer.h"
#include "server/helpers.h"
#include "server/hosted_model.h"
#include "server/http/server.h"
#include "server/origins.h"
#include "server/routes.h"
#include "server/text_answer.h"
#include "server/visit.h"

namespace ingot {

struct ApplicationOptions {
  ApiKeys keys = {};
  std::vector<std::string> hosts = {};    // names that clients may use besides this machine's own
  std::vector<std::string> origins = {};  // of pages that may ask
  LogForm log = LogForm::text;
  std::optional<double> deadline_seconds = {};
  bool hides_page = false;
};

class Application : public http::Handler {
 public:
  // All must outlive it. The compilers are helpers too, for what answers are held to.
  Application(ApplicationOptions options, Passes& passes, Helpers& helpers, Helpers& compilers);

  // Whose connections and timers it asks about; before the first request.
  void attach(http::Server& server);
  // From now on requests are answered; until then they are told to come again. The models must outlive it.
  void open(std::vector<HostedModel*> models);
  // From now on only those that are under way.
  void close() { ending_ = Ending::draining; }
  // Ends those too.
  void cancel_all();
  // For the log.
  void note(std::string_view note) { log_.note(note); }

  void handle(std::shared_ptr<http::Exchange> exchange) override;
  bool wants_body(const http::Request& head) override;
  http::Answer refuse(const http::Refusal& refusal, const http::Request& request) override;

 private:
  enum class Ending : std::uint8_t { none, draining, cancelled };
  using VisitPointer = std::shared_ptr<Visit>;

  // Who asks; an error where he may not, or where there is nothing to ask for: all that a head can tell.
  protocol::Outcome<Visitor> admit(const http::Request& request, const Route& route) const;
  // On the loop's thread.
  void dispatch(const VisitPointer& visit, const Route& route);
  void answer_health(Visit& visit);
  void answer_metrics(Visit& visit);
  void answer_page(Visit& visit);
  void explain(const VisitPointer& visit);
  void answer_model(Visit& visit, const std::string& id);
  void answer_properties(Visit& visit);
  // Works on a thread of theirs, unless the client leaves before; an error of it is the answer. False where more waits
  // than should.
  using Work = std::function<protocol::Outcome<void>()>;
  [[nodiscard]] bool hand_to(Helpers& helpers, const VisitPointer& visit, Work work);
  // On a helper's thread.
  protocol::Outcome<void> answer_body(const VisitPointer& visit, Endpoint endpoint);

  // ID, or ID:NAME of one of its adapters.
  struct FoundModel {
    HostedModel* model = nullptr;
    std::optional<std::size_t> adapter = {};
  };
  protocol::Outcome<FoundModel> find_named(const std::optional<std::string>& id) const;
  // ID alone.
  protocol::Outcome<HostedModel*> find_model(const std::optional<std::string>& id) const;
  void answer_adapters(Visit& visit);
  std::vector<std::string> ids() const;
  // What it says while it loads or ends.
  protocol::ApiError unavailable_now() const;

  ApplicationOptions options_;
  Origins origins_;
  RequestLog log_;
  Passes& passes_;
  Helpers& helpers_;
  Helpers& compilers_;
  http::Server* server_ = nullptr;
  std::vector<HostedModel*> models_;  // looked at only where it is open
  std::atomic<bool> is_open_ = false;
  std::atomic<Ending> ending_ = Ending::none;
  TextAnswers text_answers_;
  ExplanationAnswers explanations_;
};

}  // namespace ingot
