import type { DurableAgent } from '../agent/durable-agent.ts';
import { openStream, type RunStream } from '../agent/run-stream.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { JsonObject } from '../json.ts';
import type { MessageContent } from '../messages/content-part.ts';
import type { LogPosition } from './feed/live-source.ts';
import type { ResumeSessionOptions, SendOptions } from './session-options.ts';
import type { SessionRuntime } from './session-runtime.ts';
import type { Session } from './session.ts';

/** Options of a streamed message, as for `send`. */
export type SessionStreamOptions = Omit<SendOptions, 'owner' | 'wait'>;

/** Resumes and streams, with the options of `resume`. */
export interface SessionStreamResume extends Omit<ResumeSessionOptions, 'owner' | 'wait'> {
  readonly resume: true;
}

export type AgentLookup = (name: string) => DurableAgent | undefined;

/** What to read: an execution, or the log from a position on. */
interface Started {
  readonly executionId?: string;
  readonly after?: LogPosition;
}

/** Streams the work of a session. Reads the session's feed, so another process may do the work. */
export function streamSession(
  runtime: SessionRuntime,
  id: string,
  owner: string,
  agentNamed: AgentLookup,
  {
    input,
    given,
  }: {
    readonly input: MessageContent | SessionStreamResume | undefined;
    readonly given: SessionStreamOptions | undefined;
  },
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
      // accepted but not begun: the newest execution in the log is over
      return before.status === 'in_progress' && executionId !== null ? { executionId } : newest;
    if (typeof input === 'string' || !('resume' in input)) {
      const sent = await runtime.send(id, input, { ...given, owner });
      return sent.executionId === null ? newest : { executionId: sent.executionId };
    }
    const { resume: _starts, ...resumed } = input;
    await runtime.resume(id, { ...resumed, owner });
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

/** Reads the feed until the execution, or the session, has ended or paused and all of the log was read. */
async function followRun(
  runtime: SessionRuntime,
  id: string,
  owner: string,
  started: Started,
  notify: (event: AgentEvent) => void,
): Promise<Session> {
  const leave = new AbortController();
  let read: LogPosition | null = started.after ?? null;
  /** The end of the log, once the work has ended. A feed of one execution ends by itself when another begins. */
  let end: LogPosition | null = null;
  const isRead = (): boolean =>
    end !== null && read?.executionId === end.executionId && read.seq >= end.seq;
  const follow = async (): Promise<void> => {
    const feed = runtime.follow(id, { owner, signal: leave.signal, ...started });
    for await (const { event, seq } of feed) {
      if (event.type !== 'gap' && event.type !== 'worker') notify(event);
      if (seq !== null) read = { executionId: event.executionId, seq };
      if (isRead()) return;
    }
  };
  const following = follow();
  following.catch(() => {}); // awaited below, unless the wait fails first
  const wanted = started.executionId === undefined ? {} : { executionId: started.executionId };
  try {
    const session = await runtime.wait(id, { owner, ...wanted });
    const { executionId, seq } = await runtime.events(id, { owner, limit: 1 });
    end = executionId === null ? null : { executionId, seq };
    const isLast = started.executionId === undefined || started.executionId === executionId;
    // if a later execution exists, one without a log was dropped before it began, or pruned
    const isOver = isLast
      ? end === null || isRead()
      : (await runtime.events(id, { owner, ...wanted, limit: 1 })).seq === 0;
    if (isOver) leave.abort();
    await following;
    return session;
  } finally {
    leave.abort();
  }
}
