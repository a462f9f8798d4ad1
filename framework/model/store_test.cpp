#include "model/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "diagnostic/diagnostic.hpp"
#include "model/budget.hpp"
#include "model/recorded_set.hpp"

namespace hone::model {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

struct StoreTest : testing::Test {
  fs::path dir = fs::path(testing::TempDir()) / ("store_test." + std::to_string(::getpid()));
  ModelConfig config;
  Question question;

  void SetUp() override {
    config.name = "m";
    config.model = "m";
    config.base_url = "http://127.0.0.1:1/v1";
    question.user = "user";
    question.label.case_id = "c";
    question.label.arm = "with_skill";
    question.label.case_digest = "sha256:c1";
    question.label.skill_digest = "sha256:s1";
  }
  void TearDown() override { fs::remove_all(dir); }
  Exchange exchange() const { return exchange_of(config, question); }
  static Answer answer(const std::string& text) {
    Answer a;
    a.outcome = Outcome::answered;
    a.text = text;
    a.asked = "2026-01-31T00:00:00Z";
    return a;
  }
};

TEST_F(StoreTest, WhatTellsRequestsApartChangesTheKeyAndNothingElseDoes) {
  const std::string key = exchange().key();
  EXPECT_EQ(key.size(), 64u);
  const auto differs = [&](auto change) {
    const auto before = std::pair(config, question);
    change();
    const bool other = exchange().key() != key;
    std::tie(config, question) = before;
    return other;
  };
  EXPECT_TRUE(differs([&] { question.label.run = 1; }));
  EXPECT_TRUE(differs([&] { question.label.turn = 2; }));
  EXPECT_TRUE(differs([&] { question.label.step = 1; }));
  EXPECT_TRUE(differs([&] { question.label.case_id = "d"; }));
  EXPECT_TRUE(differs([&] { question.system = "s"; }));
  EXPECT_TRUE(differs([&] { config.temperature = 0.5; }));
  EXPECT_TRUE(differs([&] { config.model = "n"; }));
  EXPECT_TRUE(differs([&] { config.base_url = "http://127.0.0.1:2/v1"; }));
  EXPECT_TRUE(differs([&] { config.provider = "openai-responses"; }));
  EXPECT_FALSE(differs([&] { config.base_url += "/"; }));
  EXPECT_FALSE(differs([&] { config.stream = true; }));
  EXPECT_FALSE(differs([&] { config.api_key_env = "K"; }));
  EXPECT_FALSE(differs([&] { question.label.skill_digest = "sha256:s2"; }));
  config.endpoint = "llama-server";
  config.gguf_sha256 = "ab";
  const std::string local = exchange().key();
  EXPECT_FALSE(differs([&] {
    config.base_url = "http://127.0.0.1:9/v1";
    if (exchange().key() == local) config.endpoint = "", config.base_url = "http://127.0.0.1:1/v1";
  }));
}

TEST_F(StoreTest, ARecordedAnswerComesBack) {
  AnswerStore store(dir, RecordMode::record);
  EXPECT_FALSE(store.find(exchange()));
  store.keep(exchange(), answer("nine"));
  const auto found = AnswerStore(dir, RecordMode::replay).find(exchange());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "nine");
  EXPECT_EQ(found->source, "recorded");
  EXPECT_FALSE(AnswerStore(dir, RecordMode::off).find(exchange()));
  EXPECT_FALSE(AnswerStore(dir, RecordMode::refresh).find(exchange()));
}

TEST_F(StoreTest, TheFirstWriterWinsAndARefreshReplaces) {
  AnswerStore a(dir, RecordMode::record), b(dir, RecordMode::record);
  a.keep(exchange(), answer("first"));
  EXPECT_EQ(b.keep(exchange(), answer("second")).text, "first");
  AnswerStore(dir, RecordMode::refresh).keep(exchange(), answer("third"));
  EXPECT_EQ(a.find(exchange())->text, "third");
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) files += entry.is_regular_file();
  EXPECT_EQ(files, 2u);  // the answer and the locks: nothing half-made stays
}

TEST_F(StoreTest, AnEntryToAnotherRequestIsAnError) {
  AnswerStore store(dir, RecordMode::record);
  store.keep(exchange(), answer("nine"));
  const fs::path file = dir / exchange().key().substr(0, 2) / (exchange().key() + ".json");
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"user", "usor"}, {"hone.answer/1", "hone.answer/2"}, {"{", ""}}) {
    const std::string good = storage::read_file(file);
    std::string bad = good;
    bad.replace(bad.rfind(from), from.size(), to);
    std::ofstream(file) << bad;
    try {
      store.find(exchange());
      FAIL() << to;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Exit::bad_input);
      EXPECT_THAT(e.what(), HasSubstr(file.string()));
    }
    std::ofstream(file) << good;
  }
}

