import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { startSdk, type Sdk } from './otlp-sdk.ts';

type Value = string | number | boolean | readonly Value[];
type Attributes = Readonly<Record<string, Value>>;

/** A span as it arrived. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** '' for a root. */
  readonly parentSpanId: string;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** Whether its status is an error. */
  readonly isError: boolean;
  readonly message: string;
  readonly began: bigint;
  readonly ended: bigint;
}

export interface ReceivedPoint {
  readonly metric: string;
  readonly unit: string;
  readonly attributes: Attributes;
  /** The number, or the sum of a histogram. */
  readonly value: number;
  /** Number of values; 1 if it is no histogram. */
  readonly count: number;
}

export interface Otlp {
  readonly url: string;
  /** Everything that arrived, as text. */
  text(): string;
  /** In the order of their starts. */
  spans(): Promise<readonly ReceivedSpan[]>;
  points(): Promise<readonly ReceivedPoint[]>;
}

/** An OTLP receiver over HTTP in this process. */
async function receiver(): Promise<Otlp & { readonly flush: { by: Sdk | null } }> {
  const bodies: { readonly path: string; readonly text: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push({ path: request.url ?? '', text: Buffer.concat(chunks).toString() });
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
  });
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  onTestFinished(() => void server.close());
  const flush: { by: Sdk | null } = { by: null };
  const read = (path: string): readonly unknown[] =>
    bodies.filter((body) => body.path === path).map(({ text }) => JSON.parse(text) as unknown);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    flush,
    text: () => bodies.map(({ text }) => text).join('\n'),
    async spans() {
      await flush.by?.flush();
      return (read('/v1/traces') as readonly TraceBody[])
        .flatMap(({ resourceSpans }) => resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans)
        .map(spanOf)
        .toSorted((a, b) => (a.began < b.began ? -1 : a.began > b.began ? 1 : 0));
    },
    async points() {
      await flush.by?.flush();
      return ((read('/v1/metrics') as readonly MetricBody[]).at(-1)?.resourceMetrics ?? [])
        .flatMap(({ scopeMetrics }) => scopeMetrics)
        .flatMap(({ metrics }) => metrics)
        .flatMap(({ name, unit, histogram, sum, gauge }) =>
          ((histogram ?? sum ?? gauge)?.dataPoints ?? []).map((point) => ({
            metric: name,
            unit,
            attributes: attributesOf(point.attributes),
            value: Number(point.sum ?? point.asDouble ?? point.asInt),
            count: Number(point.count ?? 1),
          })),
        );
    },
  };
}

/** A receiver, and the SDK of this process that sends to it. */
export async function observedHere(options?: Parameters<typeof startSdk>[1]): Promise<Otlp> {
  const otlp = await receiver();
  const sdk = startSdk(otlp.url, options);
  otlp.flush.by = sdk;
  onTestFinished(() => sdk.close());
  return otlp;
}

type WireAttributes = readonly { readonly key: string; readonly value: WireValue }[];

interface WireValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values?: readonly WireValue[] };
}

type WireSpan = Pick<ReceivedSpan, 'name' | 'kind' | 'traceId' | 'spanId'> & {
  readonly parentSpanId?: string;
  readonly attributes: WireAttributes;
  readonly events?: readonly { readonly name: string; readonly attributes: WireAttributes }[];
  readonly links?: ReceivedSpan['links'];
  readonly status?: { readonly code?: number; readonly message?: string };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
};

interface TraceBody {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

interface WirePoints {
  readonly dataPoints: readonly {
    readonly attributes: WireAttributes;
    readonly sum?: number;
    readonly asDouble?: number;
    readonly asInt?: string | number;
    readonly count?: string | number;
  }[];
}

interface MetricBody {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string;
        readonly unit: string;
        readonly histogram?: WirePoints;
        readonly sum?: WirePoints;
        readonly gauge?: WirePoints;
      }[];
    }[];
  }[];
}

function spanOf(span: WireSpan): ReceivedSpan {
  const { name, kind, traceId, spanId, parentSpanId = '', events = [], links = [] } = span;
  return {
    name,
    kind,
    traceId,
    spanId,
    parentSpanId,
    attributes: attributesOf(span.attributes),
    events: events.map((event) => ({
      name: event.name,
      attributes: attributesOf(event.attributes),
    })),
    links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
    isError: span.status?.code === 2,
    message: span.status?.message ?? '',
    began: BigInt(span.startTimeUnixNano),
    ended: BigInt(span.endTimeUnixNano),
  };
}

const attributesOf = (list: WireAttributes = []): Attributes =>
  Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]));

function valueOf({ stringValue, intValue, doubleValue, boolValue, arrayValue }: WireValue): Value {
  if (arrayValue) return (arrayValue.values ?? []).map(valueOf);
  if (intValue !== undefined) return Number(intValue);
  return stringValue ?? doubleValue ?? boolValue ?? '';
}

/** The spans as an indented list; a span whose parent did not arrive is a root. */
export function treeOf(spans: readonly ReceivedSpan[]): readonly string[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const under = (parent: string, depth: number): readonly string[] =>
    spans
      .filter(({ parentSpanId }) => (known.has(parentSpanId) ? parentSpanId : '') === parent)
      .flatMap((span) => [
        `${'  '.repeat(depth)}${span.name}${span.isError ? ` !${String(span.attributes['error.type'])}` : ''}`,
        ...under(span.spanId, depth + 1),
      ]);
  return under('', 0);
}

export const named = (spans: readonly ReceivedSpan[], start: string): readonly ReceivedSpan[] =>
  spans.filter(({ name }) => name.startsWith(start));
