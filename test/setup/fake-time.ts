import { chmodSync, existsSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from './folders.ts';

/** A wall clock for other processes that a test can set. Their monotonic clock stays correct. */
export interface ShiftedWall {
  /** The environment for a Node program or a PostgreSQL server under this clock. */
  readonly env: Readonly<Record<string, string>>;
  /** How far it is ahead of the real clock, in milliseconds. */
  readonly offsetMs: number;
  /** Sets it forward or back. Every process under it sees the change at once. */
  jump(ms: number): void;
  /** Removes it. Its processes must have exited. */
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

/** Null without libfaketime. Tests that need it are skipped. */
export const faketimeLibrary: string | null =
  places.find((place) => place !== '' && existsSync(place)) ?? null;

export const NO_FAKETIME =
  'skipped: there is no libfaketime here (Debian: apt-get install libfaketime, or name the library in ONWARD_FAKETIME)';

export function shiftedWall(): ShiftedWall {
  if (faketimeLibrary === null) throw new Error(NO_FAKETIME);
  const folder = mkdtempSync(join(tmpdir(), 'onward-wall-'));
  // a PostgreSQL server of another user reads it too
  chmodSync(folder, 0o755);
  const file = join(folder, 'offset');
  let offsetMs = 0;
  const write = (): void => {
    // atomic, because a process may read it at any time
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
