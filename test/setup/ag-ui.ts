import { HttpAgent, type AgentSubscriber, type BaseEvent, type Interrupt } from '@ag-ui/client';
import type { AnyAgent, SessionRuntime } from 'onward';
import { agUiServer, type AgUiServerOptions } from 'onward/ag-ui';
import { agentServer, type AgentServer } from 'onward/server';
import { serve } from 'onward/server/node';
import { expect, onTestFinished } from 'vitest';
import { runtimeOn, sqlitePlace, type Place } from './sessions.ts';

const tokens: Readonly<Record<string, string>> = { 'token-a': 'ann', 'token-b': 'bob' };

/** An event as the client has checked it. */
export type SeenEvent = BaseEvent;

/** How a run ended for the client. */
export interface Seen {
  readonly events: readonly SeenEvent[];
  readonly types: readonly string[];
  /** What the client threw; null if it did not. */
  readonly error: Error | null;
}

export interface AgUiSetup {
  readonly runtime: SessionRuntime;
  readonly server: AgentServer;
  readonly url: string;
  readonly errors: unknown[];
  agent(threadId: string, owner?: 'a' | 'b'): HttpAgent;
  post(body: unknown, headers?: Record<string, string>, query?: string): Promise<Response>;
}

/** Our HTTP server on a port, with agents behind `POST /api/ag-ui`. Each call is another process on the same rows. */
export async function agUiOverHttp(
  agents: AnyAgent | readonly AnyAgent[],
  { place = sqlitePlace(), ...options }: Partial<AgUiServerOptions> & { place?: Place } = {},
): Promise<AgUiSetup> {
  const runtime = runtimeOn(place.open(), agents);
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const server = agentServer({
    runtime,
    owner: ({ headers }) => tokens[headers.get('authorization')?.slice(7) ?? ''] ?? null,
    rateLimit: null,
    agUi: agUiServer({ runtime, onError, includeReasoning: true, pollMs: 50, ...options }),
    onError,
  });
  const running = await serve({ fetch: server, port: 0 });
  onTestFinished(async () => {
    await server.close();
    await running.close({ graceMs: 0 });
    expect(errors.splice(0)).toEqual([]);
  });
  const url = `${running.url}/api/ag-ui`;
  const headersOf = (owner: 'a' | 'b') => ({ authorization: `Bearer token-${owner}` });
  return {
    runtime,
    server,
    url,
    errors,
    agent: (threadId, owner = 'a') => new HttpAgent({ url, threadId, headers: headersOf(owner) }),
    post: (body, headers = {}, query = '') =>
      fetch(`${url}${query}`, {
        method: 'POST',
        headers: { ...headersOf('a'), 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  };
}

type Resume = NonNullable<NonNullable<Parameters<HttpAgent['runAgent']>[0]>['resume']>;

const handled: object = { stopPropagation: true };

/** Runs the client's agent and collects the events that it accepted. */
export async function run(
  agent: HttpAgent,
  resume?: Resume,
  subscriber: AgentSubscriber = {},
): Promise<Seen> {
  const events: SeenEvent[] = [];
  let error: Error | null = null;
  const running = agent.runAgent(resume ? { resume } : {}, {
    ...subscriber,
    onEvent: (one) => {
      events.push(one.event);
      return subscriber.onEvent?.(one);
    },
    onRunFailed: (failed) => {
      error = failed.error;
      // otherwise the client also prints it
      return handled;
    },
  });
  await running.catch((thrown: Error) => {
    error = thrown;
  });
  return { events, types: events.map(({ type }) => type), error };
}

/** Adds a user message and runs. */
export function ask(
  agent: HttpAgent,
  content: string,
  id: string = `message-${content}`,
): Promise<Seen> {
  agent.addMessage({ id: id.replaceAll(/\W/g, '-'), role: 'user', content });
  return run(agent);
}

/** Answers the interrupts of the client in order. */
export const answer = (
  agent: HttpAgent,
  ...payloads: readonly (object | 'cancelled' | undefined)[]
): Promise<Seen> =>
  run(
    agent,
    agent.pendingInterrupts.map(({ id }: Interrupt, i) => {
      const payload = payloads[i];
      return payload === 'cancelled'
        ? { interruptId: id, status: 'cancelled' }
        : { interruptId: id, status: 'resolved', payload };
    }),
  );

export const ofType = (seen: Seen, type: string): SeenEvent[] =>
  seen.events.filter((_event, i) => seen.types[i] === type);

/** The conversation as the client has it: role, text and calls. */
export const shown = (agent: HttpAgent): readonly unknown[] =>
  agent.messages.map((message) => [
    message.role,
    message.content ?? '',
    ...('toolCalls' in message
      ? (message.toolCalls ?? []).map(({ function: { name, arguments: args } }) => [name, args])
      : []),
  ]);
