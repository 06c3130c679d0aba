/** The part of Node that is used here, loaded by name so that bundlers ignore it. */
interface NodeProcess {
  hrtime?: { bigint(): bigint };
  getBuiltinModule?(
    name: 'node:fs',
  ): { readFileSync(path: string, encoding: 'utf8'): string } | undefined;
}

const { process } = globalThis as { process?: NodeProcess };

/** Id of the current boot of this machine; empty if the system has none. */
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
 * Returns whole milliseconds of the machine's monotonic clock, which all its processes share. It ignores changes of the
 * wall clock and restarts on boot.
 */
export const machineMs = (): number =>
  process?.hrtime
    ? Number(process.hrtime.bigint() / 1_000_000n)
    : Math.floor(performance.timeOrigin + performance.now());
