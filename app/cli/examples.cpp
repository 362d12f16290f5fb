#include "app/cli/examples.hpp"

namespace troupe {

const std::string_view first_examples
  = R"(  troupe serve                      serve on 127.0.0.1:8283
  troupe serve --listen 127.0.0.1:9000 --data-dir /var/lib/troupe
  troupe run script.py              run it once, as a program
  troupe run tool.py --args '{"a": 1}'
  troupe tool put tool.py           store it; the schema is derived
  troupe config show --origin       effective settings and their origins
  troupe config keys http           explain one group of settings
  troupe --server http://host:8283 runs list
  troupe help options               what most commands take
)";

const std::vector<command_example>& command_examples() {
  static const std::vector<command_example> all{
    {"serve",
     "troupe serve --listen 127.0.0.1:9000 --data-dir /var/lib/troupe\n"
     "troupe serve --check-config --config-file /etc/troupe/config.ini"},
    {"run",
     "troupe run plot.py --file data.csv --outputs '*.png'\n"
     "troupe run tool.py --args '{\"a\": 1}'\n"
     "troupe run fetch.ts --network allow=api.example.org --timeout 5s"},
    {"tool list", "troupe tool list --search add"},
    {"tool show", "troupe tool show add --source"},
    {"tool put", "troupe tool put add.py --tag math --pip 'numpy>=2'"},
    {"tool delete", "troupe tool delete add"},
    {"tool run",
     "troupe tool run add --args '{\"a\": 1, \"b\": 2}'\n"
     "troupe tool run report --async"},
    {"tool schema", "troupe tool schema add.py"},
    {"runs list", "troupe runs list --count 50"},
    {"runs show", "troupe runs show RUN --json | jq .usage"},
    {"runs logs", "troupe runs logs RUN"},
    {"runs follow", "troupe runs follow RUN"},
    {"runs cancel", "troupe runs cancel RUN"},
    {"runs rerun", "troupe runs rerun RUN"},
    {"runs explain", "troupe runs explain add --args '{\"a\": 1, \"b\": 2}'"},
    {"batch",
     "echo '{\"tool_name\": \"add\", \"args\": {\"a\": 1, \"b\": 2}}' "
     "| troupe batch -\n"
     "troupe batch requests.jsonl --concurrency 16"},
    {"packages list", "troupe packages list"},
    {"packages build", "troupe packages build --pip numpy --pip 'pandas>=2'"},
    {"packages delete", "troupe packages delete FINGERPRINT"},
    {"var list", "troupe var list"},
    {"var set",
     "troupe var set OPENAI_API_KEY\n"
     "troupe var set REGION=eu --agent agent-1"},
    {"var unset", "troupe var unset OPENAI_API_KEY"},
    {"var import", "troupe var import variables.csv"},
    {"e2b env", "troupe e2b env > .env"},
    {"sandbox create", "id=$(troupe sandbox create --name work --timeout 1h)"},
    {"sandbox list", "troupe sandbox list"},
    {"sandbox show", "troupe sandbox show ID"},
    {"sandbox exec",
     "troupe sandbox exec ID -- ls -l /tmp\n"
     "troupe sandbox exec ID 'echo $HOME' --timeout 5s"},
    {"sandbox shell",
     "troupe sandbox shell ID\n"
     "troupe sandbox shell ID -- python3\n"
     "troupe sandbox shell ID --attach PROCESS"},
    {"sandbox run",
     "troupe sandbox run ID -c 'x = 20' && "
     "troupe sandbox run ID -c 'x + 1'\n"
     "troupe sandbox run ID analysis.py --timeout 2m"},
    {"sandbox context create",
     "troupe sandbox context create ID --language javascript --cwd /tmp"},
    {"sandbox context list", "troupe sandbox context list ID"},
    {"sandbox context interrupt",
     "troupe sandbox context interrupt ID CONTEXT"},
    {"sandbox context restart", "troupe sandbox context restart ID CONTEXT"},
    {"sandbox context delete", "troupe sandbox context delete ID CONTEXT"},
    {"sandbox cp",
     "troupe sandbox cp data.csv ID:/tmp/data.csv\n"
     "troupe sandbox cp ID:/tmp/out.png out.png"},
    {"sandbox ls", "troupe sandbox ls ID:/tmp"},
    {"sandbox cat", "troupe sandbox cat ID:/tmp/out.txt"},
    {"sandbox ports", "troupe sandbox ports ID"},
    {"sandbox open",
     "troupe sandbox open ID 8000\n"
     "troupe sandbox open ID 8000 --public --expires-in 3600"},
    {"sandbox close", "troupe sandbox close ID 8000"},
    {"sandbox forward",
     "troupe sandbox forward ID 8000\n"
     "troupe sandbox forward ID 5432:15432"},
    {"sandbox renew", "troupe sandbox renew ID 1h"},
    {"sandbox connect", "troupe sandbox connect ID --timeout 30m"},
    {"sandbox pause", "troupe sandbox pause ID"},
    {"sandbox resume", "troupe sandbox resume ID"},
    {"sandbox set",
     "troupe sandbox set ID --idle-timeout 10m --on-idle pause\n"
     "troupe sandbox set ID --metadata user=ann --without trial\n"
     "troupe sandbox set ID --network allow=pypi.org,files.pythonhosted.org"},
    {"sandbox events", "troupe sandbox events ID --follow"},
    {"sandbox snapshot", "troupe sandbox snapshot ID --name clean"},
    {"sandbox snapshots", "troupe sandbox snapshots"},
    {"sandbox rollback", "troupe sandbox rollback ID SNAPSHOT"},
    {"sandbox fork", "troupe sandbox fork ID --count 3 --timeout 1h"},
    {"sandbox forget", "troupe sandbox forget clean"},
    {"sandbox delete", "troupe sandbox delete ID"},
    {"sandbox-config list", "troupe sandbox-config list"},
    {"sandbox-config show", "troupe sandbox-config show local"},
    {"sandbox-config set",
     "troupe sandbox-config set local '{\"pip_requirements\": [{\"name\": "
     "\"requests\"}]}'"},
    {"sandbox-config delete", "troupe sandbox-config delete e2b"},
    {"mcp",
     "troupe mcp --session my-project\n"
     "troupe mcp install claude\n"
     "troupe mcp install cursor --read-only > .cursor/mcp.json"},
    {"config show", "troupe config show --origin"},
    {"config check",
     "troupe config check --config-file /etc/troupe/config.ini"},
    {"config keys", "troupe config keys limits"},
    {"config template", "troupe config template > config.ini"},
    {"key create",
     "troupe key create ci --scope run --days 90\n"
     "troupe key create admin --scope admin\n"
     "troupe key create boss --org new --scope admin"},
    {"key list", "troupe key list"},
    {"key delete", "troupe key delete ID"},
    {"key rotate-master", "troupe key rotate-master"},
    {"org list", "troupe org list"},
    {"org show", "troupe org show"},
    {"org delete", "troupe org delete ID --yes"},
    {"backend list", "troupe backend list"},
    {"backend test", "E2B_API_KEY=... troupe backend test e2b"},
    {"backend gc", "troupe backend gc --dry-run"},
    {"doctor", "troupe doctor"},
    {"top",
     "troupe top --interval 5\n"
     "troupe top --once --json"},
    {"bench", "troupe bench --count 1000 --concurrency 8"},
    {"backup create", "troupe backup create /var/backups/troupe/monday"},
    {"backup verify", "troupe backup verify /var/backups/troupe/monday"},
    {"restore",
     "troupe restore /var/backups/troupe/monday --data-dir /var/lib/troupe"},
    {"drain", "troupe drain --timeout 60 && systemctl stop troupe"},
    {"openapi", "troupe openapi > openapi.json"},
    {"audit tail", "troupe audit tail --follow"},
    {"audit verify", "troupe audit verify"},
    {"version", "troupe version --json"},
    {"completion",
     "source <(troupe completion bash)\n"
     "troupe completion fish > ~/.config/fish/completions/"
     "troupe.fish"},
    {"man", "troupe man | man -l -"},
    {"help",
     "troupe help tool put\n"
     "troupe help options"},
  };
  return all;
}

std::string_view examples_of(std::string_view command) {
  for (const auto& [name, lines] : command_examples())
    if (name == command)
      return lines;
  return {};
}

} // namespace troupe
