import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentError } from 'onward';
import type { InferenceDriver, InferenceChunk, InferenceResponse } from 'onward/drivers';
import { requestOf } from './setup/inference-request.ts';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { aiSdk } from '../src/inference/drivers/ai-sdk.ts';
import { openai } from '../src/inference/drivers/openai.ts';

const folder = '../shared/fixtures';

interface Recording {
  readonly provider: string;
  readonly case: string;
  readonly api: string;
  readonly streaming: boolean;
  readonly httpStatus: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** Whether an AI SDK package reads it, although the OpenAI driver can. */
  readonly isThirdParty?: boolean;
  readonly splitHints?: { readonly midUtf8Offsets?: readonly number[] };
  readonly recordedChunkBoundaries?: { readonly offsets?: readonly number[] };
  readonly expected: {
    readonly text: string;
    readonly textWithoutThink?: string;
    readonly refusal: string | null;
    readonly toolCalls: readonly {
      readonly id: string | null;
      readonly name: string;
      readonly args: unknown;
      readonly argsRaw: string;
      readonly argsValid: boolean;
    }[];
    readonly finish: { readonly normalized: string; readonly alsoAcceptable?: readonly string[] };
    readonly usage: Record<string, number | null> | null;
    readonly reasoning: { readonly present: boolean; readonly text: string };
    readonly error?: {
      readonly status: number;
      readonly kind: string;
      readonly message: string;
      readonly retryable: boolean | null;
      readonly retryAfterMs: number | null;
    } | null;
  };
}

const request = requestOf();

/** Ways to split the recorded bytes. */
const cuts: Record<string, (bytes: Uint8Array, recording: Recording) => readonly number[]> = {
  whole: () => [],
  'byte by byte': (bytes) => Array.from({ length: bytes.length }, (_, i) => i),
  'inside characters': (_bytes, { splitHints }) => splitHints?.midUtf8Offsets ?? [],
  'as recorded': (_bytes, { recordedChunkBoundaries }) => recordedChunkBoundaries?.offsets ?? [],
};

function pieces(bytes: Uint8Array, offsets: readonly number[]): Uint8Array[] {
  const edges = [...new Set([0, ...offsets, bytes.length])].toSorted((a, b) => a - b);
  return edges.slice(1).map((end, i) => bytes.slice(edges[i], end));
}

const served =
  (recording: Recording, parts: readonly Uint8Array[]): typeof fetch =>
  async () =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      }),
      { status: recording.httpStatus, headers: recording.headers },
    );

/** Whether the OpenAI driver reads it, which must be exact. */
const isOwn = ({ api, isThirdParty }: Recording): boolean =>
  api === 'openai-chat' || (api === 'openai-responses' && isThirdParty !== true);

