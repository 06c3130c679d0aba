import { exitCodeTable } from './exit-codes.ts';

/** Text after the help of the command itself. */
export const mainHelp = `
Examples:
  $ onward dev                                     server, console and store; the address is printed
  $ onward run "Which programs renew this quarter?"
  $ onward explain last                            why it continued, step by step, and why it stopped
  $ onward resume last --grant steps=5             continue past a limit with this grant
  $ onward approve last                            approve the call that needs approval
  $ onward answer last --decline                   decline the question that a tool asks
  $ onward init my-agents                          create a small project
  $ onward serve --port 8080                       the API in production; more processes: onward worker

Name a session by its id, by the first characters of it (at least 4), or as "last".
Without a config file (onward.config.ts, .mts, .js or .mjs) a demo agent answers, with no key and no network.

Environment:
  OPENAI_API_KEY   runs the demo agent on an OpenAI model
  ONWARD_MODEL     model to use: openai:gpt-5, anthropic:claude-sonnet-5, ollama:llama3.2 …
  ONWARD_TOKEN     token of the dev server
  ONWARD_DEBUG=1   shows stack traces, as --debug does
  NO_COLOR, FORCE_COLOR

Exit codes show scripts how a run ended: onward help exit-codes
`;

export const exitCodeHelp: string = `Exit codes of onward:

${exitCodeTable()}

run, resume, approve, deny and answer end with the code of the run. stop, explain, sessions and recover end with 0 when they
succeed, however the run ended.
`;

export const runHelp = `
The answer goes to stdout, everything else to stderr. On a terminal, text appears as it is generated. A pipe gets whole answers
only: no discarded text and no text next to a tool call (--stream prints all of it as it arrives).

Ctrl-C stops the run, which can be resumed; a second one exits immediately. SIGTERM finishes the step and leaves the
session to another process.

--json writes one JSON object per line: the envelopes that a UI gets (agent.status, agent.message, agent.step.*,
agent.tool.*, agent.approval.requested, agent.input.requested, agent.continuation, agent.stream.*), and last
  {"type":"result","session_id":…,"status":…,"stop_reason":…,"exit_code":…,"output":…,"explanation":…,"next":[…]}

Examples:
  $ onward run "Add a lead for Helvetia Robotics"
  $ onward run "And one for Nordlicht" --session last
  $ git log -5 | onward run - > notes.txt
  $ onward run "Clean up" --yes --json | jq -r 'select(.type == "result").output'
`;

export const devHelp = `
Everything is in one process: the HTTP API under /api, the console, and the sessions in .onward/sessions.db. What an
earlier process left unfinished continues. Only this machine can reach it, and only with its token, which is kept in
.onward/token so that an open page survives a restart.

Examples:
  $ onward dev --open
  $ onward dev --port 8080
  $ onward dev --host 0.0.0.0 --token "$MY_TOKEN"
`;

export const serveHelp = `
The config says who may use the API: auth, tokens or both. There is no demo, and no console without console: true in the
config. /healthz answers while the process runs. /readyz answers 200 while the store answers and the process does not drain.

SIGTERM or Ctrl-C drains: /readyz answers 503, streams end so that readers reconnect elsewhere, running steps have --grace
seconds to finish, and what still runs is handed over. With --drain-delay, requests are served for that time before, so
that a proxy notices /readyz first. A second signal exits immediately.

Examples:
  $ onward serve --port 8080
  $ onward serve --no-work                         beside processes of \`onward worker\` on the same store
`;

export const workerHelp = `
Workers on the same store share the work: with the queue of the config at once, without one within a second. --health-port
serves /healthz and /readyz and nothing else. SIGTERM or Ctrl-C drains as in \`onward serve\`; a second signal exits
immediately.

Examples:
  $ onward worker --concurrency 100
  $ onward worker --agents support,billing --health-port 9000
`;

export const mcpHelp = `
An MCP client starts this command and talks to it over stdin and stdout, which carry nothing else. Each agent of the config
is a tool, and each call belongs to a session of --owner. Calls that need approval are asked for in the client, or answered
with \`onward approve\`. When the client closes the input, running steps have --grace seconds; another process continues what
is left. It needs: npm install @modelcontextprotocol/server

Examples:
  $ onward mcp --config /home/ann/agents/onward.config.ts --owner ann
  $ onward mcp --agents support
`;

export const explainHelp = `
Criteria are listed by precedence: forbid, request, allow stop, allow. The arrow marks the deciding criterion.

Examples:
  $ onward explain last
  $ onward explain 1a2b3c4d --step 2
  $ onward explain last --call call_1             the agent behind a call
  $ onward explain last --step 2 --request        what the model was sent
  $ onward explain last --json | jq '.steps[].outcome.resolvedBy'
`;

