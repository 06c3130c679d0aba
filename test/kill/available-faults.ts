import { faketimeLibrary, NO_FAKETIME } from '../setup/fake-time.ts';
import type { TestPostgres } from '../setup/postgres.ts';
import type { FaultKind } from './fault-schedule.ts';

const reported = new Set<string>();
const report = (line: string): void => {
  if (!reported.has(line)) console.log(line);
  reported.add(line);
};

/** The faults that this machine supports. Logs the others. */
export function availableFaults(
  kinds: readonly FaultKind[],
  server: TestPostgres | null,
): readonly FaultKind[] {
  return kinds.filter((kind) => {
    if (kind === 'clock' && faketimeLibrary === null) {
      report(`clock jumps ${NO_FAKETIME}`);
      return false;
    }
    if (kind === 'crash' && !server?.kill) {
      report('ONWARD_TEST_POSTGRES names a server: it is not killed.');
      return false;
    }
    return true;
  });
}
