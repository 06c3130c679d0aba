import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Packed {
  readonly tarball: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** Packs the built package in this folder as npm would publish it. */
export async function packed(source: string, destination: string): Promise<Packed> {
  if (source === '.' && !existsSync('dist/index.js'))
    throw new Error('There is no dist/index.js to pack. Run: npm run build');
  const reported = await npm(
    ['pack', source, '--ignore-scripts', '--json', '--pack-destination', destination],
    process.cwd(),
  );
  const [pack] = JSON.parse(reported) as [Omit<Packed, 'tarball'> & { readonly filename: string }];
  return { ...pack, tarball: join(destination, pack.filename) };
}

/** Runs npm offline and returns its output. */
export async function npm(argv: readonly string[], cwd: string): Promise<string> {
  const isWindows = process.platform === 'win32';
  const { stdout } = await run(isWindows ? 'npm.cmd' : 'npm', [...argv, '--offline'], {
    cwd,
    maxBuffer: 64 * 1024 * 1024,
    shell: isWindows,
  });
  return stdout;
}
