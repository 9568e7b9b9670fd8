#include "train/tales/scenes.h"

namespace ingot {
namespace {

constexpr FormRow hero_forms[] = {
    {"Once there was {a:nature} {trade} named {hero}."},
    {"Long ago lived {a:nature} {trade} named {hero}."},
    {"This is the tale of {hero}, {a:nature} {trade}."},
    {"{hero} was {a:nature} {trade}."},
};
constexpr FormRow home_forms[] = {
    {"{hero} lived in {a:house} by {home}.", "here=home"},
    {"{hero.his} home was {a:house} by {home}.", "here=home"},
    {"{hero} lived by {home} with {hero.his} {family}.", "here=home"},
    {"{hero} and {hero.his} {family} lived by {home}.", "here=home"},
};
constexpr FormRow want_forms[] = {
    {"{hero} the {trade} wanted {a:look} {object}."},
    {"{hero} the {trade} dreamed of {a:look} {object}."},
    {"{hero} often spoke of {a:look} {object}."},
    {"{a:look} {object} was all {hero} wished for."},
};

constexpr FormRow longing_forms[] = {
    {"Without {a:look} {object} {hero} the {trade} felt {mood}."},
    {"But {hero.he} had no {object}, and {hero} the {trade} was {mood}."},
    {"Nobody by {home} had {a:look} {object}, and {hero} was {mood}."},
};
constexpr FormRow day_forms[] = {
    {"One {weather} {time} {hero} took {food} and left {home}."},
    {"One {weather} {time} {hero} the {trade} put on {hero.his} {clothes}."},
    {"One {time}, when {weather.sky}, {hero} the {trade} packed {food}."},
    {"On a {weather} {time} {hero} the {trade} left {home}."},
    {"One {weather} {time} {hero} left {home} in {hero.his} {clothes}."},
};
constexpr FormRow meet_forms[] = {
    {"{hero} the {trade} met {a:manner} {friend} {seat}."},
    {"{seat} {hero} met {a:manner} {friend}."},
    {"{seat} sat {a:manner} {friend} and greeted {hero}."},
    {"{a:manner} {friend} stopped {hero} the {trade} {seat}."},
};

constexpr FormRow ask_forms[] = {
    {"\"Have you seen {a:look} {object}?\" {hero} asked the {manner} {friend}."},
    {"{hero} told the {manner} {friend} about the {look} {object}."},
    {"\"I am {hero} the {trade}, {friend}, and I need {a:look} {object}.\""},
    {"\"Where is {a:look} {object}, {friend}?\" asked {hero} the {trade}."},
};
constexpr FormRow tell_forms[] = {
    {"\"Look near {quest}, {hero},\" said the {manner} {friend}."},
    {"The {manner} {friend} knew of one near {quest}."},
    {"\"Come with me to {quest}, {hero}!\" cried the {manner} {friend}."},
    {"The {manner} {friend} told {hero} to look near {quest}."},
};
constexpr FormRow go_forms[] = {
    {"So {hero} and the {manner} {friend} walked to {quest}.", "here=quest"},
    {"{hero} the {trade} and the {manner} {friend} hurried to {quest}.", "here=quest"},
    {"The {manner} {friend} led {hero} the {trade} to {quest}.", "here=quest"},
    {"{hero} the {trade} followed the {manner} {friend} to {quest}.", "here=quest"},
};
constexpr FormRow blocked_forms[] = {
    {"There was {obstacle}, but {hero} the {trade} had {obstacle.tool}.", "", "here=quest"},
    {"{obstacle} stopped {hero}, but the {manner} {friend} had {obstacle.tool}.", "", "here=quest"},
};
constexpr FormRow detail_forms[] = {
    {"{sight}", "", "here=quest"},
};
constexpr FormRow find_forms[] = {
    {"There, {spot}, {hero} saw {a:look} {object}."},
    {"{spot} lay {a:look} {object}, and {hero} saw it first."},
    {"\"Look, {hero}!\" cried the {friend}. {spot} lay {a:look} {object}."},
    {"Soon {hero} the {trade} found the {look} {object} {spot}."},
};
constexpr FormRow take_forms[] = {
    {"{hero} took the {look} {object} and thanked the {manner} {friend}.", "holder=hero"},
    {"The {manner} {friend} gave the {look} {object} to {hero} the {trade}.", "holder=hero"},
    {"\"Take the {object}, {hero},\" said the {manner} {friend}.", "holder=hero"},
};

constexpr FormRow owns_forms[] = {
    {"In its {bag} the {manner} {friend} had {a:look} {object}.", "holder=friend"},
    {"The {manner} {friend} had {a:look} {object} in its {bag}.", "holder=friend"},
    {"Inside the {friend}'s {bag} {hero} saw {a:look} {object}.", "holder=friend"},
};
constexpr FormRow beg_forms[] = {
    {"\"May I have the {look} {object}?\" {hero} asked the {friend}.", "", "holder=friend"},
    {"{hero} the {trade} asked the {friend} for the {look} {object}.", "", "holder=friend"},
};
constexpr FormRow terms_forms[] = {
    {"\"Bring me {a:touch} {wish}, {hero},\" said the {manner} {friend}."},
    {"\"For {a:touch} {wish} the {object} is yours,\" said the {manner} {friend}."},
    {"The {manner} {friend} asked {hero} for {a:touch} {wish} in return."},
};
constexpr FormRow seek_forms[] = {
    {"So {hero} the {trade} hurried to {quest} to find the {wish}.", "here=quest"},
    {"To find the {wish}, {hero} the {trade} ran to {quest}.", "here=quest"},
    {"{hero} the {trade} went to {quest} for the {wish}.", "here=quest"},
};
constexpr FormRow gather_forms[] = {
    {"There, {spot}, {hero} the {trade} found {a:touch} {wish}."},
    {"{spot} {hero} found {a:touch} {wish} for the {friend}."},
    {"{hero} the {trade} looked {spot} and found {a:touch} {wish}."},
};
constexpr FormRow swap_forms[] = {
    {"The {manner} {friend} took the {touch} {wish} and gave {hero} the {look} {object}.",
     "holder=hero here=", "holder=friend"},
    {"{hero} gave the {friend} the {touch} {wish} and got the {look} {object}.", "holder=hero here=", "holder=friend"},
    {"Soon the {friend} had the {touch} {wish}, and {hero} had the {look} {object}.",
     "holder=hero here=", "holder=friend"},
};

constexpr FormRow trouble_forms[] = {
    {"The {manner} {friend} was crying, and {hero} the {trade} asked why."},
    {"\"Why do you cry, {friend}?\" asked {hero} the {trade}."},
};
constexpr FormRow lost_forms[] = {
    {"\"I lost my {touch} {wish} near {quest},\" said the {manner} {friend}."},
    {"The {manner} {friend} had dropped its {touch} {wish} near {quest}."},
    {"\"My {touch} {wish} is near {quest},\" sobbed the {manner} {friend}."},
};
constexpr FormRow promise_forms[] = {
    {"\"I will find your {wish}, {friend},\" said {hero} the {trade}."},
    {"{hero} the {trade} promised the {friend} to find the {touch} {wish}."},
};
constexpr FormRow spotted_forms[] = {
    {"{hero} the {trade} looked {spot} and saw the {touch} {wish}."},
    {"{spot} {hero} the {trade} found the {touch} {wish}."},
    {"The {touch} {wish} of the {friend} lay {spot}."},
};
constexpr FormRow relief_forms[] = {
    {"Now the {manner} {friend} had its {touch} {wish} back."},
    {"The {manner} {friend} hugged {hero} and the {touch} {wish}."},
};
constexpr FormRow reward_forms[] = {
    {"\"Thank you, {hero},\" said the {friend} and gave {hero.him} {a:look} {object}.", "holder=hero"},
    {"The {manner} {friend} gave {hero} {a:look} {object} for it.", "holder=hero"},
    {"The {manner} {friend} thanked {hero} with {a:look} {object}.", "holder=hero"},
};

constexpr FormRow shop_forms[] = {
    {"Near {quest} {hero} met {a:seller} with {a:look} {object}.", "here=quest"},
    {"{hero} found {a:seller} near {quest} with {a:look} {object} to sell.", "here=quest"},
    {"Near {quest} {a:seller} showed {hero} the {trade} {a:look} {object}.", "here=quest"},
};
constexpr FormRow price_forms[] = {
    {"The {seller} asked {hero} the {trade} for {number} coins."},
    {"\"The {look} {object} costs {number} coins, {hero},\" said the {seller}."},
    {"The {object} cost {number} coins, more than {hero} the {trade} had."},
};
constexpr FormRow job_forms[] = {
    {"\"Help me {task}, {hero},\" said {a:manner} {friend} {seat}."},
    {"{seat} {a:manner} {friend} asked {hero} to {task}."},
    {"Then {a:manner} {friend} asked {hero} the {trade} to {task}."},
};
constexpr FormRow labour_forms[] = {
    {"{hero} the {trade} {task.did}, and the {manner} {friend} paid {number} coins."},
    {"{hero} {task.did} and got {number} coins from the {manner} {friend}."},
    {"{hero} the {trade} {task.did} and earned {number} coins."},
};
constexpr FormRow buy_forms[] = {
    {"{hero} paid the {seller} {number} coins for the {look} {object}.", "holder=hero"},
    {"The {seller} took {number} coins and gave {hero} the {look} {object}.", "holder=hero"},
    {"For {number} coins {hero} the {trade} bought the {look} {object}.", "holder=hero"},
};

constexpr FormRow see_forms[] = {
    {"Near {quest} {hero} saw {a:look} {object} {perch}.", "here=quest"},
    {"{hero} came to {quest} and saw {a:look} {object} {perch}.", "here=quest"},
    {"{perch}, near {quest}, {hero} saw {a:look} {object}.", "here=quest"},
};
constexpr FormRow try_forms[] = {
    {"{hero} the {trade} could not reach the {look} {object}."},
    {"{hero} the {trade} found {perch.the} too high."},
    {"{hero} the {trade} jumped for the {look} {object} in vain."},
};
constexpr FormRow helper_forms[] = {
    {"Then {a:manner} {friend} came to help {hero} the {trade}."},
    {"{a:manner} {friend} {seat} heard {hero} the {trade} sigh."},
    {"{seat} {hero} saw {a:manner} {friend} and called it."},
};
constexpr FormRow offer_forms[] = {
    {"\"Climb on my back, {hero},\" said the {manner} {friend}."},
    {"The {manner} {friend} promised {hero} the {look} {object}."},
};
constexpr FormRow reach_forms[] = {
    {"On the {friend}'s back {hero} took the {look} {object} from {perch.the}.", "holder=hero"},
    {"The {manner} {friend} lifted {hero} the {trade} up to the {look} {object}.", "holder=hero"},
    {"The {manner} {friend} threw {hero} the {look} {object} from {perch.the}.", "holder=hero"},
};

constexpr FormRow stumble_forms[] = {
    {"Near {quest} {hero} found {a:look} {object} {spot}.", "here=quest holder=hero"},
    {"{hero} came to {quest} and found {a:look} {object} {spot}.", "here=quest holder=hero"},
    {"{spot}, near {quest}, {hero} found {a:look} {object}.", "here=quest holder=hero"},
};
constexpr FormRow cry_forms[] = {
    {"Then {a:manner} {friend} came up to {hero} the {trade}."},
    {"{seat} {hero} saw {a:manner} {friend} in tears."},
    {"{a:manner} {friend} {seat} looked at {hero} and wept."},
};
constexpr FormRow claim_forms[] = {
    {"\"That {look} {object} is mine, {hero},\" said the {manner} {friend}."},
    {"The {friend} told {hero} that the {look} {object} was lost near {quest}."},
};
constexpr FormRow honest_forms[] = {
    {"So {hero} the {trade} gave the {look} {object} to the {friend}.", "holder=friend", "holder=hero"},
    {"\"Take it, {friend},\" said {hero} and gave back the {look} {object}.", "holder=friend", "holder=hero"},
    {"{hero} gave the {manner} {friend} the {look} {object} back.", "holder=friend", "holder=hero"},
};
constexpr FormRow share_forms[] = {
    {"\"Let us share it, {hero} the {trade},\" said the {manner} {friend}."},
    {"The {manner} {friend} let {hero} the {trade} use the {look} {object}."},
};

constexpr FormRow idea_forms[] = {
    {"\"Let us use {stuff} and {fastening}, {hero},\" said the {manner} {friend}."},
    {"The {manner} {friend} could make one with {stuff} and {fastening}."},
    {"The {friend} asked {hero} the {trade} for {stuff} and {fastening}."},
};
constexpr FormRow fetch_forms[] = {
    {"{hero} and the {manner} {friend} found {stuff} near {quest} {spot}.", "here=quest"},
    {"Near {quest} {hero} the {trade} found {stuff} {spot}.", "here=quest"},
    {"{hero} the {trade} went to {quest} and found {stuff} {spot}.", "here=quest"},
};
constexpr FormRow build_forms[] = {
    {"{hero} held the {stuff}, and the {manner} {friend} did the rest."},
    {"{hero} the {trade} and the {manner} {friend} worked on the {stuff}."},
    {"The {manner} {friend} cut the {stuff} for {hero} the {trade}."},
};
constexpr FormRow done_forms[] = {
    {"At last {hero} the {trade} had {a:look} {object}.", "holder=hero"},
    {"Soon the {manner} {friend} gave {hero} the {look} {object}.", "holder=hero"},
    {"{hero} the {trade} held the {look} {object} at last.", "holder=hero"},
};

constexpr FormRow joy_forms[] = {
    {"{hero} the {trade} {joy}."},
    {"{hero} saw the {look} {object} and {joy}."},
    {"With the {look} {object} {hero} the {trade} {joy}.", "", "holder=hero"},
};
constexpr FormRow thanks_forms[] = {
    {"\"Thank you, {manner} {friend},\" said {hero} the {trade}."},
    {"{hero} called the {manner} {friend} a true friend."},
};
constexpr FormRow together_forms[] = {
    {"{hero} and the {manner} {friend} danced round the {look} {object}."},
    {"{hero} the {trade} and the {friend} sat near {quest} with the {object}.", "", "here=quest"},
    {"{hero} and the {manner} {friend} played with the {look} {object}."},
};
constexpr FormRow return_forms[] = {
    {"{hero} carried the {look} {object} back to {home}.", "here=home", "holder=hero"},
    {"{hero} the {trade} went home to {home}.", "here=home"},
    {"{hero} the {trade} walked from {quest} back to {home}.", "here=home", "here=quest"},
    {"Soon {hero} the {trade} was back by {home}.", "here=home"},
};
constexpr FormRow evening_forms[] = {
    {"There {hero} told everyone about the {manner} {friend}.", "", "here=home"},
    {"There {hero} the {trade} showed everyone the {look} {object}.", "", "here=home"},
    {"That night {hero} dreamed of {quest} and the {manner} {friend}."},
};
constexpr FormRow ending_forms[] = {
    {"{hero} the {trade} never forgot the {manner} {friend}."},
    {"The {manner} {friend} and {hero} stayed friends for ever."},
    {"{hero} the {trade} kept the {look} {object} for ever.", "", "holder=hero"},
    {"Now {hero} had {a:look} {object} and {a:manner} {friend}.", "", "holder=hero"},
    {"The {manner} {friend} kept the {look} {object}, and {hero} was glad.", "", "holder=friend"},
    {"{a:manner} {friend} is worth more than {a:look} {object}.", "", "holder=friend"},
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
    {"search", "meet ask tell go blocked?25 detail?20 find take"},
    {"trade", "meet owns beg?30 terms seek blocked?15 detail?20 gather swap"},
    {"help", "meet trouble?40 lost promise?40 go blocked?15 detail?20 spotted relief?30 reward"},
    {"work", "shop price job labour buy"},
    {"stuck", "see detail?20 try helper offer?40 reach"},
    {"share", "stumble cry claim honest share"},
    {"make", "meet ask?50 idea fetch detail?20 build done"},
};

}  // namespace

std::span<const SceneRow> scene_rows() { return scene_table; }
std::span<const PlotRow> plot_rows() { return plot_table; }

}  // namespace ingot
