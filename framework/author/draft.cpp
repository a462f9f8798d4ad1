#include "author/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "author/trace.hpp"
#include "skill/front_matter.hpp"
#include "skill/lint.hpp"

namespace hone::author {
namespace {

constexpr int kAttempts = 3;
constexpr int kNoteTokens = 400;
constexpr size_t kMaxDescription = 1024;
constexpr size_t kLeastBody = 40;

constexpr const char* kSystem =
    "You write agent skills: short notes that let a smaller model do a task right. Facts, exact "
    "names, limits and rules that a model gets wrong; short complete examples; no introductions.";

/// A YAML string in double quotes.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n' || c == '\r' || c == '\t')
      out += ' ';
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out + "\"";
}

/// The first line of an answer that says something, fit for a description.
std::string description_from(const std::string& answer) {
  std::string text = unfenced(answer);
  text = text.substr(0, text.find("\n\n"));
  for (const char* label : {"description:", "Description:"})
    if (text.starts_with(label)) text = text.substr(std::string(label).size());
  std::string out;
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '"' || c == '`' || c == '*') continue;
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (out.size() <= kMaxDescription) return out;
  return out.substr(0, out.rfind(' ', kMaxDescription));
}

/// An answer as a body: models like to give front matter and a fence around it all.
std::string body_from(const std::string& answer) {
  const std::string text = unfenced(answer);
  if (!text.starts_with("---\n")) return text;
  const size_t end = text.find("\n---", 3);
  if (end == std::string::npos) return text;
  return unfenced(text.substr(end + 4));
}

std::string about(const Material& material) {
  std::string text = "The task: " + material.task + "\n";
  for (const auto& example : material.examples)
    text += "Example of what is asked: " + example + "\n";
  return text;
}

int tokens_for_body(const Material& material) {
  return static_cast<int>(std::clamp<size_t>(material.target_tokens * 2, 512, 6000));
}

/// Asks for a body until it makes a valid skill.
Written until_valid(Writer& writer, Draft draft, const Material& material,
                    const std::string& request, long seed) {
  Written written;
  std::string complaint;
  while (written.attempts < kAttempts) {
    const auto answer = writer.write(
        {kSystem, request + complaint, tokens_for_body(material), seed + 1000L * written.attempts});
    if (!answer) {
      written.problem = "the budget is used up";
      return written;
    }
    ++written.attempts;
    draft.body = body_from(*answer);
    written.problem = faults_of(draft);
    if (written.problem.empty()) {
      written.draft = draft;
      return written;
    }
    complaint = "\nYour last answer could not be used: " + written.problem + "\n";
  }
  return written;
}

}  // namespace

std::string skill_md(const Draft& draft) {
  if (!draft.front_matter.empty()) return draft.front_matter + draft.body + "\n";
  return "---\nname: " + draft.name + "\ndescription: " + quoted(draft.description) + "\n---\n" +
         draft.body + "\n";
}

std::string faults_of(const Draft& draft) {
  std::vector<Diagnostic> found;
  skill::Skill skill;
  skill.name = draft.name;
  skill::read_skill_text("SKILL.md", skill_md(draft), skill, found);
  std::string faults;
  const auto add = [&](const std::string& fault) {
    faults += (faults.empty() ? "" : "; ") + fault;
  };
  for (const auto& d : found) add(d.message);
  if (draft.body.size() < kLeastBody) add("it says nothing");
  if (const size_t tokens = skill::about_tokens(draft.body); tokens > skill::kMaxBodyTokens)
    add(fmt::format("it has about {} tokens, at most {} are allowed", tokens,
                    skill::kMaxBodyTokens));
  return faults;
}

std::string name_for(const std::string& task) {
  static constexpr std::array<std::string_view, 9> kLeftOut = {"a",  "an",   "the", "for", "to",
                                                               "of", "with", "and", "in"};
  std::string name;
  std::string word;
  int words = 0;
  for (const char c : task + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    const bool dull = std::find(kLeftOut.begin(), kLeftOut.end(), word) != kLeftOut.end();
    if (!word.empty() && !dull && words < 6 && name.size() + word.size() < 60) {
      name += (name.empty() ? "" : "-") + word;
      ++words;
    }
    word.clear();
  }
  return name.empty() ? "skill" : name;
}

std::optional<std::string> notes_of(Writer& writer, const std::string& task,
                                    const std::string& trace,
                                    const std::function<void(const std::string&)>& progress) {
  std::string text = trace;
  const size_t room = writer.room(kNoteTokens) - 800;  // for what is asked around a chunk
  for (int round = 0; round < 4; ++round) {
    const auto chunks = chunks_of(text, room);
    std::string notes;
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (progress)
        progress(fmt::format("reading {} {} of {}", round == 0 ? "trace, part" : "notes, part",
                             i + 1, chunks.size()));
      const auto answer = writer.write(
          {kSystem,
           fmt::format("The task: {}\nBelow is part {} of {} of {} of how it was done. List what "
                       "somebody must know to do such a task right the first time: exact names, "
                       "commands, numbers, errors met and what mended them. Only what stands in "
                       "the text. Short lines.\n\n{}",
                       task, i + 1, chunks.size(), round == 0 ? "the record" : "notes", chunks[i]),
           kNoteTokens, 1});
      if (!answer) return std::nullopt;
      notes += unfenced(*answer) + "\n";
    }
    text = std::move(notes);
    // Notes share the room of the draft with the skill that comes of them.
    if (text.size() <= room / 2 || chunks.size() == 1) break;
  }
  return text;
}

Written write_draft(Writer& writer, const std::string& name, const Material& material) {
  Draft draft;
  draft.name = name;
  const auto description = writer.write(
      {kSystem,
       about(material) + "In one sentence of at most 40 words, say what a skill for this task "
                         "covers and when an agent should open it. Answer with the sentence only.",
       120, 1});
  if (!description) return {std::nullopt, "the budget is used up", 0};
  draft.description = description_from(*description);
  if (draft.description.empty()) draft.description = material.task;
  std::string request = about(material);
  if (!material.notes.empty())
    request += "\nNotes from somebody who did it:\n" + material.notes + "\n";
  request += fmt::format(
      "\nWrite the body of the skill in Markdown, of about {} tokens: headings, short lists, and "
      "complete code in ```cuda blocks where code helps. Answer with the Markdown only.",
      material.target_tokens);
  return until_valid(writer, draft, material, request, 1);
}

Written rewrite_draft(Writer& writer, const Draft& draft, const Material& material,
                      const std::string& evidence, long seed) {
  const std::string request =
      about(material) + "\nThis is the skill as it is:\n\n" + draft.body +
      "\n\nA smaller model was given it and still failed. What was asked, and what went "
      "wrong:\n\n" +
      evidence +
      fmt::format(
          "\nWrite the whole body again so that the model gets these right: keep what "
          "works, mend what is wrong or missing, state rules instead of answers to these "
          "questions. About {} tokens. Answer with the Markdown only.",
          material.target_tokens);
  return until_valid(writer, draft, material, request, seed);
}

Draft draft_of(const skill::Skill& skill) {
  const std::string text = storage::read_file(skill.where.file);
  // The body stands at the end but for blank lines; all in front of it is front matter.
  const size_t body = skill.body.empty() ? std::string::npos : text.rfind(skill.body);
  return {skill.name, skill.description, skill.body,
          body == std::string::npos ? "" : text.substr(0, body)};
}

}  // namespace hone::author
