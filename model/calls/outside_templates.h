// What stands in chat-templates of the data beside the tree, and what is read off each; the judgement was made by
// reading the templates.
#pragma once

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "model/chat/chat_template.h"

namespace ingot::calls {

struct OutsideTemplate {
  std::string_view file;
  std::string_view describe;
};

constexpr std::array<OutsideTemplate, 29> outside_templates = {{
    {"Cohere2MoE.jinja",
     "object '<|START_ACTION|>[' call '\\n    {\"tool_call_id\": \"$index\", \"tool_name\": \"$name\", \"parameters\": "
     "$arguments}' then ',' end '\\n]<|END_ACTION|>' thought '<|START_THINKING|>...<|END_THINKING|>' in "
     "reasoning_content content '<|START_TEXT|>...<|END_TEXT|>'"},
    {"CohereForAI-c4ai-command-r-plus-tool_use.jinja",
     "object 'Action:\\n```json\\n[' call '\\n    {\\n        \"tool_name\": \"$name\",\\n        \"parameters\": "
     "$arguments\\n    }' then ',' end '\\n]```\\n'"},
    {"CohereForAI-c4ai-command-r7b-12-2024-tool_use.jinja",
     "object '<|START_ACTION|>[' call '\\n    {\"tool_call_id\": \"$index\", \"tool_name\": \"$name\", \"parameters\": "
     "$arguments}' then ',' end '\\n]<|END_ACTION|>' thought '<|START_THINKING|>...<|END_THINKING|>' switched content "
     "'<|START_RESPONSE|>...<|END_RESPONSE|>'"},
    {"GLM-4.7-Flash.jinja",
     "tagged call '<tool_call>$name$arguments</tool_call>' each '<arg_key>$key</arg_key><arg_value>$value</arg_value>' "
     "thought '<think>...</think>' in reasoning_content switched"},
    {"GigaChat3-10B-A1.8B.jinja",
     "object call '<|message_sep|>\\n\\nfunction call<|role_sep|>\\n{\"name\": \"$name\", \"arguments\": $arguments}' "
     "alone"},
    {"GigaChat3.1-10B-A1.8B.jinja",
     "object call '<|function_call|>{\"name\": \"$name\", \"arguments\": $arguments}' alone"},
    {"LFM2-8B-A1B.jinja", "generic: the template does not write calls"},
    {"LFM2.5-8B-A1B.jinja",
     "function '<|tool_call_start|>[' call '$name$arguments' values '($key=\")' then ', ' end ']<|tool_call_end|>' "
     "inexact thought '<think>...</think>' in thinking"},
    {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16.jinja",
     "tagged call '<tool_call>\\n<function=$name>\\n$arguments</function>\\n</tool_call>\\n' each "
     "'<parameter=$key>\\n$value\\n</parameter>\\n' thought '<think>...</think>' in reasoning_content switched"},
    {"NVIDIA-Nemotron-Nano-v2.jinja",
     "object '<TOOLCALL>[' call '{\"name\": \"$name\", \"arguments\": $arguments}' then ', ' end ']</TOOLCALL>' "
     "thought '<think>...</think>'"},
    {"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use.jinja",
     "object call '<tool_call>\\n{\"name\": \"$name\", \"arguments\": $arguments}\\n</tool_call>' then '\\n'"},
    {"Qwen-Qwen3-0.6B.jinja",
     "object call '<tool_call>\\n{\"name\": \"$name\", \"arguments\": $arguments}\\n</tool_call>' then '\\n' thought "
     "'<think>...</think>' in reasoning_content switched"},
    {"Qwen3-Coder.jinja",
     "tagged call '<tool_call>\\n<function=$name>\\n$arguments</function>\\n</tool_call>' each "
     "'<parameter=$key>\\n$value\\n</parameter>\\n' then '\\n'"},
    {"deepseek-ai-DeepSeek-R1-Distill-Llama-8B.jinja",
     "named '<｜tool▁calls▁begin｜>' call "
     "'<｜tool▁call▁begin｜>function<｜tool▁sep｜>$name\\n```json\\n$arguments\\n```<｜tool▁call▁end｜>' then '\\n' "
     "end '<｜tool▁calls▁end｜>' arguments-as-text without-content hides-tools thought '<think>...</think>'"},
    {"deepseek-ai-DeepSeek-R1-Distill-Qwen-32B.jinja",
     "named '<｜tool▁calls▁begin｜>' call "
     "'<｜tool▁call▁begin｜>function<｜tool▁sep｜>$name\\n```json\\n$arguments\\n```<｜tool▁call▁end｜>' then '\\n' "
     "end '<｜tool▁calls▁end｜>' hides-tools thought '<think>...</think>' switched"},
    {"google-gemma-4-31B-it-interleaved.jinja",
     "function call '<|tool_call>call:$name$arguments<tool_call|>' values '{$key:<|\"|>}' thought "
     "'<|channel>thought...<channel|>' in reasoning_content switched"},
    {"google-gemma-4-31B-it.jinja",
     "function call '<|tool_call>call:$name$arguments<tool_call|>' values '{$key:<|\"|>}' end '<|tool_response>' "
     "thought '<|channel>thought...<channel|>' in reasoning_content switched"},
    {"ibm-granite-granite-3.3-2B-Instruct.jinja",
     "generic: the template does not write calls thought '<think>...</think>'"},
    {"llama-cpp-rwkv-world.jinja", "generic: the template does not write calls thought '<think>...</think>' switched"},
    {"meta-llama-Llama-3.2-3B-Instruct.jinja", "object call '{\"name\": \"$name\", \"parameters\": $arguments}' alone"},
    {"meta-llama-Llama-3.3-70B-Instruct.jinja",
     "object call '{\"name\": \"$name\", \"parameters\": $arguments}' alone"},
    {"mistralai-Ministral-3-14B-Reasoning-2512.jinja",
     "named call '[TOOL_CALLS]$name[ARGS]$arguments' in-turns thought '[THINK]...[/THINK]'"},
    {"mistralai-Mistral-Nemo-Instruct-2407.jinja",
     "object '[TOOL_CALLS][' call '{\"name\": \"$name\", \"arguments\": $arguments, \"id\": \"$id\"}' then ', ' end "
     "']' in-turns"},
    {"moonshotai-Kimi-K2.jinja",
     "named '<|tool_calls_section_begin|>' call "
     "'<|tool_call_begin|>functions.$name:$index<|tool_call_argument_begin|>$arguments<|tool_call_end|>' end "
     "'<|tool_calls_section_end|>'"},
    {"muse-glimmer.jinja",
     "generic: the template writes the name of a call twice thought 'to=self<|message|>...<|eom|><|start|>assistant' "
     "in reasoning_content content 'to=user<|message|>...<|eot|>'"},
    {"openbmb-MiniCPM5-1B.jinja",
     "tagged call '<function name=\"$name\">$arguments</function>' each '<param name=\"$key\">$value</param>' texts "
     "'<![CDATA[]]>' then '\\n' thought '<think>...</think>' in reasoning_content switched"},
    {"poolside-Laguna-XS.2.jinja",
     "tagged call '<tool_call>$name\\n$arguments</tool_call>' each "
     "'<arg_key>$key</arg_key>\\n<arg_value>$value</arg_value>\\n' then '\\n' thought '<think>...</think>' in "
     "reasoning_content switched"},
    {"unsloth-Apriel-1.5.jinja",
     "object '<tool_calls>[' call '{\"name\": \"$name\", \"arguments\": $arguments}' then ', ' end ']</tool_calls>' "
     "thought '<thinking>...</thinking>'"},
    {"upstage-Solar-Open-100B.jinja",
     "named '<|tool_calls|>' call "
     "'<|tool_call:begin|>$id<|tool_call:name|>$name<|tool_call:args|>$arguments<|tool_call:end|>' end '<|calls|>' "
     "thought '<|think|>...<|end|><|begin|>assistant' in reasoning content '<|content|>...<|end|>'"},
}};

inline std::optional<std::filesystem::path> outside_template_folder() {
  const char* root = std::getenv("INGOT_OUTSIDE_DATA");
  if (root == nullptr) return std::nullopt;
  return std::filesystem::path(root) / "chat-templates" / "templates";
}

inline Result<chat::ChatTemplate> read_outside_template(const std::filesystem::path& folder,
                                                        const OutsideTemplate& row) {
  std::ifstream file(folder / row.file, std::ios::binary);
  if (!file) return Error::of(ErrorCode::not_found, "expected the template ", row.file);
  return chat::ChatTemplate::parse({std::istreambuf_iterator<char>(file), {}});
}

}  // namespace ingot::calls
