#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "process/run.hpp"
#include "storage/storage.hpp"

namespace hone::cli {

using storage::Json;

/// A project of one skill and text cases in a folder of its own, a service of chat completions, and
/// the real hone program.
struct CliTest : testing::Test {
  std::filesystem::path dir = in_memory() / ("cli_test." + std::to_string(::getpid()));
  httplib::Server server;
  std::thread thread;
  int port = 0;
  std::atomic<int> hits{0};
  std::mutex mutex;
  /// Answers a request; one at a time.
  std::function<void(const Json& body, httplib::Response&)> answer;

  std::vector<Json> models;
  std::vector<Json> evaluations;
  std::map<std::string, std::string> environment;

  void SetUp() override {
    server.new_task_queue = [] { return new httplib::ThreadPool(16); };
    server.Post("/v1/chat/completions", [&](const auto& request, auto& response) {
      ++hits;
      const Json body = Json::parse(request.body);
      if (delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
      const std::lock_guard hold(mutex);
      answer(body, response);
    });
    port = server.bind_to_any_port("127.0.0.1");
    thread = std::thread([&] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();
    answer = [](const Json& body, httplib::Response& response) {
      // Right with the skill, which says so.
      say(response, system_of(body).find("nine") != std::string::npos ? "nine" : "eight");
    };
    models = {{{"name", "m"},
               {"provider", "openai"},
               {"base_url", "http://127.0.0.1:" + std::to_string(port) + "/v1"},
               {"model", "m"},
               {"parallel", 4},
               {"max_tokens", 20},
               {"price", {{"input", 1.0}, {"output", 4.0}}}}};
    evaluations = {evaluation("e", "skill")};
    write_skill("skill", "Say nine.");
    for (int i = 0; i < 6; ++i) write_case("case-" + std::to_string(i));
  }
  void TearDown() override {
    server.stop();
    thread.join();
    std::filesystem::remove_all(dir);
  }

  std::atomic<int> delay_ms{0};

  static constexpr int kTrials = 24;  ///< 6 cases in 2 arms, 2 runs

  /// Where waiting for the disk takes no time, if there is such a place.
  static std::filesystem::path in_memory() {
    return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : testing::TempDir();
  }
  /// Text without its line breaks.
  static std::string flat(const std::string& text) {
    std::istringstream words(text);
    std::string all;
    for (std::string word; words >> word;) all += word + " ";
    return all;
  }
  static std::string system_of(const Json& body) {
    return body["messages"][0]["content"].get<std::string>();
  }
  static void say(httplib::Response& response, const std::string& text) {
    response.set_content(Json{{"choices", Json::array({{{"message", {{"content", text}}}}})},
                              {"usage", {{"prompt_tokens", 100}, {"completion_tokens", 5}}}}
                             .dump(),
                         "application/json");
  }
  Json evaluation(const std::string& name, const std::string& skill) const {
    return {{"name", name},
            {"skill", skill},
            {"suites", Json::array()},
            {"cases", {(dir / "cases/*.json").string()}},
            {"models", {"m"}},
            {"gates", {"lift >= 0.5"}},
            {"runs", 2}};
  }
  void write_skill(const std::string& name, const std::string& body) const {
    storage::write_atomically(dir / name / "SKILL.md",
                              "---\nname: " + name + "\ndescription: helps\n---\n" + body + "\n");
  }
  void write_case(const std::string& id, Json more = Json::object()) const {
    Json c = {{"id", id}, {"prompt", "Which, " + id + "?"}, {"expect", {{"contains", "nine"}}}};
    c.update(more);
    storage::write_json(dir / "cases" / (id + ".json"), c);
  }
  std::filesystem::path write_manifest() const {
    storage::write_json(dir / "build/hone/manifest.json",
                        {{"schema", "hone.manifest/1"},
                         {"source_dir", dir.string()},
                         {"binary_dir", (dir / "build").string()},
                         {"run_dir", (dir / "build/hone/runs").string()},
                         {"cache_dir", (dir / "build/hone/cache").string()},
                         {"reports_dir", (dir / "build/reports").string()},
                         {"baselines_dir", (dir / "reports/baselines").string()},
                         {"models", models},
                         {"skills",
                          {{{"name", "skill"}, {"dir", (dir / "skill").string()}},
                           {{"name", "other"}, {"dir", (dir / "other").string()}}}},
                         {"evaluations", evaluations}});
    return dir / "build/hone/manifest.json";
  }
  process::Command command(std::vector<std::string> arguments) const {
    process::Command command;
    command.argv = {HONE_PROGRAM, "--manifest", write_manifest().string()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.inherit_environment = true;
    command.environment = environment;
    for (const char* own : {"HONE_RECORD", "HONE_HISTORY", "HONE_CONFIRM", "COLUMNS"})
      command.environment.emplace(own, "");
    command.directory = dir;
    return command;
  }
  process::Result hone(std::vector<std::string> arguments) const {
    return process::run(command(std::move(arguments)));
  }
  /// Runs git in the project; what it prints.
  std::string git(std::vector<std::string> arguments) const {
    process::Command command;
    command.argv = {"git", "-C", dir.string(), "-c", "user.name=t", "-c", "user.email=t@localhost"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.inherit_environment = true;
    const auto result = process::run(command);
    EXPECT_TRUE(result.ok()) << result.str() << result.err;
    return result.out;
  }
};

}  // namespace hone::cli
