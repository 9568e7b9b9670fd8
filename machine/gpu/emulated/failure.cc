// What a launch that failed says: where, what was expected, what was found.
#include "machine/gpu/emulated/block_player.h"

namespace ingot::emulated {
namespace {

std::string_view name_of(Meeting meeting) {
  switch (meeting) {
    case Meeting::none: return "nothing";
    case Meeting::block_barrier: return "a barrier of the block";
    case Meeting::warp_barrier: return "a barrier of the warp";
    case Meeting::shuffle: return "a shuffle";
    case Meeting::vote: return "a vote";
    case Meeting::matrix_product: return "a matrix product";
    case Meeting::matrix_load: return "a matrix load";
  }
  return "an unknown meeting";
}

}  // namespace

Error BlockPlayer::error_at(std::uint32_t thread, std::string_view expected, std::uint64_t found) const {
  return Error::of(ErrorCode::invalid_argument, "device function ", launch_.function->name, ", block (",
                   position.block[0], ", ", position.block[1], ", ", position.block[2], "), thread ", thread, ": ",
                   expected, " ", found);
}

Error BlockPlayer::error_here(std::string_view expected, std::uint64_t found) const {
  return error_at(position.thread, expected, found);
}

Error BlockPlayer::apart_error(std::uint32_t waiting, std::uint32_t missing) const {
  const Meeting meeting = threads_[waiting].waits_at;
  const bool is_of_block = meeting == Meeting::block_barrier;
  FixedText<160> text;
  text.append_all("expected ", is_of_block ? "all threads of the block" : "all lanes of the warp", " at ",
                  name_of(meeting), ", found that one ");
  const Thread& other = threads_[missing];
  if (other.has_ended) {
    text.append("has ended: thread");
  } else {
    text.append_all("waits at ", name_of(other.waits_at), ": thread");
  }
  return error_at(waiting, text.view(), missing);
}

// Nobody can go on. A warp's meeting is named before one of the block, which others may have reached rightly.
Error BlockPlayer::stuck_error() const {
  const std::uint32_t threads = launch_.shape.threads;
  std::uint32_t waiting = threads;
  for (std::uint32_t thread = threads; thread-- > 0;) {
    const Meeting meeting = threads_[thread].waits_at;
    if (meeting != Meeting::none && meeting != Meeting::block_barrier) waiting = thread;
  }
  if (waiting < threads) {
    std::uint32_t missing = waiting / lanes_per_warp * lanes_per_warp;
    while (threads_[missing].waits_at == threads_[waiting].waits_at) ++missing;
    return apart_error(waiting, missing);
  }
  waiting = 0;
  while (threads_[waiting].waits_at == Meeting::none) ++waiting;
  std::uint32_t missing = 0;
  while (threads_[missing].waits_at == Meeting::block_barrier) ++missing;
  return apart_error(waiting, missing);
}

void meet_block() { position.player->meet_block(); }
LaneSlot* own_lane_slot() { return position.player->own_lane_slot(); }
LaneSlot* meet_warp(Meeting meeting, JoinLanes join) { return position.player->meet_warp(meeting, join); }
void copy_later(void* to, const void* from, std::size_t read_bytes, std::size_t written_bytes) {
  position.player->copy_later(to, from, read_bytes, written_bytes);
}
void close_copy_group() { position.player->close_copy_group(); }
void await_copies(std::size_t groups_left_open) { position.player->await_copies(groups_left_open); }

void fail(std::string_view expected, std::uint64_t found) {
  position.player->fail(position.player->error_here(expected, found));
}

}  // namespace ingot::emulated