export const replayHelp = `
The criteria judge the recorded steps again, without a model. What follows the first difference is not known.

Examples:
  $ onward replay last --max-steps 6
  $ onward replay last --max-cost 0.50 --seconds 120
  $ onward replay last --error-policy production --json
`;

export const resumeHelp = `
A run that stops at a limit names the grant that lets it continue. Kinds: steps, tokens, cost, seconds, retries.

Examples:
  $ onward resume last
  $ onward resume last --grant steps=5
  $ onward resume 1a2b3c4d --grant tokens=20000,cost=0.5
`;

export const answerHelp = `
Without a call id, the only call that needs approval is answered. approve --all approves all calls
that wait now, approve --yes also later ones.
If several executions asked under one call id, name the one you saw with --execution.

Examples:
  $ onward approve last
  $ onward approve last --all
  $ onward approve last --args '{"id": 7}'
  $ onward deny last --reason "still in use"
`;

export const inputHelp = `
Without an input id, the only question that waits is answered. The content of a form is a JSON object, which is checked
against the schema of the question. A question with an address takes --accept once you have finished there: look at its
host before you open it, because the tool sends the address.

Examples:
  $ onward answer last --content '{"sure": true}'
  $ onward answer last call_1/login --accept
  $ onward answer last --decline
`;

export const backupHelp = `
The copy is a consistent snapshot. To restore it, stop every process that uses the sessions, remove the files that end in -wal
and -shm next to the database, and replace the database with the copy. What happened after the copy was made is not in it.
`;

export const workersHelp = `
Lists the workers of all processes on this store. A worker is busy, idle, draining (it claims nothing more) or lost: its
process ended without closing, or does not reach the store. LEASES are the sessions that it holds; LOST are those that
it held when it was lost and that no other worker has taken over yet. A worker that closes leaves the list at once, a lost one
after an hour.

Examples:
  $ onward workers --watch
  $ onward workers --json | jq -r 'select(.status == "lost").worker_id'
`;

export const queueHelp = `
Counts the sessions of all owners. WAITING need a worker, the OLDEST since its last change. ACTIVE have one; RECOVERED are
the active ones that were taken over from a lost worker. LOST still wait for that. WORKERS run this agent.

Examples:
  $ onward queue --watch
  $ onward queue --json | jq .waiting
`;

export const parkedHelp = `
A session is parked after 5 tries without a step, or when it has ended 10 processes. It stays as it is until it is
retried or stopped. Fix the cause first. To retry more than one asks first; without a terminal it requires --yes.

Examples:
  $ onward parked --agent support
  $ onward parked --retry --yes                    all that are listed, the last changed first
  $ onward parked --retry 1a2b3c4d
`;

export const pricesHelp = `
Prices are in US dollars per million tokens. A model is named in full or by the beginning of its name. Prices of your own, which
an agent of the config sets with prices, come first. A model whose price is unknown has no cost, and no cost limit is enforced
for it.

Examples:
  $ onward prices claude-sonnet
  $ onward prices gpt-5 --json | jq '.prices[] | select(.model == "gpt-5").input'
`;

export const exportHelp = `
One JSON object per line: the header with the state of the session, its messages, compactions and steps with their outcomes,
the agents behind its calls, the calls, the events, and the end. Secrets are replaced and the owner is not named.
--unredacted keeps secrets.

--test writes a vitest file instead: your agent of the config, its tools and limits, and a model that gives the recorded answers.
Tools that needed approval answer with their recorded results, and so do those of --recorded.

Examples:
  $ onward export last > session.jsonl
  $ onward export 4f1c --out session.jsonl
  $ onward export last --test --out lamps.test.ts
  $ onward export last | jq -r 'select(.type == "step").step.outcome.stopReason'
`;

export const importHelp = `
The session can be read in the console and with sessions show and explain, and deleted. It belongs to --owner. Nothing
continues or changes it.

Examples:
  $ onward import session.jsonl --owner support
`;

export const evalHelp = `
Finds *.eval.ts, .mts, .js and .mjs below this folder; each exports defineEval({ ... }) as default. Name files, folders or
suites to run only those. A report is stored in .onward/evals, compared with the one before, and shown in the console.
Ends with 9 if a case did not pass.

--json writes one JSON object per line: {"type":"eval_run",…} after each run, {"type":"eval_report","report":{…}} per
suite, and last {"type":"result","passed":…,"exit_code":…}.

Examples:
  $ onward eval
  $ onward eval leads.eval.ts --filter duplicate --repeats 5
  $ onward eval leads --baseline 41 --junit reports/evals.xml
`;
