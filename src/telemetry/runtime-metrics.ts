import type { BatchObservableResult, Observable } from '@opentelemetry/api';
import type { AnySessionRuntime } from '../sessions/session-handle.ts';
import { sessionOperator } from '../sessions/session-operator.ts';
import { registeredMeter } from './instruments.ts';

/**
 * Reports how much work the store of a runtime holds, by agent: waiting, active, lost and parked sessions, and workers.
 * Register the SDK first, and call it in one process per store. Returns a function that ends it.
 */
export function runtimeMetrics(runtime: AnySessionRuntime): () => void {
  const meter = registeredMeter();
  if (meter === null) return () => {};
  const operator = sessionOperator(runtime);
  const gauge = (name: string, description: string, unit: string): Observable =>
    meter.createObservableGauge(name, { description, unit });
  const waiting = gauge('onward.queue.waiting', 'Sessions that no worker holds', '{session}');
  const oldest = gauge('onward.queue.oldest', 'Age of the oldest waiting session', 's');
  const active = gauge('onward.leases.active', 'Sessions that a worker holds', '{session}');
  const expired = gauge('onward.leases.expired', 'Sessions of lost workers', '{session}');
  const parked = gauge('onward.sessions.parked', 'Sessions that failed too often', '{session}');
  const workers = gauge('onward.workers', 'Workers that claim sessions now', '{worker}');
  const observe = async (result: BatchObservableResult): Promise<void> => {
    const { agents } = await operator.queue();
    for (const one of agents) {
      const labels = { 'gen_ai.agent.name': one.agent };
      result.observe(waiting, one.waiting, labels);
      result.observe(oldest, (one.oldestWaitingMs ?? 0) / 1000, labels);
      result.observe(active, one.active, labels);
      result.observe(expired, one.expired, labels);
      result.observe(parked, one.parked, labels);
      result.observe(workers, one.workers, labels);
    }
  };
  const all = [waiting, oldest, active, expired, parked, workers];
  meter.addBatchObservableCallback(observe, all);
  return () => meter.removeBatchObservableCallback(observe, all);
}
