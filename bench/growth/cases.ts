import { FoundCallDeltas } from '../../src/agent/found-call.ts';
import { searchTerms } from '../../src/capabilities/search-terms.ts';
import { toolCatalog } from '../../src/capabilities/tool-catalog.ts';
import { ToolIndex } from '../../src/capabilities/tool-index.ts';
import { readMarkdown } from '../../src/console/chat/markdown-tree.ts';
import { makeRedactor } from '../../src/errors/make-redactor.ts';
import { logText } from '../../src/errors/log-text.ts';
import { RedactedDeltas } from '../../src/events/redacted-deltas.ts';
import { UiMessageEncoder } from '../../src/broadcasting/use-chat/use-chat-encoder.ts';
import { decodeFrame, refusalOf } from '../../src/bus/bus-frame.ts';
import { fitText, splitText } from '../../src/broadcasting/frame-budget.ts';
import { jsonText as wireText } from '../../src/broadcasting/wire-text.ts';
import { LeakFilter, isCallLeak, looksLikeToolCall } from '../../src/inference/content-guard.ts';
import { AiSdkAnswer } from '../../src/inference/drivers/ai-sdk-answer.ts';
import { ThinkFilter } from '../../src/inference/drivers/think-filter.ts';
import { ToolCallAssembler } from '../../src/inference/drivers/tool-call-assembler.ts';
import { readErrorBody } from '../../src/inference/drivers/error-body.ts';
import { retryAfterMs, waitOf } from '../../src/inference/drivers/retry-after.ts';
import { SseReader } from '../../src/inference/drivers/sse.ts';
import { ChatAnswer } from '../../src/inference/drivers/chat-answer.ts';
import type { InferenceChunk } from '../../src/inference/inference-driver.ts';
import { canonicalJson, parsePartialJson, withoutFence } from '../../src/json.ts';
import { truncateText } from '../../src/serialization/truncate-text.ts';
import { titleOf } from '../../src/sessions/session-title.ts';
import { compileSchema as compile } from '../../src/tools/json-schema/compile-schema.ts';
import { formats } from '../../src/tools/json-schema/formats.ts';
import { textRules } from '../../src/tools/json-schema/text-rules.ts';
import { mockTool } from '../../src/testing/mock-tool.ts';
import type { AnyTool } from '../../src/tools/tool.ts';
import { newUiState, reduceEnvelope } from '../../src/ui/index.ts';
import { sseParser } from '../../src/ui/sources/sse-parser.ts';
import { visibleJson, visibleLines, visibleName, visibleText } from '../../src/visible-text.ts';
import { recordCases } from './record-cases.ts';
import { hostileTexts, pieces, type TextOf } from './texts.ts';

/** One function that reads text of others, and what is worst for it. */
export interface GrowthCase {
  readonly name: string;
  /** What it is given for so many characters, made outside of the measured time. */
  readonly input: (size: number) => unknown;
  /** What it returns is awaited. */
  readonly run: (input: never) => unknown;
}

type Reader = (text: string) => unknown;
type Stream = (pieces: readonly string[]) => unknown;

const compileSchema = (schema: unknown) => compile(schema, textRules);
const redactor = makeRedactor();
const now = '2026-11-17T12:00:00.000Z';
const head = {
  version: 1,
  session_id: 's',
  execution_id: 'e',
  agent_id: 'a',
  seq: null,
  prev: null,
  timestamp: now,
} as const;

function streamed(text: readonly string[]): unknown {
  let state = newUiState();
  for (const [index, content] of text.entries()) {
    const payload = {
      message_id: 'm',
      step: 1,
      attempt: 1,
      chunk_index: index,
      content,
      is_complete: false,
    };
    state = reduceEnvelope(state, {
      ...head,
      type: 'agent.stream.chunk',
      payload,
    } as never);
  }
  return state.messages.at(-1)?.content.length;
}

function deltas(text: readonly string[]): unknown {
  let state = newUiState();
  for (const [index, args_delta] of ['{', ...text].entries()) {
    const timestamp = new Date(Date.parse(now) + index).toISOString();
    const payload = { tool_call_id: 'c', args_delta };
    state = reduceEnvelope(state, {
      ...head,
      timestamp,
      type: 'agent.tool.delta',
      payload,
    } as never);
  }
  return state.messages.length;
}

function chatEncoded(text: readonly string[]): unknown {
  const encoder = new UiMessageEncoder();
  const event = { executionId: 'e', agentId: 'a', parentAgentId: null, at: now };
  let count = 0;
  for (const [index, content] of text.entries()) {
    const chunk = {
      ...event,
      type: 'StreamChunk',
      messageId: 'm',
      stepNumber: 1,
      attempt: 1,
      content,
      index,
    };
    count += encoder.push(chunk as never).length;
    const delta = {
      ...event,
      type: 'ToolCallDelta',
      toolCallId: 'c',
      tool: 't',
      argsDelta: content,
    };
    count += encoder.push(delta as never).length;
  }
  return count;
}

