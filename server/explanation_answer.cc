#include "server/explanation_answer.h"

#include "engine/explanation_html.h"
#include "engine/explanation_json.h"
#include "machine/peaks_cache.h"

namespace ingot {
namespace {

constexpr int map_retry_seconds = 10;

int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  return letter >= 'A' && letter <= 'F' ? letter - 'A' + 10 : -1;
}

std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t index = 0; index < text.size(); ++index) {
    const bool is_code = text[index] == '%' && index + 2 < text.size() && digit_of(text[index + 1]) >= 0 &&
                         digit_of(text[index + 2]) >= 0;
    if (is_code) {
      result += static_cast<char>(16 * digit_of(text[index + 1]) + digit_of(text[index + 2]));
      index += 2;
    } else {
      result += text[index] == '+' ? ' ' : text[index];
    }
  }
  return result;
}

// Nobody's: what a measurement would find while others compute.
Peaks no_peaks(const Machine&, Workers&) { return {}; }

Result<Explanation> explained(HostedModel& model) {
  Session& session = model.session();
  const Machine machine = Machine::detect();
  Workers& workers = session.context_for_kernels().workers;
  const bool is_idle = model.texts() == nullptr || model.texts()->counts().running == 0;
  const MeasurePeaks measure = is_idle ? measure_peaks : no_peaks;
  Result<Peaks> peaks = cached_peaks_in(default_peaks_folder(), machine, workers, measure);
  if (!peaks.ok() && !is_idle) {
    return Error::of(ErrorCode::would_block,
                     "the machine's peaks, which the map shows, are measured while nobody else ",
                     "computes: ask again later, or run `ingot machine` once");
  }
  return explain(session, {}, machine, TRY(std::move(peaks)), 0);
}

}  // namespace

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.substr(0, part.find('=')) != name) continue;
    return decoded(part.substr(std::min(part.find('=') + 1, part.size())));
  }
  return std::nullopt;
}

void answer_explanation(Visit& visit, HostedModel& model) {
  const Result<Explanation> explanation = explained(model);
  if (!explanation.ok()) {
    const Error& error = explanation.error();
    const bool is_later = error.code() == ErrorCode::would_block;
    return visit.refuse(is_later ? protocol::unavailable(std::string(error.text()), map_retry_seconds)
                                 : protocol::engine_error(error, map_retry_seconds));
  }
  if (query_value(visit.request().query, "format") == "json") {
    return visit.answer_json(explanation_json(explanation.value()));
  }
  // Self-contained: its script and style stand in it, and it asks nobody for anything.
  visit.answer(200, "text/html; charset=utf-8", explanation_html(model.id(), explanation.value()),
               {{"Content-Security-Policy",
                 "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
                 "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"},
                {"X-Content-Type-Options", "nosniff"}});
}

}  // namespace ingot
