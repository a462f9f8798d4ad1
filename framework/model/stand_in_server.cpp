// A program with llama-server's flags for the tests of its lifecycle. The model file's text after
// "GGUF" says how it behaves: "die", "never" (is never ready), "deaf" (ignores TERM), "slow".
#include <httplib.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

int main(int argc, char** argv) {
  std::string file, alias;
  int port = 0;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "-m") file = argv[i + 1];
    if (flag == "--port") port = std::stoi(argv[i + 1]);
    if (flag == "--alias") alias = argv[i + 1];
  }
  std::ifstream in(file);
  const std::string behaviour(std::istreambuf_iterator<char>(in), {});
  const auto does = [&](const char* what) { return behaviour.find(what) != std::string::npos; };
  std::printf("loading %s\n", alias.c_str());
  std::fflush(stdout);
  if (does("die")) {
    std::fprintf(stderr, "error: tensor data is out of bounds\n");
    return 1;
  }
  if (does("deaf")) std::signal(SIGTERM, SIG_IGN);
  const auto ready_at =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(does("slow") ? 500 : 0);
  httplib::Server server;
  server.Get("/health", [&](const httplib::Request&, httplib::Response& response) {
    const bool ready = !does("never") && std::chrono::steady_clock::now() >= ready_at;
    response.status = ready ? 200 : 503;
    response.set_content(ready ? R"({"status":"ok"})" : R"({"error":{"message":"Loading model"}})",
                         "application/json");
  });
  server.Get("/v1/models", [&](const httplib::Request&, httplib::Response& response) {
    response.set_content(R"({"data":[{"id":")" + alias + R"("}]})", "application/json");
  });
  return server.listen("127.0.0.1", port) ? 0 : 1;
}
