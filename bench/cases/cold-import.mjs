import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median, round } from '../measure.mjs';

const PROCESSES = 9;
const cwd = fileURLToPath(new URL('../..', import.meta.url));
const timed =
  "const began = performance.now(); await import('onward'); console.log(performance.now() - began);";

/** Time of the first `import 'onward'` inside a fresh process, and of that process as a whole. */
export function* coldImport() {
  const times = { import: [], process: [], empty: [] };
  const run = (code) => {
    const began = performance.now();
    const args = ['--input-type=module', '-e', code];
    const printed = execFileSync(process.execPath, args, { cwd, encoding: 'utf8' });
    return { printed, ms: performance.now() - began };
  };
  for (let i = 0; i < PROCESSES; i++) {
    times.empty.push(run('').ms);
    const { printed, ms } = run(timed);
    times.import.push(Number(printed));
    times.process.push(ms);
  }
  yield {
    case: 'import',
    import_ms: round(median(times.import), 1),
    process_ms: round(median(times.process), 1),
    empty_process_ms: round(median(times.empty), 1),
  };
}