/** Each argument piece with its name again, and without an id, as some providers send them. */
function grownCalls(text: readonly string[]): unknown {
  const calls = new ToolCallAssembler();
  const out: InferenceChunk[] = [];
  for (const args of text) calls.read([{ function: { name: 't', arguments: args } }], out);
  return calls.list(false).length;
}

const bytes = new TextEncoder();
const origin = { status: 200, headers: {}, server: 'https://x', now: 0 };
const fed = (
  reader: { feed(bytes: Uint8Array): unknown; end(): unknown },
  all: readonly string[],
): unknown => {
  for (const piece of all) reader.feed(bytes.encode(piece));
  return reader.end();
};

/** Functions that are given a whole text. */
const readers: Readonly<Record<string, Reader>> = {
  'redactor.text': (text) => redactor.text(text),
  'redactor.value': (text) => redactor.value({ note: text, [text.slice(0, 50_000)]: 1 }),
  isCallLeak: (text) => isCallLeak(text, [{ name: 't', args: {}, argsRaw: text }]),
  looksLikeToolCall: (text) => looksLikeToolCall(text, new Set(['t'])),
  withoutFence,
  parsePartialJson,
  canonicalJson: (text) => canonicalJson({ a: text, list: pieces(text.slice(0, 10_000), 1) }),
  visibleText,
  visibleLines,
  visibleName,
  visibleJson,
  logText,
  titleOf: (text) => titleOf([{ role: 'user', content: text }], redactor),
  truncateText: (text) => truncateText(text, text.length - 2),
  fitText: (text) => fitText(text, text.length / 2),
  splitText: (text) => splitText(text, 1_000),
  wireText: (text) => wireText({ a: [text] }, text.length * 2),
  searchTerms,
  decodeFrame: (text) => decodeFrame(`1${'0'.repeat(12)}${text}`),
  refusalOf: (text) => refusalOf(text, text.length * 4),
  readErrorBody: (text) => readErrorBody(undefined, text),
  retryAfterMs: (text) => retryAfterMs({ 'retry-after': text }, {}, text, 0, true),
  waitOf: (text) => waitOf(text, 0),
  readMarkdown: (text) => readMarkdown(text.slice(0, 100_000)),
  'readMarkdown, streaming': (text) => readMarkdown(text.slice(0, 100_000), true),
};

/** Functions that are given a text in pieces. */
const streams: Readonly<Record<string, Stream>> = {
  'LeakFilter, by delta': (all) => {
    const hold = new LeakFilter();
    let shown = 0;
    for (const piece of all) shown += hold.push(piece).length;
    return shown + hold.release().length;
  },
  'redactor.stream, by delta': (all) => {
    const stream = redactor.stream?.();
    let shown = 0;
    for (const piece of all) shown += stream?.push(piece).length ?? 0;
    return shown + (stream?.end().length ?? 0);
  },
  'RedactedDeltas, by delta': (all) => {
    const stream = new RedactedDeltas(redactor);
    let shown = 0;
    for (const piece of ['{"a":"', ...all]) shown += stream.push(piece).length;
    return shown;
  },
  'ThinkFilter, by delta': (all) => {
    const filter = new ThinkFilter();
    let given = filter.push('<think>').length;
    for (const piece of all) given += filter.push(piece).length + filter.takeThought().length;
    return given + filter.end().length;
  },
  'reduceEnvelope, by chunk': streamed,
  'reduceEnvelope, by argument delta': deltas,
  'UiMessageEncoder, by delta': chatEncoded,
  'ToolCallAssembler, by delta': grownCalls,
  'FoundCallDeltas, by delta': (all) => {
    const deltas = new FoundCallDeltas({
      found: { callTool: 'call_tool', callable: new Set(['t']) },
    } as never);
    let given = 0;
    for (const piece of ['{"name":"t","arguments":{', ...all])
      given += deltas.push(piece)?.argsDelta.length ?? 0;
    return given;
  },
  'SseReader, by read': (all) => fed(new SseReader(), all),
  'ChatAnswer, by read': (all) => fed(new ChatAnswer(origin), all),
  'sseParser, by read': (all) => {
    let count = 0;
    const parser = sseParser(() => (count += 1));
    for (const piece of all) parser.feed(piece);
    return count;
  },
};

/** Those that only join what comes: a few texts say as much as all. */
const joining: ReadonlySet<Stream> = new Set([streamed, deltas, chatEncoded]);
const fewTexts: ReadonlySet<string> = new Set(['prose', 'blanks', 'open JSON', 'nested JSON']);

const manyTools = (size: number): readonly AnyTool[] =>
  Array.from({ length: size / 40 }, (_, i) => ({
    ...mockTool('tool', null),
    name: `tool_${i}`,
    description: `Words of a tool, word${i}`,
  }));

