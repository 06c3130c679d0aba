import { chmodSync, existsSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from './folders.ts';

/** The wall clock of other processes, which a test can set; their monotonic clock stays true. */
export interface ShiftedWall {
  /** For the environment of a process that is started under it: a Node program, or a PostgreSQL. */
  readonly env: Readonly<Record<string, string>>;
  /** How far it is ahead of the real one. */
  readonly offsetMs: number;
  /** Sets it forward, or back; every process under it sees that at once. */
  jump(ms: number): void;
  /** Ends it: the processes must be gone. */
  remove(): void;
}

const places = [
  process.env['ONWARD_FAKETIME'] ?? '',
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib64/faketime/libfaketimeMT.so.1',
  '/usr/lib/faketime/libfaketimeMT.so.1',
  '/usr/local/lib/faketime/libfaketimeMT.so.1',
];

/** Null where there is no libfaketime; the tests that need it skip. */
export const faketimeLibrary: string | null =
  places.find((place) => place !== '' && existsSync(place)) ?? null;

export const NO_FAKETIME =
  'skipped: there is no libfaketime here (Debian: apt-get install libfaketime, or name the library in ONWARD_FAKETIME)';

export function shiftedWall(): ShiftedWall {
  if (faketimeLibrary === null) throw new Error(NO_FAKETIME);
  const folder = mkdtempSync(join(tmpdir(), 'onward-wall-'));
  // a PostgreSQL of another user reads it too
  chmodSync(folder, 0o755);
  const file = join(folder, 'offset');
  let offsetMs = 0;
  const write = (): void => {
    // in one move: a process may read it at any moment
    writeFileSync(`${file}.next`, `${offsetMs < 0 ? '-' : '+'}${Math.abs(offsetMs) / 1000}\n`);
    renameSync(`${file}.next`, file);
  };
  write();
  return {
    env: {
      LD_PRELOAD: faketimeLibrary,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    get offsetMs() {
      return offsetMs;
    },
    jump(ms) {
      offsetMs += ms;
      write();
    },
    remove() {
      removeFolder(folder);
    },
  };
}
