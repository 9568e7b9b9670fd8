#include "train/tales/scenes.h"

namespace ingot {
namespace {

constexpr FormRow hero_forms[] = {
    {"Once upon a time there was a little {kind} named {hero}."},
    {"Once there was a {trait} little {kind} named {hero}."},
    {"There was once a {trait} {kind} whose name was {hero}."},
    {"Long, long ago there was {a:kind} named {hero}."},
    {"This is the tale of {hero}, a {trait} little {kind}."},
};
constexpr FormRow home_forms[] = {
    {"{hero.he} lived {home.at}.", "here=home"},
    {"{hero.he} lived in a {house} {home.at}.", "here=home"},
    {"{hero.his} home was a {house} {home.at}.", "here=home"},
    {"{hero.he} lived {home.at} with {hero.his} {family}.", "here=home"},
};
constexpr FormRow want_forms[] = {
    {"{hero} wanted {a:property} {object} more than anything else."},
    {"More than anything, {hero} wanted {a:property} {object}."},
    {"All {hero} ever wanted was {a:property} {object}."},
    {"Every night {hero} dreamed of {a:property} {object}."},
    {"For a long time {hero} had wished for {a:property} {object}."},
};

constexpr FormRow longing_forms[] = {
    {"But {hero.he} had no {object}, and that made {hero.him} {mood}."},
    {"Without one {hero.he} often felt {mood}."},
    {"Sometimes {hero.he} was {mood} because {hero.he} did not have one."},
    {"{hero.he} had looked everywhere {home.at}, but there was no {object}."},
    {"\"One day you will have your {object}, {hero},\" said {hero.his} {family!}."},
};
constexpr FormRow day_forms[] = {
    {"One {weather} {time} {hero} put on {hero.his} {clothes} and went out."},
    {"One {weather} {time} {hero} packed {food} and set out."},
    {"One {time}, when {weather.sky}, {hero} went for a walk."},
    {"It was a {weather} {time}, and {hero} could not sit still."},
    {"Then came a {weather} {time}, and {hero} set out to look for one."},
    {"One {weather} {time} {hero} said goodbye to {hero.his} {family!} and set out."},
    {"One {weather} {time} {hero} left the {house!} and followed the road."},
};
constexpr FormRow meet_forms[] = {
    {"On the way {hero.he} met {a:friend_kind} named {friend}."},
    {"Soon {hero.he} met {friend} the {friend_kind}."},
    {"Along the path came {a:friend_kind} named {friend}."},
    {"Under a tree sat {a:friend_kind} whose name was {friend}."},
    {"{hero.he} had not gone far when {hero.he} saw {friend} the {friend_kind}."},
};

constexpr FormRow ask_forms[] = {
    {"\"Have you seen {a:property} {object}?\" asked {hero}."},
    {"\"Hello, {friend},\" said {hero}. \"I am looking for {a:property} {object}.\""},
    {"{hero} told {friend.him} about the {property} {object}."},
    {"\"Where can I find {a:object}, {friend}?\" asked {hero}."},
};
constexpr FormRow tell_forms[] = {
    {"\"I saw one {quest.at},\" said {friend}."},
    {"\"There is one {quest.at},\" said {friend}. \"I will show you.\""},
    {"{friend} thought for a while and said, \"We should look {quest.at}.\""},
    {"\"I know just the place,\" said {friend}. \"Come with me to {quest}!\""},
};
constexpr FormRow go_forms[] = {
    {"So {hero} and {friend} walked to {quest}.", "here=quest"},
    {"Together they ran all the way to {quest}.", "here=quest"},
    {"{hero} and {friend} set off for {quest} at once.", "here=quest"},
    {"Side by side they went to {quest}, singing as they walked.", "here=quest"},
};
constexpr FormRow blocked_forms[] = {
    {"But {obstacle} was in the way. {friend} had {obstacle.tool}, and they {obstacle.pass} {obstacle.the}."},
    {"On the way they came to {obstacle}. Luckily {hero} had {obstacle.tool}, so they {obstacle.pass} {obstacle.the}."},
};
constexpr FormRow detail_forms[] = {
    {"{here.detail}"},
    {"It was lovely {here.at}. {here.detail}"},
    {"{hero} had never seen {here} before. {here.detail}"},
};
constexpr FormRow find_forms[] = {
    {"And there, {spot}, lay {a:property} {object}."},
    {"They looked high and low until {hero} saw the {property} {object} {spot}."},
    {"\"Look!\" cried {friend}. {spot} lay {a:property} {object}."},
    {"Soon {hero} found the {property} {object} {spot}."},
};
constexpr FormRow take_forms[] = {
    {"{hero} took the {object} and held it close.", "holder=hero"},
    {"{friend} picked it up and gave it to {hero}.", "holder=hero"},
    {"Nobody else had ever looked {spot!}, so now it belonged to {hero}.", "holder=hero"},
    {"\"It is for you, {hero},\" said {friend}, and {hero} took the {object}.", "holder=hero"},
};

constexpr FormRow owns_forms[] = {
    {"In {friend.his} {bag} {friend.he} had {a:property} {object}.", "holder=friend"},
    {"{friend} was carrying {a:property} {object} in {friend.his} {bag}.", "holder=friend"},
    {"And what was in {friend}'s {bag}? {a:property} {object}!", "holder=friend"},
};
constexpr FormRow beg_forms[] = {
    {"\"May I have the {object}?\" asked {hero}.", "", "holder=friend"},
    {"\"That is the {object} I dream of!\" cried {hero}. \"May I have it?\"", "", "holder=friend"},
    {"{hero} asked {friend} for the {property} {object}.", "", "holder=friend"},
};
constexpr FormRow terms_forms[] = {
    {"\"Bring me {a:wish_property} {wish}, and it is yours,\" said {friend}."},
    {"\"If you find me {a:wish_property} {wish}, you may have it,\" said {friend}."},
    {"\"I would like {a:wish_property} {wish},\" said {friend}. \"Then you can have it.\""},
    {"\"Let us trade,\" said {friend}. \"I need {a:wish_property} {wish}.\""},
};
constexpr FormRow seek_forms[] = {
    {"So {hero} hurried to {quest}.", "here=quest"},
    {"{hero} ran to {quest} as fast as {hero.he} could.", "here=quest"},
    {"{hero} thought hard, and then {hero.he} went to {quest}.", "here=quest"},
};
constexpr FormRow gather_forms[] = {
    {"There, {spot}, {hero.he} found {a:wish_property} {wish}."},
    {"{hero.he} looked {spot}, and there was {a:wish_property} {wish}."},
    {"{hero} searched and searched until {hero.he} found the {wish_property} {wish} {spot}."},
};
constexpr FormRow swap_forms[] = {
    {"{hero.he} ran back, and {friend} gave {hero.him} the {property} {object} for the {wish}.",
     "holder=hero here=", "holder=friend"},
    {"{hero} brought the {wish_property} {wish} to {friend} and got the {property} {object}.",
     "holder=hero here=", "holder=friend"},
    {"\"What a lovely {wish}!\" said {friend}, and {friend.he} gave {hero} the {property} {object}.",
     "holder=hero here=", "holder=friend"},
    {"{hero} ran back with the {wish}, and {friend} gave {hero.him} the {object} out of {friend.his} {bag}.",
     "holder=hero here=", "holder=friend"},
    {"Soon {friend} had the {wish_property} {wish}, and {hero} had the {property} {object}.",
     "holder=hero here=", "holder=friend"},
};

constexpr FormRow trouble_forms[] = {
    {"{friend} looked very {friend_mood}."},
    {"{friend.he} was all alone and looked {friend_mood}."},
    {"\"Why are you so {friend_mood}, {friend}?\" asked {hero}."},
};
constexpr FormRow lost_forms[] = {
    {"\"I have lost my {wish_property} {wish} {quest.at},\" said {friend}."},
    {"\"My {wish_property} {wish} is gone,\" said {friend}. \"I last had it {quest.at}.\""},
    {"\"Somewhere {quest.at} I dropped my {wish_property} {wish},\" said {friend}."},
};
constexpr FormRow promise_forms[] = {
    {"\"Do not worry, {friend}, I will help you,\" said {hero}."},
    {"\"Then we will find your {wish} together,\" said {hero}."},
    {"\"Cheer up, {friend}!\" said {hero}. \"Let us look for the {wish_property} {wish}.\""},
};
constexpr FormRow spotted_forms[] = {
    {"{hero} looked {spot}, and there was the {wish_property} {wish}."},
    {"After a long search {hero} found the {wish} {spot}."},
    {"\"Here it is!\" cried {hero}. The {wish_property} {wish} lay {spot}."},
};
constexpr FormRow relief_forms[] = {
    {"{friend} was not {friend_mood!} any more."},
    {"Now {friend} had {friend.his} {wish_property} {wish} back."},
    {"{friend} hugged the {wish} and forgot that {friend.he} had been {friend_mood!}."},
};
constexpr FormRow reward_forms[] = {
    {"\"Thank you, {hero}!\" said {friend}, and {friend.he} gave {hero.him} {a:property} {object}.", "holder=hero"},
    {"To say thank you, {friend} gave {hero} {a:property} {object}.", "holder=hero"},
    {"\"You found my {wish}, so this is for you,\" said {friend}. It was {a:property} {object}!", "holder=hero"},
};

constexpr FormRow shop_forms[] = {
    {"{hero.he} came to {quest}, where {a:seller} was selling {a:property} {object}.", "here=quest"},
    {"{quest.at} stood {a:seller} with {a:property} {object} to sell.", "here=quest"},
    {"There was {a:seller} {quest.at} who had {a:property} {object} to sell.", "here=quest"},
};
constexpr FormRow price_forms[] = {
    {"It cost {number} coins, but {hero} had none."},
    {"\"It costs {number} coins,\" said the {seller}, but {hero}'s pockets were empty."},
    {"The {seller} asked for {number} coins, and {hero} did not have a single one."},
};
constexpr FormRow job_forms[] = {
    {"Then {a:friend_kind} named {friend} said, \"Help me {task}, and I will pay you.\""},
    {"\"Will you help me {task}?\" asked {a:friend_kind} named {friend}."},
    {"Just then {friend} the {friend_kind} came by. \"Please help me {task},\" {friend.he} said."},
};
constexpr FormRow labour_forms[] = {
    {"So {hero} {task.did}, and {friend} gave {hero.him} {number} coins."},
    {"{hero} {task.did} with {friend} and got {number} coins."},
    {"{hero} {task.did}. \"Here are {number} coins for you, {hero},\" said {friend}."},
};
constexpr FormRow buy_forms[] = {
    {"{hero} ran back to the {seller} and bought the {property} {object}.", "holder=hero"},
    {"The {seller} {quest.at} took the {number} coins and gave {hero} the {property} {object}.", "holder=hero"},
    {"{hero} counted out {number} coins, and the {seller} handed {hero.him} the {property} {object}.", "holder=hero"},
};

constexpr FormRow see_forms[] = {
    {"{hero.he} walked to {quest} and saw {a:property} {object} high up {perch}.", "here=quest"},
    {"{quest.at} {hero.he} looked up and saw {a:property} {object} {perch}.", "here=quest"},
    {"When {hero.he} came to {quest}, {hero.he} saw {a:property} {object} {perch}.", "here=quest"},
};
constexpr FormRow try_forms[] = {
    {"{hero} jumped and jumped, but {hero.he} could not reach the {object}."},
    {"{hero} stretched as far as {hero.he} could, but {perch.the} was too high."},
    {"\"Oh dear, {perch.the} is too high for me!\" cried {hero}."},
};
constexpr FormRow helper_forms[] = {
    {"Then {a:friend_kind} named {friend} came along."},
    {"Just then {friend} the {friend_kind} passed by."},
    {"Along came {friend}, {a:friend_kind} with a kind smile."},
};
constexpr FormRow offer_forms[] = {
    {"\"Climb on my back, {hero},\" said {friend}."},
    {"\"We can do it together,\" said {friend}. \"Climb on my back!\""},
    {"\"Let me help you get that {object}, {hero},\" said {friend}."},
};
constexpr FormRow reach_forms[] = {
    {"{hero} stood on {friend}'s back and took the {property} {object} from {perch.the}.", "holder=hero"},
    {"{friend} lifted {hero} up, and {hero} got hold of the {property} {object}.", "holder=hero"},
    {"With {friend}'s help {hero} pulled the {property} {object} down from {perch.the}.", "holder=hero"},
};

constexpr FormRow stumble_forms[] = {
    {"{hero.he} walked to {quest} and found {a:property} {object} {spot}.", "here=quest holder=hero"},
    {"{quest.at} {hero.he} found {a:property} {object} {spot}.", "here=quest holder=hero"},
    {"When {hero.he} came to {quest}, {hero.he} found {a:property} {object} {spot}.", "here=quest holder=hero"},
};
constexpr FormRow cry_forms[] = {
    {"Then {hero.he} heard someone crying. It was {a:friend_kind} named {friend}."},
    {"But close by sat {a:friend_kind} named {friend}, who looked {friend_mood}."},
    {"Then {a:friend_kind} named {friend} came along and looked {friend_mood}."},
};
constexpr FormRow claim_forms[] = {
    {"\"My {property} {object} is gone,\" said {friend}."},
    {"\"I have lost my {object},\" said {friend}. \"It is {property}.\""},
    {"\"That {property} {object} is mine,\" said {friend} softly."},
};
constexpr FormRow honest_forms[] = {
    {"{hero} would have liked to keep the {object}, but {hero.he} gave it to {friend}.", "holder=friend",
     "holder=hero"},
    {"It was hard, but {hero} gave the {property} {object} back to {friend}.", "holder=friend", "holder=hero"},
    {"\"Then it is yours, {friend},\" said {hero}, and {hero.he} gave back the {object}.", "holder=friend",
     "holder=hero"},
};
constexpr FormRow share_forms[] = {
    {"\"Let us share it, {hero},\" said {friend}."},
    {"\"We can play with the {object} together,\" said {friend}."},
    {"{friend} was not {friend_mood!} any more. \"Let us share the {object},\" {friend.he} said."},
};

constexpr FormRow idea_forms[] = {
    {"\"We can make {a:object} out of {material} and {second_material},\" said {friend}."},
    {"\"Let us take {material} and {second_material} and make one,\" said {friend}."},
    {"\"All we need is {material} and {second_material},\" said {friend}. \"Then we can make one.\""},
};
constexpr FormRow fetch_forms[] = {
    {"They found the {material} {quest.at} {spot}.", "here=quest"},
    {"They found everything {quest.at}.", "here=quest"},
    {"They went to {quest} and came upon some {material} {spot}.", "here=quest"},
};
constexpr FormRow build_forms[] = {
    {"{hero} took the {material}, and {friend} took the {second_material}."},
    {"{hero} worked with the {material}, and {friend} helped {hero.him} with the {second_material}."},
    {"They put the {material} and the {second_material} together, bit by bit."},
};
constexpr FormRow done_forms[] = {
    {"At last {hero} had {a:property} {object}.", "holder=hero"},
    {"Soon the {property} {object} was ready, and {friend} gave it to {hero}.", "holder=hero"},
    {"In the end {hero} held {a:property} {object}, and it was the best {object} of all.", "holder=hero"},
};

constexpr FormRow joy_forms[] = {
    {"{hero} was so happy that {hero.he} {joy}."},
    {"{hero} smiled from ear to ear and {joy}."},
    {"\"My very own {object}!\" cried {hero}.", "", "holder=hero"},
    {"\"It is the finest {object} in the world,\" said {hero}.", "", "holder=hero"},
    {"{hero} looked at the {property} {object} and {joy}."},
};
constexpr FormRow thanks_forms[] = {
    {"\"Thank you, {friend},\" said {hero}."},
    {"\"You are a true friend, {friend},\" said {hero}."},
    {"\"Without you I would have no {object}, {friend},\" said {hero}.", "", "holder=hero"},
};
constexpr FormRow together_forms[] = {
    {"Then they sat down and shared {food.the}."},
    {"For the rest of the {time} {hero} and {friend} played with the {object}."},
    {"Then {hero} and {friend} took turns with the {property} {object}."},
    {"{hero} and {friend} sat down {here.at} and talked about the {object}."},
};
constexpr FormRow return_forms[] = {
    {"In the evening {hero} went back to {home}.", "here=home"},
    {"When the stars came out, {hero} was back {home.at}.", "here=home"},
    {"{hero} carried the {property} {object} all the way back to {home}.", "here=home", "holder=hero"},
    {"When {hero} walked home to {home}, {weather.still}.", "here=home"},
    {"{hero} went home to {home} and took off {hero.his} {clothes!}.", "here=home"},
    {"Late that {time} {hero} came home to {hero.his} {house!} {home.at}.", "here=home"},
};
constexpr FormRow evening_forms[] = {
    {"{hero} told {hero.his} {family!} about {friend} the {friend_kind}."},
    {"{hero} showed the {property} {object} to {hero.his} {family!}.", "", "holder=hero"},
    {"There was always room for the {object} in the {house!}.", "", "holder=hero"},
    {"That night the {property} {object} lay beside {hero.his} bed.", "", "holder=hero"},
    {"That night {hero} dreamed of {quest}."},
    {"That night {hero} dreamed of {friend} and the {object}."},
};
constexpr FormRow ending_forms[] = {
    {"And {hero} was not {mood!} any more."},
    {"{hero} the {kind} never forgot that {weather} {time}."},
    {"From that day on, {hero} and {friend} were the best of friends."},
    {"And the {trait!} little {kind} and {friend} the {friend_kind} met every day after that."},
    {"{hero} kept the {property} {object} for ever.", "", "holder=hero"},
    {"It had been the best {time} of {hero.his} life."},
    {"Now {hero} had {a:property} {object} and a good friend named {friend}.", "", "holder=hero"},
    {"{holder} kept the {object}, but {hero} could play with it every day.", "", "holder=friend"},
    {"A friend like {friend} is worth more than {a:property} {object}.", "", "holder=friend"},
};

constexpr SceneRow scene_table[] = {
    {"hero", hero_forms},       {"home", home_forms},       {"want", want_forms},         {"longing", longing_forms},
    {"day", day_forms},         {"meet", meet_forms},       {"ask", ask_forms},           {"tell", tell_forms},
    {"go", go_forms},           {"blocked", blocked_forms}, {"detail", detail_forms},     {"find", find_forms},
    {"take", take_forms},       {"owns", owns_forms},       {"beg", beg_forms},           {"terms", terms_forms},
    {"seek", seek_forms},       {"gather", gather_forms},   {"swap", swap_forms},         {"trouble", trouble_forms},
    {"lost", lost_forms},       {"promise", promise_forms}, {"spotted", spotted_forms},   {"relief", relief_forms},
    {"reward", reward_forms},   {"shop", shop_forms},       {"price", price_forms},       {"job", job_forms},
    {"labour", labour_forms},   {"buy", buy_forms},         {"see", see_forms},           {"try", try_forms},
    {"helper", helper_forms},   {"offer", offer_forms},     {"reach", reach_forms},       {"stumble", stumble_forms},
    {"cry", cry_forms},         {"claim", claim_forms},     {"honest", honest_forms},     {"share", share_forms},
    {"idea", idea_forms},       {"fetch", fetch_forms},     {"build", build_forms},       {"done", done_forms},
    {"joy", joy_forms},         {"thanks", thanks_forms},   {"together", together_forms}, {"return", return_forms},
    {"evening", evening_forms}, {"ending", ending_forms},
};

constexpr PlotRow plot_table[] = {
    {"search", "meet ask tell go blocked?15 detail?20 find take"},
    {"trade", "meet owns beg?20 terms seek detail?15 gather swap"},
    {"help", "meet trouble?40 lost promise?30 go detail?20 spotted relief?20 reward"},
    {"work", "shop price job labour buy"},
    {"stuck", "see detail?30 try helper offer?40 reach"},
    {"share", "stumble cry claim honest share"},
    {"make", "meet ask?40 idea fetch detail?25 build done"},
};

}  // namespace

std::span<const SceneRow> scene_rows() { return scene_table; }
std::span<const PlotRow> plot_rows() { return plot_table; }

}  // namespace ingot
