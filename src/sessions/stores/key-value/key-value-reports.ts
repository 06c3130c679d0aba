import type { WorkerReport } from '../../session-store.ts';
import { isKeptReport, type KeptReport } from '../workload-rules.ts';
import type { KeyValueChange, KeyValues } from './key-value-driver.ts';
import { reportKey, under } from './key-value-layout.ts';

/**
 * Stores the newest report of a worker, and removes old reports. Each worker has its own key, so concurrent reports do
 * not conflict.
 */
export async function reportTo(kv: KeyValues, { worker, body }: WorkerReport): Promise<void> {
  const key = reportKey(worker);
  const seen = await kv.now();
  const entries = await kv.list(under('report'));
  const old = entries.filter(
    ([other, value]) => other !== key && !isKeptReport(JSON.parse(value) as KeptReport, seen),
  );
  const changes: KeyValueChange[] = old.map(([other]) => [other, null]);
  const report: KeptReport | null = body === null ? null : { worker, body, seen };
  const before = entries.find(([other]) => other === key)?.[1] ?? null;
  // if the check fails, this worker wrote another report in between, which is as good
  await kv.write([...changes, [key, report && JSON.stringify(report)]], [key, before]);
}