/** The OpenAI driver for its two APIs, and the AI SDK packages. */
function driverFor(recording: Recording, fetch: typeof globalThis.fetch): InferenceDriver {
  const settings = { apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1', fetch };
  switch (recording.api) {
    case 'anthropic-messages':
      return aiSdk(createAnthropic(settings)('m'));
    case 'gemini-generate-content':
      return aiSdk(createGoogleGenerativeAI(settings)('m'));
    case 'openai-responses':
      return isOwn(recording)
        ? openai('m', { ...settings, api: 'responses' })
        : aiSdk(createOpenAI(settings).responses('m'));
    default:
      return openai('m', { ...settings, api: 'chat' });
  }
}

async function readWith(
  recording: Recording,
  parts: readonly Uint8Array[],
): Promise<InferenceResponse> {
  const driver = driverFor(recording, served(recording, parts));
  const signal = new AbortController().signal;
  if (!recording.streaming) return driver.infer(request, { signal });
  let text = '';
  let response: InferenceResponse | undefined;
  for await (const chunk of driver.stream?.(request, { signal }) ?? ([] as InferenceChunk[])) {
    if (chunk.type === 'content') text += chunk.text;
    if (chunk.type === 'done') response = chunk.response;
  }
  expect(response).toBeDefined();
  expect(text, 'the chunks add up to the answer').toBe(response?.content);
  return response!;
}

/** Describes where a response differs from the expected one. Empty if it is correct. */
function differences(response: InferenceResponse, recording: Recording): string[] {
  const found: string[] = [];
  const check = (what: string, seen: unknown, ...right: readonly unknown[]): void => {
    const text = JSON.stringify(seen ?? null);
    if (!right.some((value) => JSON.stringify(value ?? null) === text))
      found.push(
        `${what} is ${text.slice(0, 80)} instead of ${JSON.stringify(right[0] ?? null).slice(0, 80)}`,
      );
  };
  // third-party packages may invent an id, reformat JSON and count missing usage as 0
  const isOurs = isOwn(recording);
  const { expected } = recording;
  const { finish, usage, reasoning, toolCalls } = expected;
  check('text', response.content, expected.text, expected.textWithoutThink ?? expected.text);
  check('finish', response.finishReason, finish.normalized, ...(finish.alsoAcceptable ?? []));
  check('refusal', response.refusal, expected.refusal);
  check('calls', response.toolCalls.length, toolCalls.length);
  for (const [i, { id, name, args, argsRaw, argsValid }] of toolCalls.entries()) {
    const call = response.toolCalls[i];
    check(`call ${i} name`, call?.name, name);
    if (isOurs || id !== null) check(`call ${i} id`, call?.id, id);
    check(`call ${i} args`, call?.args, argsValid ? args : null);
    if (isOurs || !argsValid) check(`call ${i} argsRaw`, call?.argsRaw, argsRaw);
  }
  check('reasoning', response.reasoning ?? '', reasoning.present ? reasoning.text : '');
  if (usage === null) check('usage', response.usage, null);
  else {
    const seen = response.usage;
    const absent = isOurs ? null : 0;
    check('input', seen?.input, usage['input']);
    check('output', seen?.output, usage['output'], usage['outputWithReasoning']);
    check('total', seen?.total ?? (seen?.input ?? 0) + (seen?.output ?? 0), usage['total']);
    check('cached', seen?.cachedInput, usage['cachedInput'], usage['cachedInput'] ?? absent);
    check('reasoning tokens', seen?.reasoning, usage['reasoning'], usage['reasoning'] ?? absent);
  }
  return found;
}

const kinds: Record<string, string> = {
  auth: 'model',
  quota: 'rate_limit',
  rate_limit: 'rate_limit',
  overloaded: 'rate_limit',
  context_length: 'model',
  not_found: 'model',
  invalid_request: 'model',
  tool_use_failed: 'validation',
  server: 'model',
  cancelled: 'timeout',
};

function errorDifferences(thrown: unknown, { expected: { error } }: Recording): string[] {
  if (!AgentError.is(thrown, 'model_call_failed')) return [`threw ${String(thrown)}`];
  const { report } = thrown.details as { report: Record<string, unknown> };
  const right: Record<string, unknown> = {
    type: kinds[error?.kind ?? ''],
    code: error?.kind,
    message: error?.message,
    status: error?.status,
    ...(error?.retryable === null ? null : { retryable: error?.retryable }),
    ...(error?.retryAfterMs === null ? null : { retryAfterMs: error?.retryAfterMs }),
  };
  return Object.keys(right)
    .filter((key) => (report[key] ?? null) !== (right[key] ?? null))
    .map(
      (key) => `${key} is ${JSON.stringify(report[key])} instead of ${JSON.stringify(right[key])}`,
    );
}

/** Describes what is wrong with the response read from these parts. */
const wrongIn = (recording: Recording, parts: readonly Uint8Array[]): Promise<string[]> => {
  const { error } = recording.expected;
  return readWith(recording, parts).then(
    (response) => (error ? ['no error'] : differences(response, recording)),
    (thrown: unknown) =>
      error ? errorDifferences(thrown, recording) : [`threw ${String(thrown)}`],
  );
};

const found = existsSync(join(folder, 'INDEX.tsv'));

const recordings: Recording[] = found
  ? readFileSync(join(folder, 'INDEX.tsv'), 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t').at(-1) ?? '')
      .map((body) => {
        const meta = JSON.parse(
          readFileSync(join(folder, body.replace(/\.(json|sse)$/, '.meta.json')), 'utf8'),
        ) as Recording;
        return { ...meta, body: join(folder, body) };
      })
      .flatMap((recording) =>
        recording.api === 'openai-responses'
          ? [recording, { ...recording, isThirdParty: true }]
          : [recording],
      )
  : [];

/** Why a package reads a recording differently: what is missing never reaches our driver. The OpenAI driver is exact. */
const reasons: Readonly<Record<string, string>> = {
  'lmstudio/responses-tool-call-stream (AI SDK)':
    'the package drops reasoning that comes as content and not as a summary',
  'openai-responses/refusal-stream (AI SDK)':
    'the package returns a refusal as text, with the finish reason content-filter',
  'openai-responses/stream-error-insufficient-quota (AI SDK)':
    'the package adds a status to an error that came in HTTP 200',
};

/** Fields that do not affect the response. */
const optional = new Set([
  'created',
  'object',
  'model',
  'provider',
  'system_fingerprint',
  'service_tier',
  'logprobs',
  'native_finish_reason',
  'obfuscation',
  'content_filter_results',
  'annotations',
]);

/** A way to rewrite JSON: key order, whitespace, optional fields. */
interface Manner {
  readonly isTurned: boolean;
  readonly isBare: boolean;
  readonly indent: number;
  readonly lineBreak: string;
}

function rewritten(value: unknown, how: Manner): unknown {
  if (Array.isArray(value)) return value.map((item) => rewritten(item, how));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key]) => !how.isBare || !optional.has(key))
    .map(([key, inner]) => [key, rewritten(inner, how)] as const);
  return Object.fromEntries(how.isTurned ? entries.toReversed() : entries);
}

