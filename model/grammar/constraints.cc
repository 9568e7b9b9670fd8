#include "model/grammar/constraints.h"

#include <algorithm>

#include "model/grammar/text_constraint.h"

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
  std::shared_ptr<const Constraint> made =
      std::make_shared<const Constraint>(TRY(compile()), TRY(trie()), *tokenizer_, trigger);
  // An answer has a token at least, and whoever asks for none has left a variable empty.
  if (TextConstraint(made).must_end()) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected a text of at least one character to be allowed, found none but the empty one");
  }
  return made;
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

std::size_t Constraints::used_bytes() {
  std::size_t bytes = 0;
  std::erase_if(used_, [&](const std::weak_ptr<const Constraint>& one) {
    const std::shared_ptr<const Constraint> used = one.lock();
    if (used != nullptr) bytes += used->grammar()->size_in_bytes();
    return used == nullptr;
  });
  return bytes;
}

Result<void> Constraints::add_used(const std::shared_ptr<const Constraint>& constraint) {
  const std::size_t bytes = constraint->grammar()->size_in_bytes();
  if (used_bytes() + bytes > most_bytes_) kept_.clear();
  const std::size_t others = used_bytes();
  if (others + bytes > most_bytes_) {
    return Error::of(ErrorCode::would_block, "expected grammars of at most ", most_bytes_,
                     " bytes in all that are used at once, found ", others, " and another ", bytes,
                     ": ask again when others have ended");
  }
  used_.push_back(constraint);
  return {};
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
  if (may_succeed_later) return made;
  const std::lock_guard lock(mutex_);
  if (const Kept* found = find(whole_key)) return found->made();  // somebody was faster
  if (made.ok()) TRY(add_used(made.value()));
  if (key.size() > longest_key) return made;
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
