import {
  createNoopMeter,
  metrics,
  type Counter,
  type Histogram,
  type Meter,
  type MeterProvider,
} from '@opentelemetry/api';

/** The metrics of runs. */
export interface Instruments {
  readonly tokens: Histogram;
  readonly modelSeconds: Histogram;
  readonly firstChunkSeconds: Histogram;
  readonly toolSeconds: Histogram;
  readonly runSeconds: Histogram;
  readonly cost: Counter;
  readonly stops: Counter;
  readonly retries: Counter;
}

const byProvider = new WeakMap<MeterProvider, Instruments>();

/** The meter of Onward; null if no SDK records metrics. */
export function registeredMeter(): Meter | null {
  const meter = metrics.getMeterProvider().getMeter('onward');
  return meter === createNoopMeter() ? null : meter;
}

/** Returns null if no SDK records metrics. It may be registered at any time. */
export function instruments(): Instruments | null {
  const provider = metrics.getMeterProvider();
  const known = byProvider.get(provider);
  if (known) return known;
  const meter = registeredMeter();
  if (meter === null) return null;
  const made = instrumentsOf(meter);
  byProvider.set(provider, made);
  return made;
}

/** Bounds that the semantic conventions recommend. */
const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const TOKENS = Array.from({ length: 14 }, (_, i) => 4 ** i);

function instrumentsOf(meter: Meter): Instruments {
  const seconds = (name: string, description: string): Histogram =>
    meter.createHistogram(name, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries: SECONDS },
    });
  return {
    tokens: meter.createHistogram('gen_ai.client.token.usage', {
      description: 'Tokens of a model call',
      unit: '{token}',
      advice: { explicitBucketBoundaries: TOKENS },
    }),
    modelSeconds: seconds('gen_ai.client.operation.duration', 'Duration of a model call'),
    firstChunkSeconds: seconds(
      'gen_ai.client.operation.time_to_first_chunk',
      'Time to the first chunk of a streamed answer',
    ),
    toolSeconds: seconds('onward.tool.duration', 'Duration of a tool call'),
    runSeconds: seconds('onward.run.duration', 'Duration of a run or resume'),
    cost: meter.createCounter('onward.cost', {
      description: 'Cost of model calls with a known price',
      unit: '{USD}',
    }),
    stops: meter.createCounter('onward.stops', {
      description: 'Ended executions by stop reason',
      unit: '{execution}',
    }),
    retries: meter.createCounter('onward.retries', {
      description: 'Failed model calls after which the run continued',
      unit: '{retry}',
    }),
  };
}
