import { isRecord, toJsonValue, utf8Bytes, type JsonObject } from '../json.ts';
import type { InputAnswer, InputQuestion } from '../tools/input-request.ts';
import type { ToolContext } from '../tools/tool.ts';
import type { ToolProgress } from '../tools/tool-progress.ts';
import { AuthorizationNeeded, authorizationQuestion } from './authorization.ts';
import { callValue, errorText } from './call-result.ts';
import { effectUnknown, mcpFailure } from './mcp-failure.ts';
import { inputStateText, readInputState, type InputState } from './input-state.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { McpServer } from './mcp-options.ts';
import type { OpenCall } from './open-calls.ts';
import { questionKey, serverQuestion } from './server-question.ts';
import { rest } from './waiting.ts';

/** A tool of a server, and how to reach it. */
export interface CallTarget {
  readonly server: McpServer;
  readonly connection: McpConnection;
  /** Name on the server. */
  readonly tool: string;
  readonly definition: JsonObject;
  readonly isRepeatable: boolean;
  /** Milliseconds for which a server may hold a call while the user is asked. */
  readonly holdMs: number;
}

type Result = Readonly<Record<string, unknown>>;
type TraceHeaders = NonNullable<ToolContext['traceHeaders']>;

/** Answers that a call is sent with. */
interface Round {
  readonly inputResponses?: Readonly<Record<string, InputAnswer>>;
  readonly requestState?: string;
}

/** Our timeout ends a call, not that of the client package. */
const MAX_TIMEOUT = 2_147_483_647;
const MAX_QUESTIONS = 16;
const MAX_KEY = 200;
const MAX_STATE_BYTES = 65_536;
/** Times that a server may ask to be called again without a question, and the wait before each. */
const MAX_EMPTY_ROUNDS = 8;
const EMPTY_ROUND_MS = 250;
/** Code of a server of the older generation that asks for a visit to a URL. */
const URL_NEEDED = -32_042;

/** Calls a tool, or continues a call whose questions are answered. Returns its value, or the questions to ask. */
export async function callServer(
  target: CallTarget,
  args: unknown,
  context: ToolContext,
): Promise<unknown> {
  const { input } = context;
  const earlier = input ? readInputState(input.state) : null;
  if (input && !earlier)
    throw mcpFailure('input_required', `${whatOf(target)} cannot be continued by this version.`);
  const answers = new Map(Object.entries(input?.answers ?? {}));
  const call = begun(target, args, earlier, answers, context.traceHeaders ?? {});
  let turn;
  try {
    turn = await call.next(context.signal, context.progress);
  } catch (error) {
    return asked(target, context, error);
  }
  if ('result' in turn) return finished(target, context, turn.result);
  const questions: Record<string, InputQuestion> = Object.create(null) as Record<string, never>;
  for (const { key, params } of turn.asked) {
    const question = serverQuestion(target.server, params);
    if (typeof question === 'string') call.answer(key, { action: 'cancel' });
    else questions[key] = question;
  }
  const keys = Object.keys(questions);
  if (keys.length === 0) return finished(target, context, await lastResult(call, context));
  target.connection.calls.hold(call, target.holdMs);
  return context.requestInput(questions, {
    state: inputStateText({ kind: 'held', id: call.id, keys }),
  });
}

const whatOf = ({ tool, server }: CallTarget): string => `"${tool}" of ${server.name}`;

/** Starts or continues the call on the connection. */
function begun(
  target: CallTarget,
  args: unknown,
  earlier: InputState | null,
  answers: ReadonlyMap<string, InputAnswer>,
  trace: TraceHeaders,
): OpenCall {
  const { calls } = target.connection;
  if (earlier?.kind !== 'held')
    return calls.start(sender(target, args, roundOf(target, earlier, answers), trace), new Map());
  const held = calls.take(earlier.id);
  if (held) {
    for (const key of earlier.keys) held.answer(key, answers.get(key) ?? { action: 'cancel' });
    return held;
  }
  if (!target.isRepeatable)
    throw effectUnknown(
      whatOf(target),
      'it waited for the user on a connection that is gone, in this process or another',
    );
  return calls.start(sender(target, args, {}, trace), answers);
}

/** What the call is sent with, after the answers of the user. */
function roundOf(
  { server }: CallTarget,
  earlier: InputState | null,
  answers: ReadonlyMap<string, InputAnswer>,
): Round {
  if (earlier?.kind === 'again') {
    if (earlier.keys.some((key) => answers.get(key)?.action !== 'accept'))
      throw mcpFailure('mcp_unauthorized', `The user did not open the address of ${server.name}.`);
    return {};
  }
  if (earlier?.kind !== 'sent') return {};
  const { keys, requestState } = earlier;
  const inputResponses = Object.fromEntries(
    Object.entries(keys).map(([key, theirs]) => [theirs, answers.get(key) ?? cancelled]),
  );
  return { inputResponses, ...(requestState !== null && { requestState }) };
}

const cancelled: InputAnswer = { action: 'cancel' };

