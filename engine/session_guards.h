// What a tool borrows from a session and must give back, whatever happens.
#pragma once

#include "engine/session.h"

namespace ingot {

// Sequences that are removed again.
class OwnSequences {
 public:
  explicit OwnSequences(Session& session) : session_(session) {}
  ~OwnSequences() { clear(); }
  OwnSequences(const OwnSequences&) = delete;
  OwnSequences& operator=(const OwnSequences&) = delete;

  Result<int> add() {
    numbers_.push_back(TRY(session_.sequences().add()));
    return numbers_.back();
  }
  void clear() {
    for (const int number : numbers_) session_.sequences().remove(number);
    numbers_.clear();
  }
  std::span<const int> numbers() const { return numbers_; }

 private:
  Session& session_;
  std::vector<int> numbers_;
};

// An observer that is taken off again.
class Observation {
 public:
  Observation(Session& session, Plan::Observer observer) : session_(session) { session.observe(std::move(observer)); }
  ~Observation() { session_.observe(nullptr); }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

 private:
  Session& session_;
};

}  // namespace ingot
