// What belongs to the process that made it, because it has threads: a fork has none of them, and would wait for them
// for ever. It forgets the object instead of destroying it.
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

namespace ingot {

template <class Object>
class OfThisProcess {
 public:
  explicit OfThisProcess(std::unique_ptr<Object> object) : object_(std::move(object)) {}
  OfThisProcess(OfThisProcess&&) noexcept = default;
  OfThisProcess& operator=(OfThisProcess&&) = delete;
  ~OfThisProcess() {
    if (!is_at_home()) static_cast<void>(object_.release());
  }
  // Whether this is that process, and not a fork of it.
  bool is_at_home() const { return process_ == getpid(); }
  Object& operator*() const { return *object_; }
  Object* operator->() const { return object_.get(); }

 private:
  std::unique_ptr<Object> object_;
  pid_t process_ = getpid();
};

}  // namespace ingot