/** Sends the call, and again while the server asks for that without a question. */
function sender(
  target: CallTarget,
  args: unknown,
  first: Round,
  trace: TraceHeaders,
): Parameters<Calls['start']>[0] {
  const { connection, tool, definition, isRepeatable } = target;
  const call = {
    name: tool,
    arguments: toJsonValue(args) as JsonObject,
    // the protocol has these names for trace context
    ...(Object.keys(trace).length > 0 && { _meta: { ...trace } }),
  };
  return async ({ signal, progress }) => {
    let round = first;
    for (let rounds = 1; ; rounds++) {
      const result: Result = await connection.request(
        (client) =>
          client.callTool(
            { ...call, ...round },
            {
              signal,
              timeout: MAX_TIMEOUT,
              allowInputRequired: true,
              toolDefinition: definition as never, // the part that the package reads
              onprogress: (report) => progress(connection.value(report) as ToolProgress),
            },
          ),
        { signal, isRepeatable, what: whatOf(target) },
      );
      const { resultType, inputRequests, requestState } = result;
      const isEmpty = !isRecord(inputRequests) || Object.keys(inputRequests).length === 0;
      if (resultType !== 'input_required' || !isEmpty || typeof requestState !== 'string')
        return result;
      if (rounds > MAX_EMPTY_ROUNDS)
        throw cannotAsk(target, 'it asks to be called again without end');
      await rest(EMPTY_ROUND_MS, signal);
      round = { requestState };
    }
  };
}

type Calls = McpConnection['calls'];

async function lastResult(call: OpenCall, { signal, progress }: ToolContext): Promise<Result> {
  const turn = await call.next(signal, progress);
  if ('result' in turn) return turn.result;
  throw mcpFailure('input_required', 'The server asks again what cannot be shown.');
}

/** Reads the result: the value of the tool, or questions with which the call continues in any process. */
function finished(target: CallTarget, context: ToolContext, raw: Result): unknown {
  const { connection, server } = target;
  const result = connection.value(raw);
  if (result['resultType'] !== 'input_required') {
    if (result['isError'] === true) throw mcpFailure('mcp_tool_error', errorText(result));
    return callValue(result);
  }
  const { requestState } = raw;
  if (typeof requestState === 'string') checkState(target, requestState, result['requestState']);
  const { inputRequests } = result;
  const requests = isRecord(inputRequests) ? Object.entries(inputRequests) : [];
  if (requests.length === 0 || requests.length > MAX_QUESTIONS)
    throw cannotAsk(target, `it asks ${requests.length} questions`);
  const questions: Record<string, InputQuestion> = Object.create(null) as Record<string, never>;
  const keys: Record<string, string> = {};
  for (const [i, [theirs, request]] of requests.entries()) {
    const { method, params } = isRecord(request) ? request : {};
    const question =
      theirs.length > MAX_KEY
        ? 'its key is too long'
        : method === 'elicitation/create'
          ? serverQuestion(server, params)
          : `it is a request of the kind ${JSON.stringify(String(method).slice(0, 80))}`;
    if (typeof question === 'string') throw cannotAsk(target, question);
    const key = /^[\w-]{1,64}$/.test(theirs) && theirs !== '__proto__' ? theirs : `question_${i}`;
    if (Object.hasOwn(keys, key)) throw cannotAsk(target, 'two of its questions have the same key');
    keys[key] = theirs;
    questions[key] = question;
  }
  const state = typeof requestState === 'string' ? requestState : null;
  return context.requestInput(questions, {
    state: inputStateText({ kind: 'sent', keys, requestState: state }),
  });
}

/** The state is stored and sent back as it came, so it must be small, and without credentials. */
function checkState(target: CallTarget, state: string, hidden: unknown): void {
  const bytes = state.length > MAX_STATE_BYTES ? state.length : utf8Bytes(state);
  if (bytes > MAX_STATE_BYTES)
    throw cannotAsk(target, `its state has more than ${MAX_STATE_BYTES} bytes`);
  if (hidden !== state)
    throw cannotAsk(target, 'its state contains the credentials, which are never stored');
}

/** Turns an error that sends the user to an address into a question. */
function asked(target: CallTarget, context: ToolContext, error: unknown): unknown {
  const { server } = target;
  const asAgain = (questions: Record<string, InputQuestion>): unknown =>
    context.requestInput(questions, {
      state: inputStateText({ kind: 'again', keys: Object.keys(questions) }),
    });
  if (error instanceof AuthorizationNeeded)
    return asAgain({ authorize: authorizationQuestion(server, error.url) });
  const cause = isRecord(error) ? error['cause'] : undefined;
  if (!isRecord(cause) || cause['code'] !== URL_NEEDED) throw error;
  const data = isRecord(cause['data']) ? cause['data'] : {};
  const wanted: readonly unknown[] = Array.isArray(data['elicitations'])
    ? data['elicitations'].slice(0, MAX_QUESTIONS)
    : [];
  const questions: Record<string, InputQuestion> = {};
  for (const params of wanted) {
    const question = serverQuestion(server, target.connection.value(params));
    if (typeof question === 'string') throw cannotAsk(target, question);
    questions[questionKey(params)] = question;
  }
  if (Object.keys(questions).length === 0) throw error;
  return asAgain(questions);
}

const cannotAsk = (target: CallTarget, why: string): Error =>
  mcpFailure(
    'input_required',
    `${whatOf(target)} needs input from the user that cannot be asked for: ${why}. The call did not finish.`,
  );
