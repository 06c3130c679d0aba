import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { chromium, type Browser } from 'playwright-core';
import { removeFolder } from './folders.ts';
import { toolPath } from './test-tools.ts';

/** Starts a real browser. `CHROMIUM_PATH` replaces the one from the packages. */
export async function launchBrowser(): Promise<Browser> {
  const own = process.env['CHROMIUM_PATH'];
  if (own !== undefined) return chromium.launch({ executablePath: own, args: ['--no-sandbox'] });
  const folder = unpacked();
  const executablePath = join(folder, 'chromium');
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env))
    if (value !== undefined) env[name] = value;
  // the package also contains the libraries that a bare machine lacks
  if (spawnSync('ldd', [executablePath], { encoding: 'utf8' }).stdout?.includes('not found'))
    env['LD_LIBRARY_PATH'] = [join(folder, 'al2023', 'lib'), env['LD_LIBRARY_PATH']]
      .filter(Boolean)
      .join(':');
  if (!existsSync('/etc/fonts/fonts.conf')) env['FONTCONFIG_PATH'] = join(folder, 'fonts');
  return chromium.launch({ executablePath, args: ['--no-sandbox'], env });
}

/** The folder of the browser, unpacked once per version. Two workers may do this at the same time. */
function unpacked(): string {
  let from = dirname(toolPath('@sparticuz/chromium'));
  while (!existsSync(join(from, 'bin', 'chromium.br'))) from = dirname(from);
  const { version } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as {
    version: string;
  };
  const owner = process.getuid?.() ?? 'user';
  const folder = join(tmpdir(), `onward-chromium-${version}-${owner}`);
  if (existsSync(folder)) return folder;
  const draft = mkdtempSync(`${folder}-`);
  try {
    const read = (file: string): Buffer =>
      brotliDecompressSync(readFileSync(join(from, 'bin', file)));
    const untar = (file: string, to: string): void => {
      mkdirSync(to, { recursive: true });
      const { status, stderr } = spawnSync('tar', ['-x', '-C', to], {
        input: read(file),
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`tar could not unpack ${file}: ${stderr}`);
    };
    untar('swiftshader.tar.br', draft);
    untar('al2023.tar.br', join(draft, 'al2023'));
    untar('fonts.tar.br', join(draft, 'fonts'));
    // the configuration in the package names one folder for all versions
    writeFileSync(
      join(draft, 'fonts', 'fonts.conf'),
      `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${join(folder, 'fonts', 'fonts')}</dir><cachedir>${join(folder, 'fonts-cache')}</cachedir></fontconfig>`,
    );
    writeFileSync(join(draft, 'chromium'), read('chromium.br'), { mode: 0o755 });
    chmodSync(draft, 0o755);
    renameSync(draft, folder);
  } catch (error) {
    removeFolder(draft);
    // another worker was faster
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