/** Values that are not one text. */
const values: readonly GrowthCase[] = [
  {
    name: 'JSON Schema uniqueItems: objects',
    input: (size) => Array.from({ length: size / 10 }, (_, i) => ({ id: i })),
    run: compileSchema({ uniqueItems: true }),
  },
  {
    name: 'JSON Schema: everything wrong',
    input: (size) => ({ ['k'.repeat(size / 2)]: Array.from({ length: size / 4 }, (_, i) => i) }),
    run: compileSchema({ additionalProperties: { items: { type: 'string' } } }),
  },
  {
    name: 'JSON Schema: many keys',
    input: (size) =>
      Object.fromEntries(Array.from({ length: size / 10 }, (_, i) => [`key${i}`, i])),
    run: compileSchema({
      patternProperties: { 'y+1$': true },
      propertyNames: { maxLength: 20 },
      unevaluatedProperties: { type: 'number' },
    }),
  },
  {
    name: 'ToolIndex: many tools with the same words',
    input: (size) => manyTools(size),
    run: (tools: readonly AnyTool[]) =>
      new ToolIndex(tools).search('wo do tool wordy number 7', () => true).length,
  },
  {
    name: 'toolCatalog: many tools',
    input: (size) => manyTools(size),
    run: (tools: readonly AnyTool[]) => toolCatalog(tools, 20_000).length,
  },
  {
    name: 'ToolCallAssembler: many calls',
    input: (size) => Array.from({ length: size / 20 }, (_, i) => `call${i}`),
    run: (ids: readonly string[]) => {
      const calls = new ToolCallAssembler();
      for (const id of ids) calls.read([{ id, function: { name: 't', arguments: '{}' } }], []);
      return calls.length;
    },
  },
  {
    name: 'AiSdkAnswer: many calls and texts',
    input: (size) => Array.from({ length: size / 20 }, (_, i) => `id${i}`),
    run: (ids: readonly string[]) => {
      const answer = new AiSdkAnswer('test');
      for (const id of ids) {
        answer.read({ type: 'text-delta', id, delta: 'a' });
        answer.read({ type: 'tool-input-start', id, toolName: 't' });
      }
      for (const id of ids) {
        answer.read({ type: 'text-delta', id, delta: 'b' });
        answer.read({ type: 'tool-input-delta', id, delta: '{}' });
        answer.read({ type: 'tool-call', toolCallId: id, toolName: 't', input: '{}' });
      }
      return answer.response().content.length;
    },
  },
];

/** What formats stumble over. */
const formatTexts: readonly TextOf[] = [
  (size) => `http://${'a'.repeat(size)}`,
  (size) => `http://a.${'a-'.repeat(size / 2)}`,
  (size) => `http://${'a:'.repeat(size / 2)}@`,
  (size) => `http://${'\u{fc}'.repeat(size)}`,
  (size) => `${'a.'.repeat(size / 2)}@`,
  (size) => `P${'1'.repeat(size)}`,
  (size) => `12:00:00.${'1'.repeat(size)}`,
  (size) => '/a~1'.repeat(size / 4),
  (size) => `{${'a,'.repeat(size / 2)}`,
  (size) => '{a}'.repeat(size / 3),
  (size) => '%20'.repeat(size / 3),
  (size) => '('.repeat(size),
  (size) => `0${'#'.repeat(size)}`,
  (size) => ':'.repeat(size),
];

const patterns = ['^(a+)+$', '(a|a)*b', '(?=.*x)a*c', String.raw`\s+$`, '(?:a:|:a)*!'];

/** Every function with every text. */
export const cases: readonly GrowthCase[] = [
  ...Object.entries(readers).flatMap(([name, run]) =>
    Object.entries(hostileTexts).map(([kind, input]) => ({ name: `${name}: ${kind}`, input, run })),
  ),
  ...Object.entries(streams).flatMap(([name, run]) =>
    Object.entries(hostileTexts)
      .filter(([kind]) => !joining.has(run) || fewTexts.has(kind))
      .map(([kind, text]) => ({
        name: `${name}: ${kind}`,
        input: (size: number) => pieces(text(size)),
        run,
      })),
  ),
  ...[...formats.keys()].map((format) => {
    const check = compileSchema({ format });
    return {
      name: `JSON Schema format ${format}`,
      input: (size: number) => formatTexts.map((text) => text(size)),
      run: (texts: readonly string[]) => texts.map((text) => check(text)),
    };
  }),
  ...patterns.map((pattern) => {
    const check = compileSchema({ pattern });
    return {
      name: `JSON Schema pattern ${pattern}`,
      input: (size: number) => formatTexts.map((text) => text(size)),
      run: (texts: readonly string[]) => texts.map((text) => check(text)),
    };
  }),
  ...values,
  ...recordCases,
];
