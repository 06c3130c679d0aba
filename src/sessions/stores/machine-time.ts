/** The part of Node we need, asked for by name so that bundlers leave it alone. */
interface NodeProcess {
  hrtime?: { bigint(): bigint };
  getBuiltinModule?(
    name: 'node:fs',
  ): { readFileSync(path: string, encoding: 'utf8'): string } | undefined;
}

const { process } = globalThis as { process?: NodeProcess };

/** Names the time since this machine was started; empty where the system does not tell. */
export const bootId: string = readBootId();

function readBootId(): string {
  try {
    const text = process
      ?.getBuiltinModule?.('node:fs')
      ?.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    return text === undefined ? '' : text.replaceAll(/[^0-9a-f-]/g, '');
  } catch {
    return ''; // not Linux
  }
}

/**
 * Whole milliseconds of the machine's monotonic clock, which all its processes share: it follows no change of the wall
 * clock, and begins anew when the machine is started.
 */
export const machineMs = (): number =>
  process?.hrtime
    ? Number(process.hrtime.bigint() / 1_000_000n)
    : Math.floor(performance.timeOrigin + performance.now());