function inManner(text: string, how: Manner): string {
  const rewrite = (json: string): string =>
    JSON.stringify(rewritten(JSON.parse(json), how), null, how.indent).replaceAll('\n', ' ');
  if (!text.includes('data:')) return rewrite(text);
  return text
    .split(/\r?\n/)
    .map((line) =>
      line.replace(/^data: ?(\{.*\})$/, (_line, json: string) => `data: ${rewrite(json)}`),
    )
    .join(how.lineBreak);
}

const manner: fc.Arbitrary<Manner> = fc.record({
  isTurned: fc.boolean(),
  isBare: fc.boolean(),
  indent: fc.nat(2),
  lineBreak: fc.constantFrom('\n', '\r\n'),
});

describe.skipIf(!found)('recorded provider responses (skipped without the recordings)', () => {
  const tally = new Map<string, { right: number; all: number }>();
  const listed: Record<string, readonly string[]> = {};

  describe.each(recordings)('$api $provider/$case (AI SDK: $isThirdParty)', (recording) => {
    const bytes = new Uint8Array(readFileSync(recording.body));
    const ways = recording.streaming ? Object.keys(cuts) : ['whole'];
    const { provider, isThirdParty } = recording;
    const name = `${provider}/${recording.case}${isThirdParty ? ' (AI SDK)' : ''}`;
    const reader = isThirdParty ? `${provider} (AI SDK)` : provider;
    it.each(ways)('%s', async (way) => {
      const parts = pieces(bytes, cuts[way]?.(bytes, recording) ?? []);
      const seen = await wrongIn(recording, parts);
      if (isOwn(recording)) expect(seen).toEqual([]);
      // split points must not change the result, correct or not
      expect(listed[name] ?? seen).toEqual(seen);
      if (listed[name]) return;
      listed[name] = seen;
      const row = tally.get(reader) ?? { right: 0, all: 0 };
      row.all += 1;
      row.right += seen.length === 0 ? 1 : 0;
      tally.set(reader, row);
    });
  });

  it.each(recordings.filter(isOwn))(
    'reads $provider/$case the same when it is reformatted and split anywhere',
    async (recording) => {
      const text = readFileSync(recording.body, 'utf8');
      await fc.assert(
        fc.asyncProperty(manner, fc.array(fc.nat(), { maxLength: 20 }), async (how, cuts) => {
          const bytes = new TextEncoder().encode(inManner(text, how));
          const offsets = recording.streaming ? cuts.map((cut) => cut % bytes.length) : [];
          expect(await wrongIn(recording, pieces(bytes, offsets))).toEqual([]);
        }),
        { numRuns: 10 },
      );
    },
  );

  it('differences in third-party packages match the snapshot, and each has a reason', ({
    task,
  }) => {
    const differing = Object.entries(listed).filter(([, seen]) => seen.length > 0);
    expect(differing.map(([name]) => name).toSorted()).toEqual(Object.keys(reasons).toSorted());
    expect(Object.fromEntries(differing)).toMatchSnapshot();
    const rows = [...tally].map(
      ([provider, { right, all }]) => `${provider.padEnd(26)}${right} of ${all}`,
    );
    // count-reporter.ts prints it at the end of the run
    Object.assign(task.meta, { table: `Recorded answers read right\n${rows.join('\n')}` });
  });
});
