#include "server/application.h"

#include <algorithm>
#include <array>

#include "server/body_requests.h"
#include "server/http/letters.h"
#include "server/metrics/request_metrics.h"
#include "server/model_answers.h"
#include "server/page_answers.h"
#include "server/protocol/body.h"

namespace ingot {
namespace {

using protocol::ApiError;
using protocol::Outcome;

// Until then an error of a stream's beginning has a status of its own.
constexpr std::chrono::seconds early_head_time{15};
constexpr int loading_retry_seconds = 5;
constexpr int draining_retry_seconds = 30;
constexpr int helpers_retry_seconds = 2;
constexpr int compilers_retry_seconds = 10;

bool is_json_type(const http::Request& request) {
  const std::string* type = request.header("Content-Type");
  if (type == nullptr) return true;
  const std::string name = type->substr(0, type->find_first_of("; "));
  return http::is_same_name(name, "application/json");
}

// Requests from one address take turns as one asker. Who is taken for another by chance only shares his turns.
std::int64_t asker_of(std::string_view peer) {
  return static_cast<std::int64_t>(std::hash<std::string_view>()(peer) >> 1);
}

// A link may lead to the page, which its reader sees and whoever wrote the link does not.
bool is_open_to_other_sites(const http::Request& request, const Route& route) {
  const std::string* use = request.header("Sec-Fetch-Dest");
  return route.endpoint == Endpoint::health ||
         (route.endpoint == Endpoint::page && use != nullptr && *use == "document");
}

}  // namespace

Application::Application(ApplicationOptions options, Passes& passes, Helpers& helpers, Helpers& compilers)
    : options_(std::move(options)),
      origins_({.hosts = options_.hosts, .origins = options_.origins, .has_keys = options_.keys.are_needed()}),
      log_(options_.log),
      passes_(passes),
      helpers_(helpers),
      compilers_(compilers),
      text_answers_(helpers),
      explanations_(passes) {}

void Application::attach(http::Server& server) {
  server_ = &server;
  text_answers_.set_delay(
      [&server](std::function<void()> task) { server.post_after(early_head_time, std::move(task)); });
}

void Application::open(std::vector<HostedModel*> models) {
  models_ = std::move(models);
  explanations_.set_models(models_);
  is_open_ = true;
}

void Application::cancel_all() {
  ending_ = Ending::cancelled;
  passes_.cancel_all();
}

bool Application::wants_body(const http::Request& head) {
  return head.method == "POST" && admit(head, find_route(head.path)).ok();
}

http::Answer Application::refuse(const http::Refusal& refusal, const http::Request& request) {
  log_.add({.peer = request.peer,
            .method = request.method.empty() ? "-" : request.method,
            .path = request.path.empty() ? "-" : request.path,
            .status = refusal.status});
  const ApiError error = protocol::http_error(refusal.status, refusal.reason);
  std::vector<http::Header> headers = origins_.headers(request);
  headers.push_back({"Content-Type", "application/json"});
  return {.status = refusal.status,
          .headers = std::move(headers),
          .body = error_json(error, find_route(request.path).errors)};
}

Outcome<Visitor> Application::admit(const http::Request& request, const Route& route) const {
  if (!origins_.is_own_host(request)) {
    return protocol::forbidden("expected an address, localhost or a name that --allow-host gives in Host, found '" +
                               *request.header("Host") + "'");
  }
  // A browser asks without the key whether it may ask with it. What it is not told, it may not.
  const bool is_preflight = request.method == "OPTIONS";
  if (!is_preflight && !origins_.is_allowed(request)) {
    return protocol::forbidden("expected a page of this server's own, or one that --cors allows, found '" +
                               *request.header("Origin") + "'");
  }
  if (origins_.is_from_other_site(request) && !is_open_to_other_sites(request, route)) {
    return protocol::forbidden("expected no page of another site behind the request, found Sec-Fetch-Site: cross-site");
  }
  Visitor visitor{.asker = asker_of(request.peer)};
  if (options_.keys.are_needed() && route.access != Access::open && !is_preflight) {
    const std::optional<std::size_t> key = options_.keys.find(request);
    if (!key) return protocol::wrong_key(ApiKeys::has_any(request));
    visitor = {.asker = static_cast<std::int64_t>(*key), .salt = *key + 1};
  }
  if (route.endpoint == Endpoint::nowhere) return protocol::unknown_path(request.path);
  if (!takes_method(route, request.method)) {
    return protocol::wrong_method(request.method, request.path, allowed_methods(route));
  }
  if (!is_preflight && !ignores_query(route)) TRY(check_query(request.query, route.query));
  return visitor;
}

void Application::handle(std::shared_ptr<http::Exchange> exchange) {
  const http::Request& request = exchange->request();
  const Route route = find_route(request.path);
  const Outcome<Visitor> visitor = admit(request, route);
  const auto visit = std::make_shared<Visit>(std::move(exchange), visitor.ok() ? visitor.value() : Visitor{},
                                             origins_.headers(request), log_, route.errors);
  if (!visitor.ok() && visitor.error().status == 405) {
    return visit->refuse(visitor.error(), {{"Allow", allowed_methods(route)}});
  }
  if (!visitor.ok()) return visit->refuse(visitor.error());
  if (request.method == "OPTIONS") return visit->answer(200, "", "", {{"Allow", allowed_methods(route)}});
  visit->logged().is_poll = route.endpoint == Endpoint::health || route.endpoint == Endpoint::metrics;
  dispatch(visit, route);
}

void Application::dispatch(const VisitPointer& visit, const Route& route) {
  if (route.endpoint == Endpoint::health) return answer_health(*visit);
  if (route.endpoint == Endpoint::page) return answer_page(*visit);
  if (!is_open_) return visit->refuse(unavailable_now());
  switch (route.endpoint) {
    case Endpoint::metrics: return answer_metrics(*visit);
    case Endpoint::models: return visit->answer_json(model_list_answer(models_));
    case Endpoint::model: return answer_model(*visit, std::string(route.rest));
    case Endpoint::explain: return explain(visit);
    case Endpoint::properties: return answer_properties(*visit);
    case Endpoint::adapters: return answer_adapters(*visit);
    default: break;
  }
  if (ending_ != Ending::none) return visit->refuse(unavailable_now());
  if (!is_json_type(visit->request())) {
    return visit->refuse(protocol::wrong_content_type(*visit->request().header("Content-Type")));
  }
  if (hand_to(helpers_, visit, [this, visit, endpoint = route.endpoint] { return answer_body(visit, endpoint); }))
    return;
  visit->refuse(protocol::unavailable("more requests wait to be read than there is room for", helpers_retry_seconds));
}

bool Application::hand_to(Helpers& helpers, const VisitPointer& visit, Work work) {
  // Said before it waits: whoever answers it listens in this one's place.
  visit->on_pace([&helpers, weak = std::weak_ptr(visit)](http::Pace pace) {
    const VisitPointer alive = weak.lock();
    if (pace == http::Pace::gone && alive != nullptr && helpers.drop(alive.get())) alive->abandon();
  });
  return helpers.offer({.work =
                            [this, visit, work = std::move(work)] {
                              // Those that began are cancelled: none begins any more.
                              if (ending_ == Ending::cancelled) return visit->refuse(unavailable_now());
                              if (const Outcome<void> done = work(); !done.ok()) visit->refuse(done.error());
                            },
                        .bytes = visit->request().body.size(),
                        .owner = visit.get()});
}

protocol::ApiError Application::unavailable_now() const {
  const bool is_ending = ending_ != Ending::none;
  return protocol::unavailable(is_ending ? "the server is about to end" : "the model is being loaded",
                               is_ending ? draining_retry_seconds : loading_retry_seconds);
}

void Application::answer_health(Visit& visit) {
  if (!is_open_ || ending_ != Ending::none) return visit.refuse(unavailable_now());
  const auto lost = std::ranges::find_if(models_, &HostedModel::has_lost_device);
  if (lost == models_.end()) return visit.answer_json(R"({"status":"ok"})");
  visit.refuse(protocol::unavailable("the accelerator of the model " + (*lost)->id() + " is gone: restart the server",
                                     std::nullopt));
}

void Application::answer_metrics(Visit& visit) {
  std::vector<ModelFigures> figures;
  for (const HostedModel* model : models_) figures.push_back(model->figures());
  visit.answer(200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(figures, server_->counts(), log_.lost()));
}

void Application::answer_page(Visit& visit) {
  const PageFile* const found = options_.hides_page ? nullptr : find_page_file(visit.request().path);
  if (found != nullptr) return answer_page_file(visit, *found);
  visit.refuse(protocol::unknown_path(visit.request().path));
}

void Application::answer_model(Visit& visit, const std::string& id) {
  const Outcome<FoundModel> found = find_named(id);
  if (!found.ok()) return visit.refuse(found.error());
  visit.answer_json(model_answer(*found.value().model, found.value().adapter));
}

void Application::answer_adapters(Visit& visit) {
  const Outcome<HostedModel*> model = find_model(query_value(visit.request().query, "model"));
  if (!model.ok()) return visit.refuse(model.error());
  visit.answer_json(adapters_answer(*model.value()));
}

void Application::answer_properties(Visit& visit) {
  const Outcome<HostedModel*> model = find_model(query_value(visit.request().query, "model"));
  if (!model.ok()) return visit.refuse(model.error());
  visit.answer_json(properties_answer(*model.value()));
}

std::vector<std::string> Application::ids() const {
  std::vector<std::string> ids;
  for (const HostedModel* model : models_) {
    ids.push_back(model->id());
    for (const ServedAdapter& adapter : model->adapters()) ids.push_back(model->id() + ":" + adapter.name);
  }
  return ids;
}

Outcome<Application::FoundModel> Application::find_named(const std::optional<std::string>& id) const {
  for (HostedModel* const model : models_) {
    const std::string beginning = model->id() + ":";
    if (!id || !id->starts_with(beginning)) continue;
    const auto adapter = std::ranges::find(model->adapters(), id->substr(beginning.size()), &ServedAdapter::name);
    if (adapter == model->adapters().end()) continue;
    return FoundModel{model, static_cast<std::size_t>(adapter - model->adapters().begin())};
  }
  return FoundModel{TRY(find_model(id))};
}

Outcome<HostedModel*> Application::find_model(const std::optional<std::string>& id) const {
  if (!id || id->empty()) return models_.front();
  const auto found = std::ranges::find(models_, *id, &HostedModel::id);
  if (found == models_.end()) return protocol::unknown_model(*id, ids());
  return *found;
}

void Application::explain(const VisitPointer& visit) {
  const Outcome<HostedModel*> model = find_model(query_value(visit->request().query, "model"));
  if (!model.ok()) return visit->refuse(model.error());
  explanations_.begin(visit, *model.value());
}

Outcome<void> Application::answer_body(const VisitPointer& visit, Endpoint endpoint) {
  const chat::Dictionary body = TRY(protocol::read_body(visit->request().body));
  const std::optional<std::string> id = TRY(protocol::model_of(body));
  const FoundModel found = TRY(find_named(id));
  const auto compile_later = [&](Work work) -> Outcome<void> {
    if (hand_to(compilers_, visit, std::move(work))) return {};
    return protocol::unavailable("more schemas and grammars wait to be compiled than there is room for",
                                 compilers_retry_seconds);
  };
  return answer_request({visit, body, *found.model, found.adapter, helpers_, compile_later, options_.deadline_seconds},
                        endpoint, text_answers_);
}

}  // namespace ingot
