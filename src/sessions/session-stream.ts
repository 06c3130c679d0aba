import type { DurableAgent } from '../agent/durable-agent.ts';
import { openStream, type RunStream } from '../agent/run-stream.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { JsonObject } from '../json.ts';
import type { MessageContent } from '../messages/content-part.ts';
import type { LogPosition } from './feed/live-source.ts';
import type { ResumeSessionOptions } from './session-options.ts';
import type { SessionRuntime } from './session-runtime.ts';
import type { Session } from './session.ts';

/** What a stream of a session starts: a message, or a resume. */
export type SessionStreamInput =
  | MessageContent
  | (Omit<ResumeSessionOptions, 'owner' | 'wait'> & { readonly resume: true });

export type AgentLookup = (name: string) => DurableAgent | undefined;

/** Where to read: an execution, or from a position on. Null where the session does nothing. */
interface Started {
  readonly executionId?: string;
  readonly after?: LogPosition;
}

/** The work of a session as a stream: reads the one feed, so another process may do the work. */
export function streamSession(
  runtime: SessionRuntime,
  id: string,
  owner: string,
  agentNamed: AgentLookup,
  input: SessionStreamInput | undefined,
  guarded: <T>(work: () => Promise<T>) => Promise<T>,
): RunStream<unknown, never, Session> {
  let agent: DurableAgent | undefined;
  const begun = new Map<string, JsonObject>();
  const start = async (): Promise<Started | null> => {
    const before = await runtime.get(id, { owner });
    agent = agentNamed(before.agent);
    if (before.status === 'paused') {
      const { unfinishedStep } = await runtime.state(id, { owner });
      for (const call of unfinishedStep?.toolCalls ?? []) begun.set(call.id, call.args);
    }
    if (input === undefined && before.phase !== 'open') return null;
    const { executionId, seq } = await runtime.events(id, { owner, limit: 1 });
    const newest = executionId === null ? {} : { after: { executionId, seq } };
    if (input === undefined)
      // accepted, and not begun: the newest execution in the log is over
      return before.status === 'in_progress' && executionId !== null ? { executionId } : newest;
    if (typeof input === 'string' || !('resume' in input)) {
      const sent = await runtime.send(id, input, { owner });
      return sent.executionId === null ? newest : { executionId: sent.executionId };
    }
    const { resume: _starts, ...given } = input;
    await runtime.resume(id, { ...given, owner });
    return newest;
  };
  return openStream({
    stopsWhenLeft: false,
    format: () => agent?.responseSchema ?? null,
    argsOf(callId) {
      const args = begun.get(callId);
      return args && agent ? agent.redactor.value(args) : null;
    },
    start: (notify) =>
      guarded(async () => {
        const started = await start();
        return started === null
          ? runtime.wait(id, { owner })
          : followRun(runtime, id, owner, started, notify);
      }),
  });
}

/** Reads the feed until the session has ended or paused its work, and all of the log was read. */
async function followRun(
  runtime: SessionRuntime,
  id: string,
  owner: string,
  started: Started,
  notify: (event: AgentEvent) => void,
): Promise<Session> {
  const leave = new AbortController();
  let read: LogPosition | null = started.after ?? null;
  /** The end of the log, once the work has ended. A feed of one execution ends by itself where another has begun. */
  let end: LogPosition | null = null;
  const isRead = (): boolean =>
    end !== null && read?.executionId === end.executionId && read.seq >= end.seq;
  const follow = async (): Promise<void> => {
    const feed = runtime.follow(id, { owner, signal: leave.signal, ...started });
    for await (const { event, seq } of feed) {
      if (event.type !== 'gap') notify(event);
      if (seq !== null) read = { executionId: event.executionId, seq };
      if (isRead()) return;
    }
  };
  const following = follow();
  following.catch(() => {}); // awaited below, unless the wait fails first
  try {
    const session = await runtime.wait(id, { owner });
    const { executionId, seq } = await runtime.events(id, { owner, limit: 1 });
    end = executionId === null ? null : { executionId, seq };
    if (end === null || isRead()) leave.abort();
    await following;
    return session;
  } finally {
    leave.abort();
  }
}
