import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
} from '@modelcontextprotocol/server';
import { isRecord } from '../../json.ts';
import { failedCall } from './agent-result.ts';
import type { AgentTool } from './agent-tools.ts';
import type { AgentCall, AgentCaller, CallEnd, GivenAnswers } from './call-agent.ts';
import type { Report } from './call-progress.ts';
import { readState, stateText, type CanAsk, type Elicitation } from './session-questions.ts';

/** A `tools/call` as it came. */
export interface Wire {
  readonly mcp: Pick<typeof import('@modelcontextprotocol/server'), 'inputRequired'>;
  readonly owner: string;
  readonly args: unknown;
  readonly context: ServerContext;
  /** What the client says it can do; undefined if it has not said. */
  readonly declared: unknown;
  readonly era: 'legacy' | 'modern';
  readonly isHttp: boolean;
}

/** Milliseconds in which the user of an older client answers a question, before it stays open. */
const ANSWER_MS = 600_000;
const CLOSED = 'CONNECTION_CLOSED';

/**
 * Answers a call. A client of the newer generation gets questions as its result, and calls again with the answers; an older
 * one is asked in the middle of the call.
 */
export async function answerCall(
  caller: AgentCaller,
  tool: AgentTool,
  wire: Wire,
  isServerClosed: () => boolean,
): Promise<CallToolResult | InputRequiredResult> {
  const { mcp, owner, args, context, era } = wire;
  const { mcpReq } = context;
  const report = reporter(context);
  const call: AgentCall = {
    tool,
    owner,
    args,
    can: canAsk(wire),
    signal: mcpReq.signal,
    end: () => (isServerClosed() ? 'gone' : endOf(wire)),
    ...(report && { report }),
  };
  const sent: unknown = mcpReq.requestState();
  const state = sent === undefined ? null : readState(sent);
  if (sent !== undefined && !state)
    return resultFor(
      failedCall('The requestState is not one of this server. Call the agent again.'),
    );
  let given: GivenAnswers | null = state && { state, responses: mcpReq.inputResponses };
  for (;;) {
    const turn = await caller.turn(call, given);
    if ('result' in turn) return resultFor(turn.result);
    const asked = Object.entries(turn.questions).map(
      ([key, { elicitation }]) => [key, elicitation] as const,
    );
    if (era === 'modern')
      return mcp.inputRequired({
        inputRequests: Object.fromEntries(asked.map(([key, one]) => [key, requestOf(wire, one)])),
        requestState: stateText(turn.state),
      });
    const responses: Record<string, unknown> = {};
    for (const [key, one] of asked) responses[key] = await push(context, one);
    given = { state: turn.state, responses };
  }
}

const resultFor = (result: ReturnType<typeof failedCall>): CallToolResult => ({
  ...result,
  content: [...result.content],
});

/** A connection that ends without a word: over HTTP, a client of the newer generation cancels that way. */
const endOf = ({ context, era, isHttp }: Wire): CallEnd => {
  const reason: unknown = context.mcpReq.signal.reason;
  const isClosed = isRecord(reason) && reason['code'] === CLOSED;
  return isClosed && !(isHttp && era === 'modern') ? 'gone' : 'cancelled';
};

/** What the client can ask. Older clients have only forms, and say so with an empty object. */
function canAsk({ declared }: Wire): CanAsk {
  const elicitation = isRecord(declared) ? declared['elicitation'] : undefined;
  if (!isRecord(elicitation)) return { form: false, url: false };
  const { form, url } = elicitation;
  return { form: form !== undefined || url === undefined, url: url !== undefined };
}

function requestOf({ mcp }: Wire, one: Elicitation) {
  const { message } = one;
  if (one.url !== undefined) return mcp.inputRequired.elicitUrl({ message, url: one.url });
  return mcp.inputRequired.elicit({ message, requestedSchema: one.requestedSchema as never }); // a flat form
}

/** Asks an older client. Without an answer the question stays open. */
async function push({ mcpReq }: ServerContext, one: Elicitation): Promise<unknown> {
  const { message } = one;
  const params =
    one.url === undefined
      ? { message, requestedSchema: one.requestedSchema }
      : { mode: 'url', message, url: one.url, elicitationId: one.id };
  const { signal } = mcpReq;
  try {
    return await mcpReq.send(
      { method: 'elicitation/create', params },
      { signal, timeout: ANSWER_MS },
    );
  } catch {
    return { action: 'cancel' };
  }
}

/** Sends progress to a client that wants it. */
function reporter({ mcpReq }: ServerContext): Report | null {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return null;
  return (progress) => {
    const params = { progressToken, ...progress };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {}); // the result counts
  };
}