TEST_F(StoreTest, AskingIsHeldByOneProcessAndFreeWhenItDies) {
  AnswerStore store(dir, RecordMode::record);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    AnswerStore other(dir, RecordMode::record);
    const char got = other.try_lock(exchange()) ? 'y' : 'n';
    if (::write(ready[1], &got, 1) != 1) ::_exit(1);
    ::pause();
  }
  char got = 0;
  ASSERT_EQ(::read(ready[0], &got, 1), 1);
  EXPECT_EQ(got, 'y');
  EXPECT_FALSE(store.try_lock(exchange()));
  const Exchange held = exchange();
  question.label.run = 1;
  EXPECT_TRUE(store.try_lock(exchange()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(store.try_lock(held));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(StoreTest, ADiskThatCannotBeWrittenIsSaidLoudly) {
  fs::create_directories(dir);
  std::ofstream(dir / "file") << "x";
  try {
    AnswerStore store(dir / "file" / "store", RecordMode::record);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::infrastructure);
  }
}

TEST_F(StoreTest, ASetSaysWhyAnAnswerIsMissing) {
  AnswerStore store(dir, RecordMode::replay);
  store.add_set({{question.label, exchange().key(), answer("nine")}});
  EXPECT_EQ(store.find(exchange())->text, "nine");
  question.user = "another";
  EXPECT_THAT(store.why_missing(exchange()), HasSubstr("settings"));
  question.label.skill_digest = "sha256:s2";
  EXPECT_THAT(store.why_missing(exchange()), HasSubstr("the skill was edited"));
  question.label.case_digest = "sha256:c2";
  EXPECT_THAT(store.why_missing(exchange()), HasSubstr("the case was edited"));
  question.label.run = 7;
  EXPECT_THAT(store.why_missing(exchange()), HasSubstr("never recorded"));
}

TEST_F(StoreTest, ASetIsOneLineAnAnswerAndTheSameBytesEveryTime) {
  std::vector<RecordedAnswer> answers;
  for (const char* id : {"b", "a"}) {
    question.label.case_id = id;
    answers.push_back(
        {question.label, exchange().key(), answer(std::string("to ") + id + "\n\"x\"")});
  }
  const fs::path file = dir / "set.jsonl";
  write_recorded_set(file, "e", config, answers);
  const std::string bytes = storage::read_file(file);
  std::swap(answers[0], answers[1]);
  write_recorded_set(file, "e", config, answers);
  EXPECT_EQ(storage::read_file(file), bytes);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), '\n'), 3);
  const auto back = read_recorded_set(file);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].label.case_id, "a");
  EXPECT_EQ(back[0].label.skill_digest, "sha256:s1");
  EXPECT_EQ(back[0].key, answers[0].key);
  EXPECT_EQ(to_json(back[0].answer), to_json(answers[0].answer));
}

TEST_F(StoreTest, ABrokenSetSaysWhere) {
  fs::create_directories(dir);
  const fs::path file = dir / "set.jsonl";
  for (const char* text : {"", "{}\n", "{\"schema\":\"hone.recorded/1\"}\n{\"case\":\"a\"}\n",
                           "{\"schema\":\"hone.recorded/1\"}\n{\"case\":"}) {
    std::ofstream(file) << text;
    try {
      read_recorded_set(file);
      FAIL() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Exit::bad_input);
      EXPECT_THAT(e.what(), HasSubstr("set.jsonl:"));
    }
  }
}

TEST(RecordModes, AreKnownByName) {
  EXPECT_EQ(record_mode_named("replay"), RecordMode::replay);
  EXPECT_THROW(record_mode_named("repaly"), Error);
}

struct BudgetTest : testing::Test {
  ModelConfig model;
  Budget budget;
  static Answer used(long input, long output) {
    Answer a;
    a.outcome = Outcome::answered;
    a.usage.input = input;
    a.usage.output = output;
    return a;
  }
};

TEST_F(BudgetTest, TokensAreReservedAtTheirMostUntilTheRateIsKnown) {
  budget.max_tokens = 3000;
  const auto first = budget.reserve(model, 1000, 500);  // 64 + 1000 + 500
  ASSERT_TRUE(first);
  EXPECT_FALSE(budget.reserve(model, 1000, 500));
  budget.settle(*first, used(250, 100));
  EXPECT_EQ(budget.tokens(), 350);
  int more = 0;  // now 64 + 1.25 * 250 + 500 = 877 each, of 2650
  while (budget.reserve(model, 1000, 500)) ++more;
  EXPECT_EQ(more, 3);
}

TEST_F(BudgetTest, CostNeedsAPriceAndIsNotPassed) {
  budget.max_cost = 0.01;
  EXPECT_THROW(budget.reserve(model, 100, 10), Error);
  model.price = {1.0, 0.1, 1.25, 5.0};
  EXPECT_TRUE(budget.reserve(model, 1000, 1000));  // 1064 * 1.25 + 1000 * 5 = 0.0063
  EXPECT_FALSE(budget.reserve(model, 1000, 1000));
}

TEST(Cost, CountsEachPartAtItsPriceAndIsAbsentWhereOneIsNotKnown) {
  const Price price{3.0, 0.3, 3.75, 15.0};
  Usage usage;
  usage.input = 1'000'000;
  EXPECT_FALSE(cost_of(price, usage));
  usage.output = 100'000;
  EXPECT_DOUBLE_EQ(*cost_of(price, usage), 4.5);
  usage.cached = 500'000;
  usage.cache_write = 100'000;
  EXPECT_DOUBLE_EQ(*cost_of(price, usage), 0.4 * 3 + 0.5 * 0.3 + 0.1 * 3.75 + 1.5);
  EXPECT_FALSE(cost_of({}, usage));
}

}  // namespace
}  // namespace hone::model
