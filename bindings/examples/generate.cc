// Continues a text, as it comes. CMakeLists.txt beside this builds it outside of Ingot's tree.
#include <cstdio>

#include "engine/generator.h"
#include "engine/model.h"
#include "engine/sampler.h"
#include "engine/session.h"

using namespace ingot;

static bool show(std::string_view piece) { return std::fwrite(piece.data(), 1, piece.size(), stdout) == piece.size(); }

static Result<void> run(const char* path) {
  const auto model = TRY(path == nullptr ? Model::open_default() : Model::open(path));
  const auto session = TRY(Session::create(model, {}));
  const Tokenizer& tokenizer = *TRY(model->tokenizer());
  Sampler sampler = TRY(Sampler::create(session->table(), {}));
  const std::vector<TokenId> prompt = TRY(tokenizer.encode("\nOnce there was a thoughtful cook"));
  const int sequence = TRY(session->sequences().add());
  TRY(generate(*session, tokenizer, sampler, sequence, prompt, 24, show));
  return {};
}

int main(int argument_count, char** arguments) {
  const Result<void> done = run(argument_count > 1 ? arguments[1] : nullptr);
  if (!done.ok()) std::fprintf(stderr, "%s\n", std::string(done.error().text()).c_str());
  return done.ok() ? 0 : 1;
}
