// Channel<Value, capacity>: values from whoever has them, handlers too, to tasks that wait for them, in order.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/intrusive_list.h"
#include "base/result.h"
#include "os/schedule/executor.h"
#include "os/schedule/locked.h"

namespace ingot::os {

template <class Value, std::size_t capacity>
class Channel {
  static_assert(capacity > 0);

  // A task that waits: to give its value away, or to get one.
  struct Party : Resumable, ListLink<struct ChannelTag> {
    void go_on() { executor->schedule(*this); }
    Executor* executor = nullptr;
    std::optional<Value> value;
    bool closed = false;  // it waited in vain
  };
  // Senders wait only while the ring is full, receivers only while it is empty, so never both.
  struct State {
    std::array<std::optional<Value>, capacity> ring;
    std::size_t first = 0;
    std::size_t count = 0;
    bool closed = false;
    IntrusiveList<Party, struct ChannelTag> senders;
    IntrusiveList<Party, struct ChannelTag> receivers;
  };

 public:
  // Never waits; false when it is full or closed, and the value stays with the caller. For handlers.
  bool try_send(Value& value) {
    return state_.with([&](State& state) { return !state.closed && put(state, value); });
  }
  std::optional<Value> try_receive() {
    return state_.with([](State& state) { return take(state); });
  }
  // What is in it can still be received; whoever waits, or sends later, gets an error.
  void close() {
    state_.with([](State& state) {
      state.closed = true;
      for (auto* parties : {&state.senders, &state.receivers}) {
        while (Party* party = parties->pop_front()) {
          party->closed = true;
          party->go_on();
        }
      }
    });
  }

  // co_await channel.send(value) -> Result<void>
  auto send(Value value) { return Send(*this, std::move(value)); }
  // co_await channel.receive() -> Result<Value>
  auto receive() { return Receive(*this); }

 private:
  static bool put(State& state, Value& value) {
    if (Party* receiver = state.receivers.pop_front()) {
      receiver->value.emplace(std::move(value));
      receiver->go_on();
      return true;
    }
    if (state.count == capacity) return false;
    state.ring[(state.first + state.count++) % capacity].emplace(std::move(value));
    return true;
  }
  static std::optional<Value> take(State& state) {
    if (state.count == 0) return std::nullopt;
    std::optional<Value> value = std::move(state.ring[state.first]);
    state.ring[state.first].reset();
    state.first = (state.first + 1) % capacity;
    --state.count;
    // The place goes to the sender that waited longest.
    if (Party* sender = state.senders.pop_front()) {
      put(state, *sender->value);
      sender->go_on();
    }
    return value;
  }
  static Error closed_error() { return Error::of(ErrorCode::not_found, "expected an open channel, found it closed"); }

  class Send : Party {
   public:
    Send(Channel& channel, Value&& given) : channel_(channel) { this->value.emplace(std::move(given)); }

    bool await_ready() const { return false; }
    // Once in the list it may be scheduled, but its executor runs it only after this returns.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> task) {
      this->handle = task;
      this->executor = task.promise().executor;
      return channel_.state_.with([&](State& state) {
        this->closed = state.closed;
        if (state.closed || put(state, *this->value)) return false;
        state.senders.push_back(*this);
        return true;
      });
    }
    Result<void> await_resume() const {
      if (this->closed) return closed_error();
      return {};
    }

   private:
    Channel& channel_;
  };

  class Receive : Party {
   public:
    explicit Receive(Channel& channel) : channel_(channel) {}

    bool await_ready() const { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> task) {
      this->handle = task;
      this->executor = task.promise().executor;
      return channel_.state_.with([&](State& state) {
        this->value = take(state);
        this->closed = !this->value && state.closed;
        if (this->value || state.closed) return false;
        state.receivers.push_back(*this);
        return true;
      });
    }
    Result<Value> await_resume() {
      if (this->closed) return closed_error();
      return std::move(*this->value);
    }

   private:
    Channel& channel_;
  };

  Locked<State, SharedWith::interrupts> state_{LockRank::wait};
};

}  // namespace ingot::os
