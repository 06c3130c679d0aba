/**
 * An agent in the terminal, without a server or a store: text as it is written, a line for each tool, questions before
 * something is deleted, and at the end why it stopped.
 *
 *   npm run build && npx jiti examples/cli-agent/main.ts [folder]
 *
 * It looks after the files of a folder, this one unless you name another. The model is scripted, so that it runs
 * without a key; agent.ts has the line that makes it real.
 */
import { stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';
import type { Agent, AgentEvent, AgentState, Approvals, PendingApproval } from 'onward';
import { fileAgent } from './agent.ts';

const agent = fileAgent(process.argv[2] ?? '.');
agent.wiretap(show);

// read by an iterator, which keeps the lines that come before the first read
const lines = createInterface({ input: stdin })[Symbol.asyncIterator]();

/** Null at the end of the input. */
async function ask(question: string): Promise<string | null> {
  stdout.write(question);
  const { value, done } = await lines.next();
  return done === true ? null : value.trim();
}

let state: AgentState | null = null;
for (let text = await ask('> '); text !== null; text = await ask('\n> ')) {
  if (text === '') continue;
  state = await finish(agent, await agent.run(state?.withUserMessage(text) ?? text));
  console.log(`\n${state.lastContinuationOutcome?.explain()}`);
}
console.log();

/** A run may need approval or reach a limit. This asks for a decision, then continues. */
async function finish(agent: Agent, state: AgentState): Promise<AgentState> {
  if (state.status === 'paused') {
    const approvals: Record<string, Approvals[string]> = {};
    try {
      for (const call of state.pendingApprovals) approvals[call.callId] = await decide(call);
      return await finish(agent, await agent.resume(state, { approvals }));
    } catch (error) {
      // other arguments that do not fit the tool: nothing has run, so ask again
      console.log(`  ✗ ${(error as Error).message}`);
      return finish(agent, state);
    }
  }
  const grant = state.lastContinuationOutcome?.decisive?.remedy?.grant;
  if (state.status !== 'stopped' || !grant) return state;
  const answer = await ask(
    `\nIt stopped (${state.stopReason}). Grant ${JSON.stringify(grant)}? [y/n] `,
  );
  return answer === 'y' ? finish(agent, await agent.resume(state, { grant })) : state;
}

async function decide({ tool, args }: PendingApproval): Promise<Approvals[string]> {
  const answer = await ask(
    `\n${tool} ${JSON.stringify(args)}\nRun it? [y]es, other arguments as JSON, or why not: `,
  );
  if (answer === 'y') return { approve: true };
  if (answer?.startsWith('{')) return { approve: true, args: JSON.parse(answer) as typeof args };
  return { deny: answer || 'no answer was given' };
}

function show(event: AgentEvent): void {
  if (event.type === 'StreamChunk') stdout.write(event.content);
  if (event.type === 'ToolCallStarted')
    console.log(`\n  … ${event.tool} ${JSON.stringify(event.args)}`);
  if (event.type === 'ToolCallCompleted')
    console.log(
      event.success
        ? `  ✓ ${event.tool} in ${Math.round(event.durationMs)} ms`
        : `  ✗ ${event.tool}: ${event.error}`,
    );
  if (event.type === 'StepFailed') console.log(`\n  ✗ ${event.error.message}`);
}
