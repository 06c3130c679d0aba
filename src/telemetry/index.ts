export { runtimeMetrics } from './runtime-metrics.ts';
export { telemetry, type TelemetryOptions } from './telemetry.ts';
