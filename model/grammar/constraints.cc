#include "model/grammar/constraints.h"

#include <algorithm>

namespace ingot::grammar {
namespace {

std::string whole_key_of(const std::string& key, const Trigger& trigger) {
  std::string whole_key = trigger.begins_in_thought ? "t" : "";
  for (const std::string* text : {&trigger.text, &trigger.thought_begin, &trigger.thought_end}) {
    whole_key += std::to_string(text->size()) + ':' + *text;
  }
  return whole_key + key;
}

}  // namespace

Result<std::shared_ptr<const TokenTrie>> Constraints::trie() {
  const std::lock_guard lock(trie_mutex_);
  if (trie_ == nullptr) trie_ = TRY(TokenTrie::of(*tokenizer_));
  return trie_;
}

Constraints::Made Constraints::make(const Compile& compile, const Trigger& trigger) {
  return std::shared_ptr<const Constraint>(
      std::make_shared<const Constraint>(TRY(compile()), TRY(trie()), *tokenizer_, trigger));
}

Constraints::Made Constraints::Kept::made() const {
  if (error) return *error;
  return constraint;
}

const Constraints::Kept* Constraints::find(const std::string& key) {
  const auto found = std::ranges::find(kept_, key, &Kept::key);
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return &*found;
}

Result<std::shared_ptr<const Constraint>> Constraints::of(const std::string& key, const Compile& compile,
                                                          const Trigger& trigger) {
  const std::string whole_key = whole_key_of(key, trigger);
  {
    const std::lock_guard lock(mutex_);
    if (const Kept* found = find(whole_key)) return found->made();
  }
  // Without the lock: who asks for another one need not wait a second for this.
  Made made = make(compile, trigger);
  // The time to compile is among what is out of range: while less else is done, it may be enough.
  const bool may_succeed_later = !made.ok() && made.error().code() == ErrorCode::out_of_range;
  if (may_succeed_later || key.size() > longest_key) return made;
  const std::lock_guard lock(mutex_);
  if (const Kept* found = find(whole_key)) return found->made();  // somebody was faster
  kept_.push_front({.key = whole_key,
                    .constraint = made.ok() ? made.value() : nullptr,
                    .error = made.ok() ? std::nullopt : std::optional(made.error())});
  if (kept_.size() > most_kept_) kept_.pop_back();
  return made;
}

Result<std::shared_ptr<const Constraint>> Constraints::of(const GrammarSource& source, const Trigger& trigger) {
  return of(source.key(), [&] { return compile_source(source); }, trigger);
}

std::optional<Result<std::shared_ptr<const Constraint>>> Constraints::kept(const std::string& key,
                                                                           const Trigger& trigger) {
  const std::string whole_key = whole_key_of(key, trigger);
  const std::lock_guard lock(mutex_);
  const Kept* found = find(whole_key);
  return found == nullptr ? std::nullopt : std::optional(found->made());
}

std::size_t Constraints::count() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

}  // namespace ingot::grammar
