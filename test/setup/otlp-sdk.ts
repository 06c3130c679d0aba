import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace-node';

export interface Sdk {
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Registers the real SDK, which sends to an OTLP receiver. */
export function startSdk(
  url: string,
  {
    traces = true,
    meters = true,
    sampler,
  }: { traces?: boolean; meters?: boolean; sampler?: Sampler } = {},
): Sdk {
  const processor = new BatchSpanProcessor(
    new OTLPTraceExporter({ url: `${url}/v1/traces` }),
    // the default of 2,048 drops spans of many runs in a row where the receiver is slow
    { maxQueueSize: 100_000 },
  );
  const resource = resourceFromAttributes({ 'service.name': 'onward-tests' });
  const tracing = new NodeTracerProvider({
    resource,
    spanProcessors: [processor],
    ...(sampler && { sampler }),
  });
  if (traces) tracing.register();
  const exporter = new OTLPMetricExporter({ url: `${url}/v1/metrics` });
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const metering = new MeterProvider({ resource, readers: [reader] });
  if (meters) metrics.setGlobalMeterProvider(metering);
  return {
    async flush() {
      await tracing.forceFlush();
      await metering.forceFlush();
    },
    async close() {
      for (const api of [trace, metrics, context, propagation]) api.disable();
      await tracing.shutdown();
      await metering.shutdown();
    },
  };
}
