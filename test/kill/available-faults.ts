import { faketimeLibrary, NO_FAKETIME } from '../setup/fake-time.ts';
import type { TestPostgres } from '../setup/postgres.ts';
import type { FaultKind } from './fault-schedule.ts';

const told = new Set<string>();
const tell = (line: string): void => {
  if (!told.has(line)) console.log(line);
  told.add(line);
};

/** The faults that this machine supports. Logs the others. */
export function availableFaults(
  kinds: readonly FaultKind[],
  server: TestPostgres | null,
): readonly FaultKind[] {
  return kinds.filter((kind) => {
    if (kind === 'clock' && faketimeLibrary === null) {
      tell(`clock jumps ${NO_FAKETIME}`);
      return false;
    }
    if (kind === 'crash' && !server?.kill) {
      tell('ONWARD_TEST_POSTGRES names a server: it is not killed.');
      return false;
    }
    return true;
  });
}
